"""Leaderboards from sums of parts in worlds of known truth: do their intervals cover, and whom do they tell apart?

Peer, on the same rows in the same run: the bootstrap over contexts or persons in memory (`accordant.evaluation`).

Work: rows of a few hundred types with known probabilities, so that the true value of every metric and score is exact.
Seven lines, two of which do not differ: what one decides for a type, the other decides for its mirror image. Rows come
in four parts.

    rows        independent, in any order
    sorted      the same, sorted by outcome: a part holds one outcome, or two
    persons     who come ten times on average, are alike from visit to visit, and recur in all parts
    few persons 300 of them: fewer than there are buckets
    estimated   rewards of actions not taken are doubly robust estimates
    null        rows, and null persons: only the two lines that do not differ are candidates

No models are fitted. Of a line that differs from no other in truth, the set of the best must hold both with 95 %.

    OMP_NUM_THREADS=1 python -m benchmarks.part_sums [--runs 200] [--jobs 2]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from accordant import metrics
from accordant.arrays import AnyArray, Codes, Values
from accordant.contexts import Contexts, Log
from accordant.decisions import Decisions
from accordant.evaluation import evaluate
from accordant.evaluation.batch_evidence import doubly_robust
from accordant.evaluation.bootstrap import Statistics, evaluated
from accordant.evaluation.composite import CompositeScale
from accordant.evaluation.leaderboard import Leaderboard
from accordant.evaluation.part_sums import PartSums, context_numbers, person_numbers
from accordant.evaluation.summed_leaderboard import summed_leaderboard
from accordant.evidence import Evidence
from accordant.problem import DecisionProblem
from accordant.utilities import ExpectedRewards

ACTIONS, OUTCOMES, PEOPLE = ("Grant", "Lower", "Deny"), ("Full", "Part", "None"), ("Bank", "Applicant", "Town")
PROBLEM = DecisionProblem(
    stakeholders=PEOPLE, actions=ACTIONS, outcomes=OUTCOMES, favourable_actions=ACTIONS[:2],
    favourable_outcomes=OUTCOMES[:1], outcome_to_action=dict(zip(OUTCOMES, ACTIONS, strict=True)),
)  # fmt: skip
METRICS = {
    "accuracy": (metrics.create("accuracy", {"attributes": ["sex"]}), 0.2),
    "precision": (metrics.create("precision"), 0.1),
    "recall": (metrics.create("recall"), 0.0),
    "parity": (metrics.create("demographic_parity", {"attributes": ["sex"], "protected": "1"}), 0.2),
    "mean reward": (metrics.create("mean_reward"), 0.2),
    "min reward": (metrics.create("min_reward"), 0.1),
    "gini": (metrics.create("gini_reward"), 0.1),
    "nash": (metrics.create("nash_welfare"), 0.1),
}
TWINS = ("one", "other")
KINDS = dict.fromkeys(("good", "fair", *TWINS), "compromise") | dict.fromkeys(
    ("always", "random", "logged"), "baseline"
)
TYPES, PARTS, RESAMPLES, LEVEL = 120, 4, 300, 0.95
PROMISED = 0.93
FALSE = 0.05


@dataclass(frozen=True)
class World:
    """How rows come.

    Attributes
    ----------
    name
        What it is called.
    rows
        How many there are, on average.
    persons
        How many these belong to; 0 if every row is independent.
    by_outcome, estimated, null
        See above.
    """

    name: str
    rows: int = 20_000
    persons: int = 0
    by_outcome: bool = False
    estimated: bool = False
    null: bool = False


WORLDS = (
    World("rows"),
    World("sorted", by_outcome=True),
    World("persons", 40_000, 4_000),
    World("few persons", 30_000, 300),
    World("estimated", estimated=True),
    World("null", null=True),
    World("null persons", 40_000, 4_000, null=True),
)


@dataclass(frozen=True, eq=False)
class Types:
    """Of each type: its two probabilities, of which a person has a mixture, and what is known of a row of it.

    Every type has a mirror image with the same probabilities, for which the twins decide the other way round.
    """

    probabilities: Values  # (mixture, type)
    sex: Values
    outcomes: Codes
    codes: Mapping[str, Codes]
    rewards: Values  # (stakeholder, action, type)
    propensities: Values  # (action, type)

    @classmethod
    def drawn(cls, generator: np.random.Generator) -> Types:
        """Return types from a generator."""
        half, mirrored = TYPES // 2, partial(np.tile, reps=2)
        chances = mirrored(generator.dirichlet(np.full(half, 0.7), 2)) / 2
        outcomes = mirrored(generator.choice(3, half, p=(0.6, 0.1, 0.3)))
        decided = {
            name: np.where(mirrored(generator.random(half)) < right, outcomes, mirrored(generator.integers(0, 3, half)))
            for name, right in (("good", 0.7), ("fair", 0.4))
        }
        first, second = generator.integers(0, 3, (2, half))
        first = np.where(generator.random(half) < 0.5, outcomes[:half], first)
        decided |= {"one": np.concatenate([first, second]), "other": np.concatenate([second, first])}
        decided["always"] = np.zeros(TYPES, dtype=np.intp)
        rewards = generator.random((3, 3, half)) * np.array([0.9, 0.8, 1.0])[:, None, None]
        odds = generator.uniform(0.3, 1.0, (3, half))
        return cls(
            chances, mirrored(generator.integers(0, 2, half)).astype(np.float64), outcomes, decided,
            np.tile(rewards, (1, 1, 2)), np.tile(odds / odds.sum(axis=0), (1, 2)),
        )  # fmt: skip

    def rows(
        self, types: Codes, logged: Codes, persons: AnyArray | None = None
    ) -> tuple[dict[str, Decisions], Evidence]:
        """Return decisions and evidence of rows of some types, with all rewards known."""
        untied, actions = np.zeros(len(types), dtype=bool), PROBLEM.actions
        decisions = {
            name: Decisions(name, actions, codes[types].astype(np.intp), untied) for name, codes in self.codes.items()
        }
        drawn = np.full((3, len(types)), 1 / 3)
        decisions["random"] = Decisions("random", actions, np.zeros(len(types), dtype=np.intp), untied, policy=drawn)
        decisions["logged"] = Decisions("logged", actions, logged, untied, follows_log=True)
        rewards = self.rewards[:, :, types]
        log = Log(Contexts({"sex": self.sex[types]}), logged, self.outcomes[types], groups=persons)
        expected = ExpectedRewards(rewards, stakeholders=PEOPLE, actions=actions)
        return decisions, Evidence(PROBLEM, log, expected, rewards)


@lru_cache
def types() -> Types:
    """Return the types of all worlds."""
    return Types.drawn(np.random.default_rng(2))


@lru_cache
def truth() -> dict[str, dict[str, float]]:
    """Return the true value of each metric, and of the score, by line; those of the log are not asked."""
    among, every = types(), np.arange(TYPES)
    decisions, evidence = among.rows(every, np.zeros(TYPES, dtype=np.intp))
    lines = {name: each for name, each in decisions.items() if name != "logged"}
    statistics = Statistics.of(lines, evidence, {label: metric for label, (metric, _) in METRICS.items()})
    weights = among.probabilities.mean(axis=0) * TYPES
    totals = np.stack([weights @ statistics.rows(s, every) for s in range(len(lines))])[:, None]
    values = evaluated(statistics.metrics, statistics.split(totals)).values[0]
    scores = CompositeScale.of(METRICS, evidence, [True] * len(lines), "natural", {}).scores(values).scores
    return {name: dict(zip((*METRICS, "score"), (*values[s], scores[s]), strict=True)) for s, name in enumerate(lines)}


def sample(world: World, generator: np.random.Generator) -> tuple[dict[str, Decisions], Evidence]:
    """Return rows of a world."""
    among, persons = types(), None
    if world.persons:
        visits = generator.geometric(world.persons / world.rows, world.persons)
        persons = np.repeat(np.arange(world.persons), visits)
        mixture = generator.random(len(persons)) < generator.beta(0.3, 0.3, world.persons)[persons]
        drawn = [generator.choice(TYPES, len(persons), p=each) for each in among.probabilities]
        order = generator.permutation(len(persons))
        rows, persons = np.where(mixture, drawn[0], drawn[1])[order], persons[order]
    else:
        rows = generator.choice(TYPES, world.rows, p=among.probabilities.mean(axis=0))
    if world.by_outcome:
        rows = rows[np.argsort(among.outcomes[rows], kind="stable")]
    chances = among.propensities[:, rows]
    logged = (generator.random(len(rows)) > np.cumsum(chances, axis=0)[:2]).sum(axis=0)
    decisions, evidence = among.rows(rows, logged, persons)
    if not world.estimated:
        return decisions, evidence
    place = logged, np.arange(len(rows))
    happened = (generator.random((3, len(rows))) < evidence.rewards[:, *place]).astype(np.float64)
    observed = evidence.rewards.copy()
    observed[:, *place] = happened
    rewards = doubly_robust(np.full(observed.shape, 0.4), observed, chances, evidence.log)  # of a model that is wrong
    return decisions, replace(
        evidence, rewards=rewards, propensities=chances, observed_rewards=happened, estimated=np.ones(3, dtype=bool)
    )


def by_parts(decisions: Mapping[str, Decisions], evidence: Evidence, candidates: list[str], seed: int) -> Leaderboard:
    """Return the leaderboard from sums of parts."""
    known, parts, persons = {label: metric for label, (metric, _) in METRICS.items()}, [], evidence.log.groups
    for rows in np.array_split(np.arange(evidence.n_contexts), PARTS):
        place = slice(int(rows[0]), int(rows[-1]) + 1)
        numbers = (
            context_numbers(len(rows), seed, 0, place.start)
            if persons is None
            else person_numbers(persons[place], seed)
        )
        cut = {
            name: replace(each, codes=each.codes[place], tied=each.tied[place],
                          policy=None if each.policy is None else each.policy[:, place])
            for name, each in decisions.items()
        }  # fmt: skip
        observed, chances = evidence.observed_rewards, evidence.propensities
        own = replace(
            evidence, log=evidence.log.take(place), expected=evidence.expected.take(place),
            rewards=evidence.rewards[:, :, place], propensities=None if chances is None else chances[:, place],
            observed_rewards=None if observed is None else observed[:, place],
        )  # fmt: skip
        parts.append(PartSums.of(cut, own, known, numbers))
    return summed_leaderboard(
        parts, PROBLEM, KINDS, METRICS, candidates=candidates, generator=np.random.default_rng(seed),
        resamples=RESAMPLES, level=LEVEL,
    )  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """What one run shows of parts (0) and of memory (1)."""

    covered: Values  # whether the true value is, (board, line, quantity)
    width: Values  # same shape
    apart: tuple[bool, bool]  # whether one of the twins was said to be worse
    seconds: tuple[float, float]


def run(world: World, seed: int) -> Reading:
    """Return the reading of one sample."""
    generator = np.random.default_rng([seed, sum(map(ord, world.name))])
    decisions, evidence = sample(world, generator)
    candidates = list(TWINS) if world.null else [name for name in decisions if name not in ("random", "logged")]
    start = time.process_time()
    first = by_parts(decisions, evidence, candidates, seed)
    middle = time.process_time()
    second = evaluate(
        decisions,
        KINDS,
        evidence,
        METRICS,
        candidates=candidates,
        resamples=RESAMPLES,
        level=LEVEL,
        generator=generator,
    )
    seconds = middle - start, time.process_time() - middle
    true, covered, width = truth(), [], []
    for board in (first, second):
        for name, values in true.items():
            cells = {label: cell.estimate for label, cell in board[name].metrics.items()} | {"score": board[name].score}
            low, high = (
                np.array([getattr(each, end) for each in cells.values()], dtype=np.float64) for end in ("low", "high")
            )
            value = np.array(list(values.values()))
            covered.append((low - 1e-9 <= value) & (value <= high + 1e-9))
            width.append(high - low)
    shape = 2, len(true), len(METRICS) + 1
    apart = tuple(not all(board[name].among_best for name in TWINS) for board in (first, second))
    return Reading(
        np.array(covered, dtype=np.float64).reshape(shape),
        np.array(width).reshape(shape),
        (apart[0], apart[1]),
        seconds,
    )


def report(world: World, readings: list[Reading]) -> list[str]:
    """Print what the runs of a world show, and return the promises that are broken."""
    covered, width = (np.stack([getattr(each, name) for each in readings]) for name in ("covered", "width"))
    broken = []
    cost = np.array([each.seconds for each in readings]).mean(axis=0)
    print(
        f"\n{world.name}: {len(readings)} runs of {world.rows:,} rows; CPU {cost[0]:.2f} s, in memory {cost[1]:.2f} s"
    )
    print("                 coverage           lowest of a line      width, parts /")
    print("                 parts  in memory   parts  in memory      in memory")
    for m, label in enumerate((*METRICS, "score")):
        share, single = covered[:, :, :, m].mean(axis=(0, 2)), covered[:, :, :, m].mean(axis=0)
        ratio = width[:, 0, :, m].mean(axis=0) / width[:, 1, :, m].mean(axis=0)
        print(
            f"  {label:12}   {share[0]:.3f}  {share[1]:.3f}       {single[0].min():.3f}  {single[1].min():.3f}"
            f"          {ratio.min():.2f} to {ratio.max():.2f}"
        )
        if share[0] < PROMISED:
            broken.append(f"{world.name}: {label} is covered by {share[0]:.3f} of intervals; promised: {PROMISED}")
    if world.null:
        shares = np.array([each.apart for each in readings]).mean(axis=0)
        noise = 2 * np.sqrt(FALSE * (1 - FALSE) / len(readings))
        print(f"  false differences  parts {shares[0]:.3f}, in memory {shares[1]:.3f} (allowed {FALSE} + {noise:.3f})")
        if shares[0] > FALSE + noise:
            broken.append(f"{world.name}: false differences in {shares[0]:.3f} of runs")
    return broken


def main() -> int:
    """Print the table of each world, and return 1 if a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--worlds", nargs="+", choices=[each.name for each in WORLDS])
    asked = parser.parse_args()
    broken = []
    with ProcessPoolExecutor(asked.jobs) as pool:
        for world in WORLDS:
            if not asked.worlds or world.name in asked.worlds:
                broken += report(world, list(pool.map(partial(run, world), range(asked.runs), chunksize=5)))
                sys.stdout.flush()
    print(f"\n{len(broken)} promises broken", *broken, sep="\n  ")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
