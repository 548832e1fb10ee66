"""What a user may say about a deliberation beside the case, and the command line that says it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

from accordant.agents.language.options import ModelOptions, model_arguments
from accordant.naming import Named
from accordant.terminal import arguments, named

Protocol = Literal["debate", "offers", "vote"]
Guard = Literal["log", "strike"]


@dataclass(frozen=True)
class DeliberationOptions:
    """What a user may say about a deliberation beside the case.

    Parameters
    ----------
    agents
        Who deliberates; empty for the case's.
    protocol
        Three-round debate, alternating offers, or a debate followed by a vote.
    settle
        Settlement rule of a debate with its parameters, such as ``bargain[steps=30]``, or voting rule of a vote; None
        for the case's, and Borda's. Alternating offers take none.
    guard
        What follows from an inadmissible reason: ``log`` or ``strike``.
    seed
        Of everything random.
    repeat
        How many scenarios.
    patients
        How many are drawn; None for the case's.
    capacity
        Resource to units, where other than the case's.
    data
        File or folder; None looks in the usual places.
    corpus
        Folder of passages in Markdown that replaces the built-in one; ``none`` for no passages at all.
    model
        Language model; None for rule agents alone.
    jobs
        Processes for repetitions.
    """

    agents: tuple[Named, ...] = ()
    protocol: Protocol = "debate"
    settle: str | None = None
    guard: Guard = "log"
    seed: int = 0
    repeat: int = 1
    patients: int | None = None
    capacity: Mapping[str, float] = field(default_factory=dict)
    data: str | None = None
    corpus: str | None = None
    model: ModelOptions | None = None
    jobs: int = 1


def command_line(case: str, options: DeliberationOptions) -> str:
    """Return the command that makes a result, in shell quoting; what is as usual is left out, but not the seed."""
    given = asdict(options)
    parts = ["accordant", "deliberate", case]
    if options.agents:
        parts += ["--agents", ",".join(map(named, given["agents"]))]
    parts += arguments(given, DeliberationOptions, ("protocol", "settle", "guard", "repeat", "patients"))
    for resource, units in options.capacity.items():
        parts += ["--capacity", f"{resource}={units:g}"]
    parts += arguments(given, DeliberationOptions, ("data", "corpus"))
    return shlex.join([*parts, *model_arguments(given["model"]), "--seed", str(options.seed)])
