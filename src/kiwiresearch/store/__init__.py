"""The store of jobs, runs, notes, hosts and users: one database, a file or a PostgreSQL server."""
