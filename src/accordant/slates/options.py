"""What a user may say about slates beside the case, and the command line that says it."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accordant.agents.language.options import ModelOptions, model_arguments
from accordant.json_values import json_value
from accordant.naming import Named
from accordant.slates.fidelity import THRESHOLD, Instead
from accordant.terminal import arguments, named

LATER = ("consumption", "staleness")  # options that results have only where somebody gave them


@dataclass(frozen=True)
class SlateOptions:
    """What a user may say about slates beside the case.

    Parameters
    ----------
    k
        Places in a list; None for the case's.
    strategies
        Which rules compete; empty for the case's, or all.
    floors
        Whether lists are repaired until the case's hard floors hold.
    capacity
        Item to visits per day, where other than the case's.
    requests
        Serve at most this many, the first in time; None for all.
    resamples
        Of users, for intervals.
    data
        File or folder; None looks in the usual places.
    seed
        Of everything random.
    rankings
        File with rankings that speak for stakeholders.
    model
        Language model that speaks for stakeholders; None for none.
    threshold, instead
        Fidelity below which a ranking does not count, and what counts in its place.
    run
        Folder of a finished run whose models say what its actions are worth; None for a case.
    consumption
        How many items of a list a user takes: a rule for that competes, and every rule is measured by it; None for not.
    staleness
        How many batches old the state is that rules see; None for the case's.
    """

    k: int | None = None
    strategies: tuple[Named, ...] = ()
    floors: bool = True
    capacity: Mapping[str, float] = field(default_factory=dict)
    requests: int | None = None
    resamples: int = 1000
    data: str | None = None
    seed: int = 0
    rankings: str | None = None
    model: ModelOptions | None = None
    threshold: float = THRESHOLD
    instead: Instead = "declared"
    run: str | None = None
    consumption: int | None = None
    staleness: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        values: dict[str, Any] = json_value(dataclasses.asdict(self))
        return {name: value for name, value in values.items() if name not in LATER or value is not None}


def command_line(content: Mapping[str, Any]) -> str:
    """Return the command that made a result, in shell quoting; what is as usual is left out, but not the seed."""
    options = content["options"]
    parts = ["accordant", "slate", options.get("run") or content["case"]["name"]]
    if options["strategies"]:
        parts += ["--strategies", ",".join(named(strategy) for strategy in options["strategies"])]
    parts += [] if options["floors"] else ["--no-floors"]
    for item, visits in options["capacity"].items():
        parts += ["--capacity", f"{item}={visits:g}"]
    parts += arguments(
        options,
        SlateOptions,
        ("k", "requests", "resamples", "data", "rankings", "threshold", "instead"),
    )
    parts += arguments(dict.fromkeys(LATER) | options, SlateOptions, LATER)
    return shlex.join([*parts, *model_arguments(options["model"]), "--seed", str(content["seed"])])
