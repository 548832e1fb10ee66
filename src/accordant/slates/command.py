"""The command ``accordant slate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from accordant.terminal import (
    Calls,
    CaseName,
    Data,
    Json,
    KeyVariable,
    Llm,
    Model,
    Out,
    Record,
    Replay,
    Seconds,
    Seed,
    Timeout,
    Tokens,
)


def slate(
    case: CaseName,
    k: Annotated[int | None, typer.Option("--k", min=1, help="Places in a list instead of the case's.")] = None,
    strategies: Annotated[
        str | None,
        typer.Option(help="Slate rules and strategies with commas, such as seq_pav,borda, or all; else the case's."),
    ] = None,
    floors: Annotated[
        bool, typer.Option("--floors/--no-floors", help="Mend lists until the case's hard floors hold, or do not.")
    ] = True,
    capacity: Annotated[
        list[str] | None, typer.Option(metavar="ITEM=VISITS", help="Visits per day instead of the case's; repeatable.")
    ] = None,
    requests: Annotated[int | None, typer.Option(min=1, help="Serve at most this many requests.")] = None,
    resamples: Annotated[int, typer.Option(min=100, help="Bootstrap resamples of users.")] = 1000,
    data: Data = None,
    rankings: Annotated[
        Path | None,
        typer.Option(help="CSV of rankings that speak: stakeholder, request, place, item."),
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=-1.0, max=1.0, help="Fidelity below which a ranking does not count.")
    ] = 0.5,
    instead: Annotated[
        str, typer.Option(help="What counts in place of such a ranking: declared utilities, or silence.")
    ] = "declared",
    llm: Llm = None,
    model: Model = None,
    speaks_for: Annotated[
        str | None, typer.Option(help="Stakeholders that the model speaks for; by default all without --rankings.")
    ] = None,
    key_variable: KeyVariable = None,
    fallback: Annotated[
        bool, typer.Option("--fallback", help="Let a rule stand in where the model gives no valid ranking; counted.")
    ] = False,
    calls: Calls = None,
    tokens: Tokens = None,
    seconds: Seconds = None,
    timeout: Timeout = None,
    record: Record = None,
    replay: Replay = None,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Show lists of k items for many stakeholders: leaderboard of rules, report, and a file of slates."""
    from accordant.slates.terminal import conduct_slates, slate_options

    options = slate_options(
        k=k, strategies=strategies, floors=floors, capacity=capacity or [], requests=requests, resamples=resamples,
        data=data, seed=seed, rankings=rankings, threshold=threshold, instead=instead,
        model={
            "base_url": llm, "model": model, "agents": speaks_for, "key_variable": key_variable, "fallback": fallback,
            "calls": calls, "tokens": tokens, "seconds": seconds, "timeout": timeout, "record": record,
            "replay": replay,
        },
    )  # fmt: skip
    conduct_slates(case, options, out, json=json)


COMMANDS = (slate,)
