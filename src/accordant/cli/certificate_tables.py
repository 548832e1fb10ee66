"""What ``certify`` prints for people, and how it reads who misreports."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from accordant.errors import InputError
from accordant.runs.datasets.certification import CertifiedDataset
from accordant.runs.sections.certification import DELTAS, Certified
from accordant.terminal import PlainConsole
from accordant.terminal_table import FittedTable

WIDTH = 100  # columns of a page that is piped somewhere
QUARTILES = {0.25: "lower", 0.5: "median", 0.75: "upper"}  # of the radius


def members_of(coalition: str | None) -> list[str] | None:
    """Return the names of an option such as ``Bank, Regulator``; None for everybody."""
    if coalition is None:
        return None
    members = [name.strip() for name in coalition.split(",") if name.strip()]
    if not members:
        raise InputError(f"--coalition {coalition!r} names nobody; leave it out for everybody")
    return members


def print_certified(found: Certified, out: Path | None) -> None:
    """Print what holds of all decisions together, and where the single ones are."""
    console = PlainConsole(width=WIDTH)
    certificate, threat = found.certificate, found.certificate.threat
    who = "everybody together" if threat.coalition is None else ", ".join(threat.coalition)
    n = certificate.expected.n_contexts
    console.print(found.origin)
    console.print(f"strategy: {certificate.rule.label}; method: {certificate.method}")
    certified, attackable, inexact = (
        int(mask.sum()) for mask in (certificate.certified, certificate.attackable, ~certificate.exact)
    )
    console.print(f"\nIf {who} may misreport each expected reward by up to {threat.delta:g}:")
    console.print(f"- {certified} of {n} decisions cannot change;")
    console.print(f"- a misreport that changes the decision is known for {attackable};")
    console.print(f"- the actions that could win are known exactly for {n - inexact}.")
    if threat.frozen:
        console.print("Reference points stay where honest reports put them: a weaker threat than the live one.")
    if found.counts.unusual:
        console.print(found.counts.sentence() + " Certificates are about what the rule chooses.")
    console.print()
    console.print(radius_table(found))
    console.print(
        "\nradius: the largest misreport that does not change a decision"
        + ("." if found.survey.exact else "; certified, so the true one may be larger.")
    )
    if found.paper is not None:
        console.print()
        for sentence in found.paper.sentences():
            console.print(f"- {sentence}")
    if out is not None:
        console.print(f"\none line per row: {out}")


def print_certified_dataset(found: CertifiedDataset, out: Path) -> None:
    """Print what holds of all decisions on a dataset together, and where the single ones are."""
    console = PlainConsole(width=WIDTH)
    who = "everybody together" if found.coalition is None else ", ".join(found.coalition)
    console.print(f"strategy: {found.rule}")
    console.print(f"\nIf {who} may misreport each expected reward by up to {found.delta:g}:")
    console.print(f"- {found.certified:,} of {found.rows:,} decisions cannot change.\n")
    table = FittedTable("Decisions that cannot change")
    table.add("who misreports", name=True)
    for delta in found.deltas:
        table.add(f"by {delta:g}", number=True)
    for members, shares in found.shares.items():
        table.add_row(", ".join(members), *(f"{share:.1%}" for share in shares))
    console.print(table)
    console.print(f"\none row per decision: {out}")


def radius_table(found: Certified) -> FittedTable:
    """Return the share of certified decisions and quartiles of the radius, per coalition."""
    survey, deltas = found.survey, sorted({*DELTAS, found.certificate.threat.delta})
    table = FittedTable("Decisions that cannot change, and quartiles of the radius")
    table.add("who misreports", name=True)
    for delta in deltas:
        table.add(f"by {delta:g}", number=True)
    for name in QUARTILES.values():
        table.add(name, number=True)
    shares, quartiles = np.array([survey.certified(delta) for delta in deltas]).T, survey.quantiles(tuple(QUARTILES))
    for members, row, radii in zip(survey.coalitions, shares, quartiles, strict=True):
        everybody = len(members) == len(found.certificate.expected.stakeholders) and len(members) > 1
        name = "everybody" if everybody else ", ".join(members)
        table.add_row(name, *(f"{share:.1%}" for share in row), *(_radius(radius) for radius in radii))
    return table


def _radius(radius: float) -> str:
    return "never" if np.isinf(radius) else f"{radius:.4f}"
