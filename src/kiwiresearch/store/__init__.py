"""Where jobs, runs, notes, hosts and people are kept: one database, a file or a PostgreSQL server."""
