"""What is printed of certificates, and how the members of a coalition are read."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.cli import certificate_tables
from accordant.cli.certificate_tables import members_of, print_certified_dataset
from accordant.errors import InputError
from accordant.runs.datasets.certification import CertifiedDataset
from accordant.unusual import UnusualCounts


def test_a_radius_without_end_is_never():
    assert (certificate_tables._radius(np.inf), certificate_tables._radius(0.05)) == ("never", "0.0500")


def test_members_are_named_between_commas():
    assert members_of(None) is None
    assert members_of(" Bank,, Regulator ") == ["Bank", "Regulator"]
    with pytest.raises(InputError, match="names nobody"):
        members_of(" , ")


@pytest.mark.parametrize(("coalition", "who"), [(None, "everybody together"), (("Bank", "Clerk"), "Bank, Clerk")])
def test_of_a_dataset_is_told_how_many_decisions_cannot_change(coalition, who, capsys, tmp_path):
    certified = CertifiedDataset(
        rule="maximin", delta=0.05, coalition=coalition, rows=12_000, certified=9_001, deltas=(0.01, 0.05),
        shares={("Bank",): (1.0, 0.875), ("Bank", "Clerk"): (0.9, 0.75)}, unusual=UnusualCounts(),
    )  # fmt: skip
    print_certified_dataset(certified, tmp_path / "parts")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "strategy: maximin", "", f"If {who} may misreport each expected reward by up to 0.05:",
        "- 9,001 of 12,000 decisions cannot change.",
    ]  # fmt: skip
    cells = [line.split() for line in lines]
    assert ["Bank", "100.0%", "87.5%"] in cells and ["Bank,", "Clerk", "90.0%", "75.0%"] in cells
    assert "".join(lines).endswith(f"one row per decision: {tmp_path / 'parts'}")
