"""Many runs in one world: bias, coverage, errors of comparisons, flags, and which promises were not kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, parallel_config
from scipy.stats import binom

from benchmarks.truth.run import CHOSEN, COMPOSITE, RECORD, Run, Settings, one_run
from benchmarks.truth.worlds import World

Sense = Literal["at least", "at most"]

PARTS = ("validation", "test")
ROUNDING = 1e-7  # of true values
TIED = 0.002  # true scores nearer than this are not told apart: about the error of a true value
RELEVANT = 0.02  # a true difference that should be found


@dataclass(frozen=True)
class Summary:
    """What a study found in one world.

    Attributes
    ----------
    world, runs
        Where, and how many.
    cells
        One row per part and metric: bias, coverage, the worst strategy and its coverage, shares withheld and of zero
        width, share of intervals of zero width beside the truth, mean width. ``selected: …`` is about D* alone.
    numbers
        Named figures of comparisons, stability, flags and regret; None where there was nothing to count.
    counts
        What pooled figures are made of: name → (hits, tries).
    """

    world: World
    runs: int
    cells: pd.DataFrame
    numbers: dict[str, float | None]
    counts: dict[str, tuple[float, int]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        cells = self.cells.astype(object).where(self.cells.notna(), None)
        return {
            "world": self.world.name,
            "runs": self.runs,
            "cells": cells.to_dict(orient="records"),
            "numbers": self.numbers,
            "counts": {name: list(each) for name, each in self.counts.items()},
        }


def study(world: World, runs: int, settings: Settings | None = None, jobs: int = 1, first: int = 0) -> Summary:
    """Return what `runs` runs in a world showed."""
    chosen = settings or Settings()
    with parallel_config("loky" if jobs > 1 else "sequential", n_jobs=jobs, **_inner(jobs)):
        made = Parallel()(delayed(one_run)(world, first + run, chosen) for run in range(runs))
    return summary(world, made)


def _inner(jobs: int) -> dict[str, int]:
    return {"inner_max_num_threads": 1} if jobs > 1 else {}


def summary(world: World, made: Sequence[Run]) -> Summary:
    """Return the summary of finished runs."""
    table = pd.concat(
        [pd.DataFrame(each.records, columns=RECORD).assign(run=run) for run, each in enumerate(made)],
        ignore_index=True,
    )
    table["shown"] = table["low"].notna() & table["high"].notna()
    inside = (table["low"] <= table["truth"] + ROUNDING) & (table["high"] >= table["truth"] - ROUNDING)
    table["covers"] = inside.where(table["shown"]).astype(float)
    table["width"] = table["high"] - table["low"]
    table["error"] = table["value"] - table["truth"]
    numbers: dict[str, float | None] = {}
    counts: dict[str, tuple[float, int]] = {}
    for part in PARTS:
        found = comparisons(table[(table["part"] == part) & (table["metric"] == COMPOSITE)], world)
        counts |= {f"{name} ({part})": each for name, each in found.items()}
    counts |= stability(made) | flags(table, world)
    numbers |= {name: _share(each) for name, each in counts.items()}
    numbers |= {f"regret of {name}": float(np.mean([each.regrets[name] for each in made])) for name in made[0].regrets}
    numbers |= {f"seconds of {name}": float(np.mean([each.seconds[name] for each in made])) for name in made[0].seconds}
    return Summary(world, len(made), cells(table), numbers, counts)


def cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return bias and coverage per part and metric, over all strategies and for D* alone."""
    # what is undefined in truth (a criterion without anybody to count) has no interval to judge
    known = table[table["truth"].notna()]
    rows = []
    labels = list(dict.fromkeys(table["metric"]))
    for part in PARTS:
        here = known[known["part"] == part]
        chosen = here[here["selected"]]
        # a rule is selected in some runs only, and not by chance: no worst rule of the selected is looked for
        rows += [
            {"part": part, "metric": each} | _about(here[here["metric"] == each], worst=each != CHOSEN)
            for each in labels
        ]
        rows += [
            {"part": part, "metric": f"selected: {each}"} | _about(chosen[chosen["metric"] == each], worst=False)
            for each in labels
        ]
    return pd.DataFrame(rows)


