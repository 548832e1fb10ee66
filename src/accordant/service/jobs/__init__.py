"""Work that takes longer than an answer may: runs, batches of decisions, decisions anew; see `queue` and `worker`."""
