"""What Alembic runs: versions are applied in one transaction that writes. Imported by anybody else, it does nothing."""

from alembic import context

from accordant.service.schema import tables

if hasattr(context, "config"):  # Alembic puts it there while it runs
    with context.config.attributes["database"].writing() as connection:
        context.configure(connection=connection, target_metadata=tables, render_as_batch=True)
        context.run_migrations()
