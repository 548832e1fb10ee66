"""browsers that are at the provider of accounts."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = depends_on = None


def upgrade() -> None:
    """Make the table of browsers that are at the provider of accounts."""
    op.create_table(
        "account_sign_in",
        sa.Column("token", sa.LargeBinary(), nullable=False),
        sa.Column("person", sa.String(length=64), nullable=True),
        sa.Column("expires_at", sa.String(length=27), nullable=False),
        sa.ForeignKeyConstraint(["person"], ["person.id"], name=op.f("fk_account_sign_in_person")),
        sa.PrimaryKeyConstraint("token", name=op.f("pk_account_sign_in")),
    )


def downgrade() -> None:
    op.drop_table("account_sign_in")
