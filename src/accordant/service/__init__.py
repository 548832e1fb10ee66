"""The service: deployed policies that programs ask for decisions, and a record that nobody rewrites in silence.

database, schema, migrations    where everything is kept: SQLite or PostgreSQL
secrets                         what only the server knows; a key per person, which can be destroyed
record/                         one append-only log: hash chain, Merkle tree, signed checkpoints, receipts
publication, deployments        runs that were verified, and which of them decides
decisions, outcomes             what programs ask, and what came of it
"""
