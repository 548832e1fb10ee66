"""Simulators: what a case runs on when there are no data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import pandas as pd

from accordant import randomness
from accordant.cases.loaders import CaseData, build
from accordant.cases.spec import CaseSpec
from accordant.errors import InputError
from accordant.registry import Registry

simulators: Registry[pd.DataFrame] = Registry("simulator", group="accordant.simulators", packages=("accordant.cases",))
"""A simulator is a function (rows, generator) that returns a table as a case's ``data`` section describes it."""


def simulate(case: CaseSpec, seed: int, rows: int | None, reward_columns: Mapping[str, str]) -> CaseData:
    """Return simulated data for a case.

    Raises
    ------
    InputError
        If the case has no simulator.
    """
    frame, name = simulated_table(case, seed, rows), case.simulator.name if case.simulator else ""
    digest = hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()
    source = f"simulator {name!r}, seed {seed}, {len(frame)} rows"
    return build(frame, case.data, case.problem, reward_columns, source, digest, simulated=True)


def simulated_table(case: CaseSpec, seed: int, rows: int | None) -> Any:
    """Return the simulated table itself, as ``accordant simulate`` writes it."""
    if case.simulator is None:
        raise InputError(f"the case {case.name!r} has no simulator")
    generator = randomness.generator(seed, "simulation")
    return simulators.create(case.simulator.name, {"rows": rows or case.simulator.rows, "generator": generator})
