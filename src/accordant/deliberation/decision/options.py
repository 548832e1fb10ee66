"""What a user may say about the debate of a run's decision, and the command line that says it again."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from typing import Literal

from accordant.agents.language.options import ModelOptions, model_arguments
from accordant.naming import Named
from accordant.terminal import arguments, named

DecisionProtocol = Literal["debate", "offers", "vote", "dialogue"]


@dataclass(frozen=True)
class DecisionOptions:
    """What a user may say about the debate of a run's decision.

    Parameters
    ----------
    rows
        Positions of the rows: one whose action is debated, or several that compete for one action.
    grant, otherwise
        The action that several rows compete for, and the one for those who do not get it; None for one row.
    capacity
        How many of several rows get it; None for one row.
    agents
        Who debates or asks; empty for all stakeholders with positive weight in the run.
    protocol
        Three-round debate, alternating offers, a debate followed by a vote, or a dialogue in which stakeholders ask
        why the run decides as it does.
    settle
        Settlement rule of a debate, or voting rule of a vote; None for ``bargain``, and Borda's.
    seed
        Of everything random.
    data
        Data file or folder of the run, where its untouched rows come from; None looks in the usual places.
    model
        Language model; None for rule agents alone.
    """

    rows: tuple[int, ...] = (0,)
    grant: str | None = None
    otherwise: str | None = None
    capacity: int | None = None
    agents: tuple[Named, ...] = ()
    protocol: DecisionProtocol = "debate"
    settle: str | None = None
    seed: int = 0
    data: str | None = None
    model: ModelOptions | None = None


@dataclass(frozen=True)
class AdoptionOptions:
    """Who adopts what is settled on, and why."""

    by: str
    why: str


def command_line(folder: str, file: str | None, options: DecisionOptions) -> str:
    """Return the command that makes the section, in shell quoting."""
    given = asdict(options)
    parts = ["accordant", "deliberate", folder, *([] if file is None else [file])]
    parts += ["--row" if options.grant is None else "--rows", ",".join(map(str, options.rows))]
    parts += arguments(given, DecisionOptions, ("grant", "otherwise", "capacity"))
    if options.agents:
        parts += ["--agents", ",".join(map(named, given["agents"]))]
    parts += arguments(given, DecisionOptions, ("protocol", "settle", "data"))
    return shlex.join([*parts, *model_arguments(given["model"]), "--seed", str(options.seed)])
