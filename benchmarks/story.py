"""The cases story and story-null over many seeds, with new homes and new answers each, judged by the truth.

    python -m benchmarks.story [SEEDS]

For each seed: who is left behind by the utilitarian rule, what the selected strategy gives them and takes from the
others on the untouched rows in truth, whether the intervals of what is said hold what is true, and whether the report
claims a gain. A gain is claimed if somebody is shown to gain against the utilitarian rule, or if the same action for
everybody is shown not to be the best.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from accordant import randomness
from accordant.arrays import Codes, Values
from accordant.cases.files import read_case
from accordant.cases.loaders import CaseData, simulate
from accordant.cases.story.homes import drawn_homes, simulate_homes, true_chances
from accordant.cases.story.residents import ALIKE, KINDS, answers
from accordant.cases.story.truth import true_expected
from accordant.contexts import Contexts
from accordant.evaluation.leaderboard import Leaderboard
from accordant.evaluation.stakeholder_gains import StakeholderGains, stakeholder_gains
from accordant.policy import ParticipatoryPolicy
from accordant.report.summary import VERDICT
from accordant.runs.execution import RunOptions, build_policy, split
from accordant.runs.reward_sources import located_signals
from accordant.runs.stakeholder_groups import with_groups

SEEDS, RESAMPLES, NEW_HOMES = 50, 200, 20_000
SUM = "utilitarian"


@dataclass(frozen=True)
class Town:
    """What was said of one town, and what is true.

    Attributes
    ----------
    seed, types, selected
        Seed, number of types found, and D*.
    left_behind
        Who has the lowest true mean reward under the utilitarian rule.
    true_gains
        Stakeholder to what D* gives it in truth beyond the utilitarian rule, on the untouched rows.
    claimed
        Whether the report claims a gain.
    covered
        Whether all intervals of gains hold the truth of the learned rewards; None if there are none.
    """

    seed: int
    types: int
    selected: str
    left_behind: str
    true_gains: dict[str, float]
    claimed: bool
    covered: bool | None


def town(name: str, seed: int, resamples: int = RESAMPLES) -> Town:
    """Return what is said and what is true of a town with homes and answers of one seed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answers.csv"
        answers(seed, alike=name == "story-null").to_csv(file, index=False)
        options = RunOptions(seed=seed, resamples=resamples, preferences={"Resident": str(file)})
        declared, _ = read_case(name)
        declared = declared.replace(evaluation=declared.evaluation.replace(resamples=resamples))
        groups = with_groups(declared, None, None, options.preferences)
        case = groups.case
        signals = located_signals(case, None, None, groups.preferences)
        data = simulate(case, seed, None, {})
        train, test = split(data, case.evaluation.test_size, seed)
        policy = build_policy(case, options).fit_log(train.log, signals)
    evidence = policy.evidence_on(test.log)
    board, decisions = policy.leaderboard_on(evidence), policy.decide_on(evidence)
    gains = None
    if policy.selected_ != SUM:
        generator = randomness.generator(seed, "resamples")
        gains = stakeholder_gains(decisions, policy.selected_, SUM, evidence, generator=generator, resamples=resamples)
    residents = [each for each in case.problem.stakeholder_names if each != "Household"]
    kinds = dict(zip(residents, KINDS if len(residents) == len(KINDS) else [ALIKE] * len(residents), strict=False))
    homes = _rows(simulate_homes(len(data.log), randomness.generator(seed, "simulation")), test)
    true = true_expected(homes, kinds, declared.rewards["Household"]["table"])
    rows = np.arange(len(homes))
    sums, chosen = (true[:, decisions[each].codes, rows].mean(axis=1) for each in (SUM, policy.selected_))
    names = ["Household", *kinds]
    return Town(
        seed, len(residents), policy.selected_, names[int(sums.argmin())],
        dict(zip(names, (chosen - sums).tolist(), strict=True)), claims_gain(board, gains),
        None if gains is None else _covered(gains, policy, np.random.default_rng(seed + 10_000)),
    )  # fmt: skip


def claims_gain(board: Leaderboard, gains: StakeholderGains | None) -> bool:
    """Return whether somebody is shown to gain, or the same action for everybody is shown not to be the best."""
    constant = next(row for row in board if row.strategy == board.best_constant)
    beaten = constant.among_best is False and not any(VERDICT in remark for remark in board.remarks)
    return beaten or (gains is not None and bool(gains.gainers))


def _rows(homes: pd.DataFrame, test: CaseData) -> pd.DataFrame:
    """Return the homes that stand in the test rows, found by their numbers."""
    columns = ["Heat_demand", "Rent_burden", "Condition"]
    place = {tuple(row): index for index, row in enumerate(homes[columns].itertuples(index=False, name=None))}
    keys = zip(*(test.log.contexts.numeric(column) for column in columns), strict=True)
    return homes.iloc[[place[tuple(key)] for key in keys]]


def _covered(gains: StakeholderGains, policy: ParticipatoryPolicy, generator: np.random.Generator) -> bool | None:
    """Return whether all intervals hold what is true of the learned rewards, on many new homes."""
    if any(each.low is None for each in gains.gains.values()):
        return None
    homes = drawn_homes(NEW_HOMES, generator)
    contexts = Contexts({column: homes[column].to_numpy() for column in homes})
    f, problem = true_chances(homes), policy.problem
    decided = _decided(policy, contexts)
    index = np.arange(len(homes))
    for name, each in gains.gains.items():
        rewards = np.stack(
            [[policy.signals_[name](contexts, a, o) for o in problem.outcome_names] for a in problem.actions]
        )
        expected: Values = (rewards * f).sum(axis=1)
        difference = (expected[decided[gains.strategy], index] - expected[decided[gains.other], index]).mean()
        assert each.low is not None
        assert each.high is not None
        if not each.low <= difference <= each.high:
            return False
    return True


def _decided(policy: ParticipatoryPolicy, contexts: Contexts) -> dict[str, Codes]:
    """Return the codes of what both strategies decide for new homes."""
    expected = policy.expected_rewards(contexts)
    return {label: policy.strategies_[label](expected, contexts=contexts).codes for label in (policy.selected_, SUM)}


def main(seeds: int = SEEDS) -> None:
    """Print one line per town, and how often what is claimed is true."""
    for name in ("story", "story-null"):
        towns = []
        for seed in range(seeds):
            found = town(name, seed)
            towns.append(found)
            moved = ", ".join(f"{who} {gain:+.3f}" for who, gain in found.true_gains.items())
            print(
                f"{name} {seed}: {found.types} types, {found.selected}; left behind {found.left_behind}; true gains "
                f"{moved}; claimed {found.claimed}; covered {found.covered}",
                flush=True,
            )
        helped = sum(each.true_gains[each.left_behind] > 0 for each in towns)
        covered = [each.covered for each in towns if each.covered is not None]
        print(
            f"{name}: the left-behind gain in {helped} of {seeds}; a gain is claimed in "
            f"{sum(each.claimed for each in towns)} of {seeds}; all intervals hold the truth in {sum(covered)} of "
            f"{len(covered)}; {sum(each.types == 2 for each in towns)} of {seeds} with two types",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS)
