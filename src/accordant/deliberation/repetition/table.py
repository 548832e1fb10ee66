"""Many scenarios, one table: never one transcript."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from accordant import strategies
from accordant.agents import Agent
from accordant.allocations import Scenario
from accordant.allocations.measures.measure import Criterion
from accordant.compute import chosen
from accordant.compute.fan_out import run_all
from accordant.deliberation.assessment.process import Group
from accordant.deliberation.protocols.session import Guard
from accordant.deliberation.repetition.trial import Study, Trial, run_trial
from accordant.deliberation.settlement import Settlement, settlements
from accordant.errors import InputError
from accordant.randomness import generator, keyed_seed
from accordant.statistics import Estimate, best_set, mean_estimate, resample_counts, share_estimate, widened
from accordant.strategies import Strategy

BESIDE = ("utilitarian", "maximin", "nash_bargaining", "kalai_smorodinsky", "debate")  # on lists of any length
RESAMPLES = 1_000  # of scenarios, for comparing lines
FEWEST = 2  # repetitions from which on lines are compared
PARTS = 16  # pieces of work: enough to share evenly, few enough that each is worth handing out


@dataclass(frozen=True)
class Line:
    """One way to decide, over all repetitions.

    Attributes
    ----------
    all_met
        Share of repetitions in which all criteria are met; one that is not defined is not met.
    met
        Criterion to the share in which it is met, of those in which it is defined.
    values
        Criterion to the mean of its measure, of those in which it is defined.
    access
        Mean access of the watched group; None without one.
    among_best
        Whether it is in the set of lines that holds the one that meets all criteria most often, with the probability
        0.95, all of them compared together; None with fewer than 2 repetitions.
    """

    all_met: Estimate
    met: Mapping[str, Estimate]
    values: Mapping[str, Estimate]
    access: Estimate | None
    among_best: bool | None


@dataclass(frozen=True)
class Repeated:
    """A debate repeated over scenarios.

    Attributes
    ----------
    n, seed, settle, settle_parameters, agents, adversarial, criteria
        What was repeated; the settlement rule by its name and its parameters.
    lines
        ``solo NAME``, ``revised NAME``, ``joint``, ``disagreement`` and ``strategy LABEL`` to their results.
    strict, novel_set
        Share of repetitions with emergence, see `Emergence`.
    gain, loss
        Share in which the joint decision meets more, or fewer, criteria than the better agent alone.
    difference
        Mean of criteria met by the joint decision minus those met by the better agent alone.
    random
        Null 1: agent to the mean probability that a random allocation at its concession level meets all criteria; `n`
        counts scenarios.
    search
        Null 2: agent to the share in which it finds, at its concession level, an allocation that meets all criteria.
    possible
        Share in which any alternative at all meets all criteria.
    restored
        Mean access restored to the watched group; None without a biased agent or a group.
    conversion, approach
        Other agent to the means of how far the biased one went, and how much nearer it came; empty without one.
    agreed, tied
        Share of repetitions with an agreement, and with a tie.
    agrees
        Strategy to the share in which it chooses the joint decision.
    fallbacks, turns
        Over all repetitions: how many moves a rule made in place of a language model that gave no valid one, and how
        many moves were asked for. Figures of language models mean nothing without this share.
    hashes
        Of the deliberations, in order.
    fallback_rate
        `fallbacks` over `turns`; None without moves.

    Raises
    ------
    InputError
        If a null hypothesis is missing.
    """

    n: int
    seed: int
    settle: str
    settle_parameters: Mapping[str, Any]
    agents: tuple[str, ...]
    adversarial: tuple[str, ...]
    criteria: tuple[str, ...]
    lines: Mapping[str, Line]
    strict: Estimate
    novel_set: Estimate
    gain: Estimate
    loss: Estimate
    difference: Estimate
    random: Mapping[str, Estimate]
    search: Mapping[str, Estimate]
    possible: Estimate
    restored: Estimate | None
    conversion: Mapping[str, Estimate]
    approach: Mapping[str, Estimate]
    agreed: Estimate
    tied: Estimate
    agrees: Mapping[str, Estimate]
    fallbacks: int
    turns: int
    hashes: tuple[str, ...]
    fallback_rate: float | None

    def __post_init__(self) -> None:
        for nulls in (self.random, self.search):
            if not nulls or set(nulls) != set(self.agents):
                raise InputError(f"{len(nulls)} null hypotheses for {len(self.agents)} agents; allowed: one for each")


def repeat(
    make_scenario: Callable[[int], Scenario],
    agents: Sequence[Agent],
    n: int,
    *,
    criteria: Sequence[Criterion],
    settle: str | Settlement = "bargain",
    group: Group | None = None,
    biased: str | None = None,
    rules: Sequence[Strategy | str] = BESIDE,
    guard: Guard = "log",
    allow_adversarial: bool = False,
    seed: int = 0,
    jobs: int = 1,
) -> Repeated:
    """Debate on n random scenarios and return shares and means with intervals; null hypotheses are always among them.

    Parameters
    ----------
    make_scenario
        From a seed to a scenario.
    agents
        Who debates, the same in every repetition.
    n
        How many scenarios, at least 1.
    criteria
        At least one, declared beforehand.
    settle
        A settlement rule or its registered name.
    group
        Claimants whose access is watched.
    biased
        Name of the agent whose effect is to be undone; None for the only adversarial one, if there is exactly one.
    rules
        Strategies for comparison.
    guard, allow_adversarial
        See `debate`.
    seed
        Of everything.
    jobs
        Processes, see `run_all`; results are the same for any number.

    Raises
    ------
    InputError
        If n is below 1, there is no criterion, or an adversarial agent was not allowed.
    """
    if n < 1 or not criteria:
        raise InputError(f"{n} repetitions and {len(criteria)} criteria are given; allowed: at least 1 of each")
    adversarial = tuple(agent.name for agent in agents if agent.adversarial)
    if biased is None and len(adversarial) == 1:
        biased = adversarial[0]
    made = tuple(strategies.create(strategy) if isinstance(strategy, str) else strategy for strategy in rules)
    rule = settlements.create(settle) if isinstance(settle, str) else settle
    study = Study(
        make_scenario, tuple(agents), tuple(criteria), rule, group, biased, made, guard, allow_adversarial, seed
    )
    return summarise(study, _trials(study, n, jobs), adversarial)


def _trials(study: Study, n: int, jobs: int) -> list[Trial]:
    """Return the trials in order."""
    if jobs == 1 and chosen() is None:  # one after the other: models that are asked are recorded in this order
        return [run_trial(study, number) for number in range(n)]
    parts = [range(start, n, PARTS) for start in range(min(n, PARTS))]
    batches = run_all([partial(_some, study, part) for part in parts], jobs, "debating")
    trials = {
        number: trial
        for part, done in zip(parts, batches, strict=True)
        for number, trial in zip(part, done, strict=True)
    }
    return [trials[number] for number in range(n)]


def _some(study: Study, numbers: Iterable[int]) -> list[Trial]:
    return [run_trial(study, number) for number in numbers]


def summarise(study: Study, trials: Sequence[Trial], adversarial: tuple[str, ...]) -> Repeated:
    """Return shares and means of trials with intervals."""
    first, emergences = trials[0], [trial.emergence for trial in trials]

    def mean(name: str, seen: Iterable[float | None], within: tuple[float, float] | None = None) -> Estimate:
        """Return a mean whose interval depends on the seed and its name."""
        return mean_estimate(list(seen), _resampling(study.seed, name), within=within)

    labels = tuple(criterion.label for criterion in study.criteria)
    fallbacks, turns = sum(trial.fallbacks for trial in trials), sum(trial.turns for trial in trials)
    return Repeated(
        n=len(trials), seed=study.seed, settle=study.settle.name, settle_parameters=study.settle.parameters,
        agents=tuple(agent.name for agent in study.agents),
        adversarial=adversarial, criteria=labels,
        lines={label: _line(study, trials, label, among) for label, among in _among_best(study, trials).items()},
        strict=share_estimate([emergence.strict for emergence in emergences]),
        novel_set=share_estimate([emergence.novel_set for emergence in emergences]),
        gain=share_estimate([emergence.gain > 0 for emergence in emergences]),
        loss=share_estimate([emergence.loss > 0 for emergence in emergences]),
        difference=mean("difference", (emergence.difference for emergence in emergences), (-len(labels), len(labels))),
        random={
            null.agent: mean(
                f"random {null.agent}", (emergence.random[place].all_met for emergence in emergences), (0, 1)
            )
            for place, null in enumerate(emergences[0].random)
        },
        search={
            null.agent: share_estimate([emergence.search[place].all_met for emergence in emergences])
            for place, null in enumerate(emergences[0].search)
        },
        possible=share_estimate([emergence.possible for emergence in emergences]),
        restored=None if study.biased is None or study.group is None
        else mean("restored", (trial.restored for trial in trials), (-1, 1)),
        conversion={
            name: mean(f"conversion {name}", (trial.conversion[name] for trial in trials)) for name in first.conversion
        },
        approach={
            name: mean(f"approach {name}", (trial.approach[name] for trial in trials)) for name in first.approach
        },
        agreed=share_estimate([trial.agreed for trial in trials]),
        tied=share_estimate([trial.tied for trial in trials]),
        agrees={label: share_estimate([trial.agrees[label] for trial in trials]) for label in first.agrees},
        fallbacks=fallbacks, turns=turns, hashes=tuple(trial.hash for trial in trials),
        fallback_rate=fallbacks / turns if turns else None,
    )  # fmt: skip


def _resampling(seed: int, name: str) -> np.random.Generator:
    """Return the source of resamples of one quantity, which depends on the seed and its name only."""
    return generator(keyed_seed(seed, name), "resamples")


def _among_best(study: Study, trials: Sequence[Trial]) -> dict[str, bool | None]:
    """Return for each line whether it may meet all criteria most often, all lines compared on the same scenarios."""
    labels, n = list(trials[0].rows), len(trials)
    if n < FEWEST:
        return dict.fromkeys(labels)
    met = np.array([[all(trial.rows[label].met) for label in labels] for trial in trials], dtype=np.float64)
    drawn = resample_counts(n, RESAMPLES, _resampling(study.seed, "lines")) @ met / n
    best = best_set(met.mean(axis=0), widened(drawn, n), error=1 / n)
    return dict(zip(labels, best.member.tolist(), strict=True))


def _line(study: Study, trials: Sequence[Trial], label: str, among_best: bool | None) -> Line:
    rows = [trial.rows[label] for trial in trials]
    names = [criterion.label for criterion in study.criteria]
    return Line(
        all_met=share_estimate([all(row.met) for row in rows]),
        met={name: share_estimate([row.met[place] for row in rows]) for place, name in enumerate(names)},
        values={
            name: mean_estimate([row.values[place] for row in rows], _resampling(study.seed, f"{label} {name}"))
            for place, name in enumerate(names)
        },
        access=None
        if study.group is None
        else mean_estimate([row.access for row in rows], _resampling(study.seed, f"{label} access"), within=(0, 1)),
        among_best=among_best,
    )