def _about(some: pd.DataFrame, *, worst: bool = True) -> dict[str, Any]:
    by_strategy = some.groupby("strategy")["covers"].mean().dropna() if worst else pd.Series(dtype=float)
    flat = some["width"] <= ROUNDING
    return {
        "bias": some["error"].mean(),
        "coverage": some["covers"].mean(),
        "worst": "" if by_strategy.empty else str(by_strategy.idxmin()),
        "worst_coverage": np.nan if by_strategy.empty else by_strategy.min(),
        "withheld": 1 - some["shown"].mean(),
        "width": some["width"].mean(),
        "zero_width": flat.mean(),
        "zero_width_wrong": (flat & (some["covers"] == 0)).mean(),
        "n": int(some["shown"].sum()),
    }


def comparisons(scores: pd.DataFrame, world: World) -> dict[str, tuple[float, int]]:
    """Return hits and tries of verdicts about candidates in one part; `scores` holds composite scores only."""
    runs = [each for _, each in scores[scores["candidate"] & scores["truth"].notna()].groupby("run")]
    found: dict[str, tuple[float, int]] = {}
    equal = [each for each in runs if world.null]
    found["familywise error"] = (float(sum(each["worse"].any() for each in equal)), len(equal))
    if world.null:
        found["best in the set"] = (float(sum(each["member"].all() for each in runs)), len(runs))
        return found
    gaps = [each["truth"].max() - each["truth"] for each in runs]
    relevant = [each.loc[(gap > RELEVANT) & each["compared"], "worse"] for each, gap in zip(runs, gaps, strict=True)]
    found["power"] = (float(sum(each.sum() for each in relevant)), sum(map(len, relevant)))
    found["all that are worse excluded"] = (float(sum(each.all() for each in relevant)), len(relevant))
    found["compared"] = (float(sum(each["compared"].sum() for each in runs)), sum(map(len, runs)))
    best = [each[gap <= TIED] for each, gap in zip(runs, gaps, strict=True)]
    found["best in the set"] = (float(sum(each["member"].all() for each in best)), len(best))
    found["best called worse"] = (float(sum(each["worse"].any() for each in best)), len(best))
    found["best selected"] = (float(sum(each["selected"].any() for each in best)), len(best))
    return found


def stability(made: Sequence[Run]) -> dict[str, tuple[float, int]]:
    """Return how many runs had a flip when some other candidate was dropped, and when a dominated one was added."""
    found = {}
    for name, each in (("dropping", [run.dropped for run in made]), ("adding", [run.added for run in made])):
        tried = [hits for hits, tries in each if tries]
        found[f"D* flips on {name}"] = (float(sum(hits > 0 for hits in tried)), len(tried))
    return found


def flags(table: pd.DataFrame, world: World) -> dict[str, tuple[float, int]]:
    """Return false flags where overlap holds, and missed ones where it does not.

    A flag is false where the world has overlap and the interval of the mean reward covers all the same. It is missed
    where the world has none, the line carries no flag, its interval is shown, and does not cover.
    """
    lines = table[(table["metric"] == "mean_reward") & (table["strategy"] != "logged") & table["truth"].notna()]
    covered = lines["covers"] != 0
    if not world.violation:
        return {"false overlap flags": (float((lines["flagged"] & covered).sum()), len(lines))}
    muted = lines[~lines["flagged"] & lines["shown"]]
    return {"missed overlap flags": (float((muted["covers"] == 0).sum()), len(muted))}


def _share(counted: tuple[float, int]) -> float | None:
    hits, tries = counted
    return hits / tries if tries else None


