"""What a user may say about a comparison of learners, and the command line that says it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accordant.preferences.comparison import SourceOptions
from accordant.preferences.measures.intervals import RESAMPLES
from accordant.preferences.measures.pareto import TOLERANCE
from accordant.terminal import arguments


@dataclass(frozen=True)
class PreferenceOptions:
    """What is compared, and how.

    Parameters
    ----------
    methods
        ``name`` or ``name[parameter=value,…]``.
    parameters
        JSON object with the parameters of the one method that is named; None for none.
    compare
        Whether all registered learners take part.
    encoder
        Registered name of the encoder of texts.
    test
        Share of each user's records to judge by.
    new_users, first
        Share of users to hold out whole, and by how many records each of them is known.
    seed
        Of everything random.
    resamples
        Of users, at least 40.
    source
        How the file is read.
    tolerance
        Accuracy that a group may lose where another one gains; at least 0, below 1.
    gain
        Smallest gain of the minority's accuracy that is worth having, for the power of the verdict; None for the gain
        that is seen.
    """

    methods: tuple[str, ...] = ()
    parameters: str | None = None
    compare: bool = False
    encoder: str = "tf-idf"
    test: float = 0.3
    new_users: float = 0.0
    first: int = 8
    seed: int = 42
    resamples: int = RESAMPLES
    source: SourceOptions = field(default_factory=SourceOptions)
    tolerance: float = TOLERANCE
    gain: float | None = None


def command_line(content: Mapping[str, Any]) -> str:
    """Return the command that made a result, in shell quoting; what is as usual is left out, but not the seed."""
    options, source = content["options"], content["options"]["source"]
    styles = ",".join(source["styles"]) if source["styles"] else None
    parts = ["accordant", "preferences", content["file"]]
    parts += [part for method in options["methods"] for part in ("--method", method)]
    parts += ["--parameters", options["parameters"]] if options["parameters"] else []
    parts += ["--compare"] if options["compare"] else []
    parts += arguments(source, SourceOptions, ("format",))
    parts += [part for column in source["ignore"] for part in ("--ignore", column)]
    parts += arguments(options, PreferenceOptions, ("encoder", "test", "new_users", "first"))
    parts += arguments(source | {"styles": styles}, SourceOptions, ("minority", "users", "records", "styles"))
    parts += arguments(options, PreferenceOptions, ("resamples", "tolerance", "gain"))
    return shlex.join([*parts, "--seed", str(content["seed"])])
