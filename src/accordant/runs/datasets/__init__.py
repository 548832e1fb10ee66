"""Datasets that no memory holds: what a finished run recommends, certifies and is worth on them, part by part."""
