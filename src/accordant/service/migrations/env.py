"""What Alembic runs: versions are applied in one transaction that writes."""

from alembic import context

from accordant.service.schema import tables

with context.config.attributes["database"].writing() as connection:
    context.configure(connection=connection, target_metadata=tables, render_as_batch=True)
    context.run_migrations()
