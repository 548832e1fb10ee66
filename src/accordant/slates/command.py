"""The command ``accordant slate``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from accordant.terminal import Data, Json, On, Out, PartRows, RowId, SeedFromZero, refuse_idle, with_model, working

Rows = Annotated[
    str | None,
    typer.Argument(
        metavar="[DATASET]",
        help="With a run: file, folder or pattern of rows, each of which gets a list by one rule of --strategies.",
    ),
]


@with_model(
    speaks_for="Stakeholders that the model speaks for; by default all without --rankings.",
    fallback="Let a rule stand in where the model gives no valid ranking; counted.",
)
def slate(
    case: Annotated[
        str, typer.Argument(metavar="CASE|RUN", help="A built-in case, a path to a YAML file, or a finished run.")
    ],
    dataset: Rows = None,
    *,
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
    consumption: Annotated[
        int | None, typer.Option(min=1, help="Users take this many items of a list: judge and compose lists for that.")
    ] = None,
    staleness: Annotated[
        int | None,
        typer.Option(min=0, help="Rules see the state of this many batches ago, and what that costs is measured."),
    ] = None,
    row_id: RowId = None,
    part_rows: PartRows = None,
    add: Annotated[bool, typer.Option("--add/--no-add", help="With a run: add the result to it as a section.")] = True,
    model: Mapping[str, Any],
    on: On = None,
    seed: SeedFromZero = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Show lists of k items for many stakeholders: leaderboard of rules, report, and a file of slates."""
    from accordant.slates.terminal import conduct_dataset, conduct_slates, slate_options

    options = slate_options(
        k=k, strategies=strategies, floors=floors, capacity=capacity or [], requests=requests, resamples=resamples,
        data=data, seed=seed or 0, rankings=rankings, threshold=threshold, instead=instead, model=model,
        consumption=consumption, staleness=staleness,
    )  # fmt: skip
    if dataset is not None:
        refuse_idle({"--no-add": None if add else add}, "lists of a dataset, which are added to no run")
        conduct_dataset(case, dataset, options, out, on=on, part_rows=part_rows, row_id=row_id, json=json)
        return
    refuse_idle({"--id": row_id, "--part-rows": part_rows}, "a market: it is served in order, see --staleness")
    with working(on):
        conduct_slates(case, options, out, run_seed=seed, add=add, json=json)


COMMANDS = (slate,)
