"""The tables of a service. Rows of `event` are never changed or deleted, and nothing is deleted by a cascade."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
tables = MetaData(naming_convention=NAMING)
person_keys = MetaData(naming_convention=NAMING)

Identifier = String(64)
Name = String(200)
Time = String(27)  # 2026-11-25T19:00:00.000000Z: sorts as it passes
Serial = BigInteger().with_variant(Integer, "sqlite")

person_key = Table(
    "person_key",
    person_keys,
    Column("person", Identifier, primary_key=True),
    Column("wrapped", LargeBinary, nullable=False),
)

erased_person = Table("erased_person", person_keys, Column("person", Identifier, primary_key=True))
"""Who was erased: a backup from before does not bring anybody back."""

workspace = Table(
    "workspace",
    tables,
    Column("id", Identifier, primary_key=True),
    Column("name", Name, nullable=False),
    Column("created_at", Time, nullable=False),
)

person = Table(
    "person",
    tables,
    Column("id", Identifier, primary_key=True),
    Column("created_at", Time, nullable=False),
    Column("locale", String(16)),
    Column("erased_at", Time),
)
"""Whoever acts, or is decided about; who that is stands nowhere but in `identity`, sealed."""

identity = Table(
    "identity",
    tables,
    Column("person", ForeignKey("person.id"), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("lookup", LargeBinary, nullable=False, unique=True),
    Column("sealed", LargeBinary, nullable=False),
)

membership = Table(
    "membership",
    tables,
    Column("person", ForeignKey("person.id"), primary_key=True),
    Column("workspace", ForeignKey("workspace.id"), primary_key=True),
    Column("role", String(16), primary_key=True),
)

invitation = Table(
    "invitation",
    tables,
    Column("token", LargeBinary, primary_key=True),
    Column("handle", LargeBinary, nullable=False, unique=True),
    Column("code", LargeBinary, nullable=False),
    Column("tries_left", Integer, nullable=False),
    Column("workspace", ForeignKey("workspace.id"), nullable=False),
    Column("role", String(16), nullable=False),
    Column("uses_left", Integer, nullable=False),
    Column("expires_at", Time, nullable=False),
    Column("created_by", ForeignKey("person.id")),
    Column("person", ForeignKey("person.id")),
)
"""Who may come in; `person` is set where it is somebody who was here before, and gets a new link."""

session = Table(
    "session",
    tables,
    Column("token", LargeBinary, primary_key=True),
    Column("person", ForeignKey("person.id"), nullable=False, index=True),
    Column("csrf", String(64), nullable=False),
    Column("created_at", Time, nullable=False),
    Column("expires_at", Time, nullable=False),
)

run = Table(
    "run",
    tables,
    Column("hash", ForeignKey("run_content.hash"), primary_key=True),
    Column("workspace", ForeignKey("workspace.id"), primary_key=True),
    Column("title", Text, nullable=False),
    Column("case_name", Text, nullable=False),
    Column("published_at", Time, nullable=False),
)

run_content = Table(
    "run_content",
    tables,
    Column("hash", Identifier, primary_key=True),
    Column("archive", LargeBinary, nullable=False),
)
"""The folder of a run as one archive, by the hash of its head: the same run is kept once."""

deployment = Table(
    "deployment",
    tables,
    Column("id", Identifier, primary_key=True),
    Column("workspace", ForeignKey("workspace.id"), nullable=False),
    Column("name", Name, nullable=False),
    Column("version", Integer, nullable=False),
    Column("run", Identifier, nullable=False),
    Column("strategy", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("created_at", Time, nullable=False),
    UniqueConstraint("workspace", "name", "version"),
    CheckConstraint("state in ('active', 'shadow', 'retired')", "state"),
)
"""A strategy of a run under a name; of one name one version is active, and at most one decides silently beside it."""

api_client = Table(
    "api_client",
    tables,
    Column("id", Identifier, primary_key=True),
    Column("workspace", ForeignKey("workspace.id"), nullable=False),
    Column("name", Name, nullable=False),
    Column("token", LargeBinary, nullable=False, unique=True),
    Column("created_at", Time, nullable=False),
    Column("revoked_at", Time),
    UniqueConstraint("workspace", "name"),
)

request = Table(
    "request",
    tables,
    Column("id", Identifier, primary_key=True),
    Column("client", ForeignKey("api_client.id"), nullable=False),
    Column("idempotency_key", Name, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("version", Identifier, nullable=False),
    Column("at", Time, nullable=False),
    UniqueConstraint("client", "idempotency_key"),
)
"""What a client asked under a key of its own: the hash of the body, so that the same key gives the same answer."""

decision = Table(
    "decision",
    tables,
    Column("id", Identifier, primary_key=True),
    Column("request", ForeignKey("request.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("deployment", ForeignKey("deployment.id"), nullable=False),
    Column("person", ForeignKey("person.id"), nullable=False, index=True),
    Column("at", Time, nullable=False),
    Column("action", Text),
    Column("shadow_action", Text),
    Column("seq", Serial, nullable=False),
    Column("token", LargeBinary, nullable=False, unique=True),
    Column("state", String(16), nullable=False),
    UniqueConstraint("request", "position"),
    CheckConstraint("state in ('decided', 'referred', 'contested', 'changed', 'upheld')", "state"),
)
"""One decision. What it was about and why stands in its event, sealed; the action stays, so that shares stay right."""

outcome = Table(
    "outcome",
    tables,
    Column("decision", ForeignKey("decision.id"), primary_key=True),
    Column("at", Time, nullable=False),
    Column("outcome", Text),
    Column("value", Float),
    Column("seq", Serial, nullable=False),
)

contest = Table(
    "contest",
    tables,
    Column("id", Identifier, primary_key=True),
    Column("decision", ForeignKey("decision.id"), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("at", Time, nullable=False),
    Column("due_at", Time, nullable=False),
    Column("state", String(16), nullable=False),
    Column("seq", Serial, nullable=False),
    CheckConstraint("kind in ('contest', 'referral', 'like_case')", "kind"),
    CheckConstraint("state in ('open', 'upheld', 'changed', 'remitted')", "state"),
    Index("ix_contest_decision", "decision"),
    Index("ix_contest_state_due", "state", "due_at"),
)
"""What a person is to answer: a decision that was contested, one that was left to people, or one like a changed one."""

review = Table(
    "review",
    tables,
    Column("id", Identifier, primary_key=True),
    Column("contest", ForeignKey("contest.id"), nullable=False, unique=True),
    Column("reviewer", ForeignKey("person.id"), nullable=False),
    Column("at", Time, nullable=False),
    Column("result", String(16), nullable=False),
    Column("action", Text),
    Column("seq", Serial, nullable=False),
)

event = Table(
    "event",
    tables,
    Column("seq", Serial, primary_key=True, autoincrement=False),
    Column("id", Identifier, nullable=False, unique=True),
    Column("at", Time, nullable=False),
    Column("kind", String(32), nullable=False, index=True),
    Column("person", Identifier, index=True),
    Column("public", Text, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("previous", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
)

log_head = Table(
    "log_head",
    tables,
    Column("one", Integer, primary_key=True, autoincrement=False),
    Column("size", Serial, nullable=False),
    Column("last", LargeBinary, nullable=False),
    Column("at", Time, nullable=False),
    Column("frontier", LargeBinary, nullable=False),
    CheckConstraint("one = 1", "one"),
)
"""Where the log ends: whoever appends locks its only row."""

tree_block = Table(
    "tree_block",
    tables,
    Column("number", Serial, primary_key=True, autoincrement=False),
    Column("hash", LargeBinary, nullable=False),
)
"""The hash of every full block of leaves, so that a proof need not read the whole log."""

checkpoint = Table(
    "checkpoint",
    tables,
    Column("size", Serial, primary_key=True, autoincrement=False),
    Column("at", Time, nullable=False),
    Column("root", LargeBinary, nullable=False),
    Column("signature", LargeBinary, nullable=False),
)

job = Table(
    "job",
    tables,
    Column("id", Identifier, primary_key=True),
    Column("workspace", ForeignKey("workspace.id"), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("client", ForeignKey("api_client.id")),
    Column("person", ForeignKey("person.id")),
    Column("idempotency_key", LargeBinary),
    Column("body", LargeBinary, nullable=False),
    Column("payload", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("created_at", Time, nullable=False),
    Column("free_at", Time, nullable=False),
    Column("ended_at", Time),
    Column("fence", Integer, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("done", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("stage", Text),
    Column("error", Text),
    Column("result", Text),
    UniqueConstraint("client", "idempotency_key"),
    CheckConstraint("state in ('receiving', 'waiting', 'running', 'done', 'failed', 'cancelled')", "state"),
    Index("ix_job_state_free", "state", "free_at"),
)
"""Work for `accordant work`. Whoever works on it holds a lease until `free_at`, and nothing under an older fence."""

job_part = Table(
    "job_part",
    tables,
    Column("job", ForeignKey("job.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("key", Identifier, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("decided", Integer, nullable=False),
)
"""What a job is still to decide about, sealed under a key of its own, which is destroyed as soon as that is done."""

sign_in_rate = Table(
    "sign_in_rate",
    tables,
    Column("source", LargeBinary, primary_key=True),
    Column("tokens", Float, nullable=False),
    Column("at", Time, nullable=False),
)
"""How often somebody may still try to sign in, by the fingerprint of where from."""

account_sign_in = Table(
    "account_sign_in",
    tables,
    Column("token", LargeBinary, primary_key=True),
    Column("person", ForeignKey("person.id")),
    Column("expires_at", Time, nullable=False),
)
"""Browsers that were sent to the provider of accounts and are not back yet; `person` is set to link theirs."""