@dataclass(frozen=True)
class Promise:
    """A threshold, and on which figures of which worlds it stands.

    Attributes
    ----------
    name
        Figure of `Summary.counts`, without the part.
    sense
        Whether the share is ``at least`` or ``at most`` the limit.
    limit
        In [0, 1].
    worlds
        Names; empty for all.
    pooled
        Whether hits and tries of all worlds are added first.
    """

    name: str
    sense: Sense
    limit: float
    worlds: tuple[str, ...] = ()
    pooled: bool = False

    def sentence(self, share: float, n: float) -> str | None:
        """Return how a share of n tries breaks the promise, and None if it does not."""
        short = self.limit - share if self.sense == "at least" else share - self.limit
        if short <= 0:
            return None
        error = float(np.sqrt(self.limit * (1 - self.limit) / n))
        nearly = f" ({short / error:.1f} standard errors)" if error > 0 else ""
        return f"is {share:.3f}, promised {self.sense} {self.limit:g}{nearly}"

    def eased(self, slack: float, n: float) -> Promise:
        """Return the promise with a limit that is easier by some standard errors of a share of n tries."""
        error = slack * float(np.sqrt(self.limit * (1 - self.limit) / n))
        return replace(self, limit=self.limit + (-error if self.sense == "at least" else error))


COVERAGE = Promise("coverage", "at least", 0.92)  # over strategies of every metric, and of D*, on each part; or none
WORST = 0.001  # chance of so few hits at that coverage, below which the worst of many strategies falls short
PROMISES = (
    Promise("familywise error", "at most", 0.07),
    Promise("power", "at least", 0.95, ("clearly_best",)),
    Promise("power", "at least", 0.6, pooled=True),
    Promise("all that are worse excluded", "at least", 0.95, ("clearly_best",)),
    Promise("best selected", "at least", 0.95, ("clearly_best",)),
    Promise("best in the set", "at least", 0.92),
    Promise("D* flips on dropping", "at most", 0.0),
    Promise("D* flips on adding", "at most", 0.0),
    Promise("false overlap flags", "at most", 0.1),
    Promise("missed overlap flags", "at most", 0.1),
)


def broken(summaries: Sequence[Summary], slack: float = 0.0) -> list[str]:
    """Return every promise that was not kept, in words.

    Parameters
    ----------
    summaries
        Of one or several worlds.
    slack
        Standard errors by which every figure may miss its limit, for studies of few runs. Those of a share over
        strategies are taken as if it were over runs, since strategies share their rows.
    """
    found = []
    for each in summaries:
        found += [f"{each.world.name}: {text}" for text in _uncovered(each, slack)]
    for promise in PROMISES:
        found += _failures(promise, summaries, slack)
    return found


def _uncovered(found: Summary, slack: float) -> list[str]:
    sentences = []
    for cell in found.cells[found.cells["n"] > 0].itertuples():
        n = min(found.runs, cell.n)
        if not np.isnan(cell.coverage) and (text := COVERAGE.eased(slack, n).sentence(cell.coverage, n)) is not None:
            sentences.append(f"coverage of {cell.metric} ({cell.part}) {text}")
        worst = cell.worst_coverage
        if not np.isnan(worst) and binom.cdf(round(worst * n), n, COVERAGE.limit) < WORST:
            text = COVERAGE.sentence(worst, n)
            sentences.append(f"coverage of {cell.metric} ({cell.part}) for {cell.worst} {text}")
    return sentences


def _failures(promise: Promise, summaries: Sequence[Summary], slack: float) -> list[str]:
    concerned = [each for each in summaries if not promise.worlds or each.world.name in promise.worlds]
    sentences = []
    for name in (promise.name, *(f"{promise.name} ({part})" for part in PARTS)):
        counted = [(each.world.name, each.counts[name], each.runs) for each in concerned if name in each.counts]
        if promise.pooled and counted:
            hits, tries = (sum(each[1][place] for each in counted) for place in (0, 1))
            counted = [("all worlds", (hits, int(tries)), sum(each[2] for each in counted))]
        for where, (hits, tries), runs in counted:
            n = min(runs, tries)
            if tries and (text := promise.eased(slack, n).sentence(hits / tries, n)) is not None:
                sentences.append(f"{where}: {name} {text}")
    return sentences
