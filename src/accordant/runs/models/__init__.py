"""The models of a run on disk: skops with a trust list, every index checked before compiled code follows it."""
