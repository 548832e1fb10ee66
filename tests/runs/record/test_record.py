"""What a record says of the run beside its parts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from accordant.runs.record import record
from accordant.runs.record.parts import groupings


@pytest.mark.parametrize(
    ("names", "found"),
    [((), ()), (("sex",), (("sex",),)), (("sex", "age"), (("sex",), ("age",), ("sex", "age")))],
)
def test_groups_are_of_each_attribute_and_of_several_together(names, found):
    attributes = [SimpleNamespace(name=name) for name in names]
    assert groupings(SimpleNamespace(problem=SimpleNamespace(sensitive_attributes=attributes))) == found


@pytest.mark.parametrize("name", ["own", "care"])
def test_the_overlap_of_the_record_is_that_of_the_training_rows(outcomes, name):
    carried_out = outcomes[name]
    measured, overlap = carried_out.policy.learned_.overlap, carried_out.record.learning.overlap
    assert overlap.counts == tuple(measured.counts) and sum(overlap.counts) == carried_out.record.data.train
    assert overlap.highest == pytest.approx(tuple(measured.highest))
    assert overlap.effective_sample_sizes == pytest.approx(tuple(measured.effective_sample_sizes))


@pytest.mark.parametrize(("platform", "unit"), [("linux", 1024), ("darwin", 1024**2)])
def test_memory_is_told_in_mebibytes_whatever_the_system_counts_in(monkeypatch, platform, unit):
    with monkeypatch.context() as patched:
        patched.setattr(record.sys, "platform", platform)
        patched.setattr(record.resource, "getrusage", lambda _: SimpleNamespace(ru_maxrss=3 * unit))
        assert record.peak_memory() == 3.0
