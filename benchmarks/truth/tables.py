"""The study in the terminal: one compact table per world."""

from __future__ import annotations

from typing import Any

from benchmarks.truth.study import PARTS, Summary

HEADS = f"{'bias':>8}{'cover':>7}{'worst':>7} {'of':22}{'none':>6}{'width':>7}{'zero':>6}{'wrong':>6}"
WEIGHTED = ("composite", "mean_reward", "min_reward", "parity")  # of D* the terminal shows these, JSON shows all


def lines(found: Summary) -> list[str]:
    """Return the table of one world.

    cover: share of intervals that hold the truth; worst, of: the strategy with the smallest; none: share withheld;
    zero, wrong: share of intervals of zero width, and of those beside the truth.
    """
    world = found.world
    shape = (
        f"== {world.name}: {found.runs} runs, {world.train} + {world.test} rows, {world.stakeholders} stakeholders, "
        f"{world.actions} actions, {world.outcomes} outcomes, {world.noise} features, seed {world.seed}"
    )
    text = [
        "",
        shape,
        f"{'':28}" + " | ".join(f"{part:<{len(HEADS)}}" for part in PARTS),
        f"{'metric':28}" + " | ".join([HEADS] * len(PARTS)),
    ]
    for metric in dict.fromkeys(found.cells["metric"]):
        if metric.startswith("selected: ") and metric.removeprefix("selected: ") not in WEIGHTED:
            continue
        rows = found.cells[found.cells["metric"] == metric].set_index("part")
        text.append(f"{metric:28}" + " | ".join(_cell(rows.loc[part]) for part in PARTS))
    named = [name for name in found.numbers if not name.startswith(("regret", "seconds"))]
    split = list(dict.fromkeys(name.rpartition(" (")[0] for name in named if name.endswith(")")))
    for name in split:
        values = [found.numbers.get(f"{name} ({part})") for part in PARTS]
        if any(value is not None for value in values):
            text.append(f"{name:28}" + "  ".join(f"{part} {_number(v)}" for part, v in zip(PARTS, values, strict=True)))
    text += [f"{name:28}{_number(found.numbers[name])}" for name in named if not name.endswith(")")]
    for kind in ("regret", "seconds"):
        parts = {name: value for name, value in found.numbers.items() if name.startswith(kind)}
        text.append(f"{kind:28}" + "  ".join(f"{name.removeprefix(f'{kind} of ')} {_number(value)}"
                                             for name, value in parts.items()))  # fmt: skip
    return text


def _cell(row: Any) -> str:
    if not row["n"]:
        return f"{row['bias']:8.3f}{'withheld':>16}".ljust(len(HEADS))
    worst = f"{'':7} {'':22}" if not row["worst"] else f"{row['worst_coverage']:7.2f} {row['worst'][:21]:22}"
    shares = f"{row['withheld']:6.2f}{row['width']:7.3f}{row['zero_width']:6.2f}{row['zero_width_wrong']:6.2f}"
    return f"{row['bias']:8.3f}{row['coverage']:7.3f}{worst}{shares}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
