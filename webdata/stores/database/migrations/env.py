"""Alembic's environment: it runs the revisions in the transaction that `migrations.run` has begun."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
