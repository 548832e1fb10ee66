"""What a record says of the run beside its parts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from accordant.runs.record import record


@pytest.mark.parametrize(("platform", "unit"), [("linux", 1024), ("darwin", 1024**2)])
def test_memory_is_told_in_mebibytes_whatever_the_system_counts_in(monkeypatch, platform, unit):
    with monkeypatch.context() as patched:
        patched.setattr(record.sys, "platform", platform)
        patched.setattr(record.resource, "getrusage", lambda _: SimpleNamespace(ru_maxrss=3 * unit))
        assert record.peak_memory() == 3.0
