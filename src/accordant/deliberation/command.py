"""The command ``accordant deliberate``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from accordant.terminal import CaseName, Data, Json, Out, Seed, with_model


@with_model(
    speaks_for="Agents that the model speaks for; by default all frameworks among them.",
    fallback="Let a rule stand in where the model makes no valid move; counted.",
)
def deliberate(
    case: CaseName,
    *,
    agents: Annotated[
        str | None, typer.Option(help="Who deliberates: names with commas, such as rawlsian,biased[strength=0.3].")
    ] = None,
    protocol: Annotated[str, typer.Option(help="debate (three rounds), offers (alternating), or vote.")] = "debate",
    settle: Annotated[
        str | None, typer.Option(help="Settlement rule of a debate, such as bargain[steps=30]; voting rule of a vote.")
    ] = None,
    guard: Annotated[
        str, typer.Option(help="What an inadmissible reason brings: log, or strike the claim that rests on it.")
    ] = "log",
    repeat: Annotated[int, typer.Option(min=1, help="How many scenarios; above 1 gives a table with intervals.")] = 1,
    patients: Annotated[int | None, typer.Option(min=1, help="How many patients instead of the case's.")] = None,
    capacity: Annotated[
        list[str] | None, typer.Option(metavar="RESOURCE=UNITS", help="Capacity instead of the case's; repeatable.")
    ] = None,
    data: Data = None,
    corpus: Annotated[
        str | None, typer.Option(help="Folder of passages in Markdown instead of the built-in ones, or none.")
    ] = None,
    model: Mapping[str, Any],
    jobs: Annotated[int | None, typer.Option(min=0, help="Processes of --repeat; 0 for one per core.")] = None,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Let agents argue, bargain or vote: transcript, who moved on whom, verdict against the scope card."""
    from accordant.deliberation.terminal import conduct, deliberation_options

    options = deliberation_options(
        agents=agents, protocol=protocol, settle=settle, guard=guard, repeat=repeat, patients=patients,
        capacity=capacity or [], data=data, corpus=corpus, seed=seed, jobs=jobs, model=model,
    )  # fmt: skip
    conduct(case, options, out, json=json)


COMMANDS = (deliberate,)
