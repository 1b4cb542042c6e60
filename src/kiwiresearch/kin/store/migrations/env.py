"""Run by alembic: the connection, and the transaction it is in, are the store's."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
context.run_migrations()
