"""Voting rules on expected rewards, against pref_voting in the same run.

Work: profiles of 5 voters × 6 alternatives; plurality, Borda, Copeland, minimax, Schulze and instant runoff together,
building the ballots from rewards included (pref_voting: building its `Profile` from sorted rewards). Then every rule
that both have, by itself. Winners must be equal on the profiles that pref_voting counts.

With ``--truth FOLDER`` (PrefLib's elections): how far each rule's ranking is from the true order of the dots and puzzle
data if only ten judges are drawn, in pairs of six.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from accordant import strategies
from accordant.strategies.block_decisions import decide
from accordant.utilities import ExpectedRewards
from accordant.voting import Profile, read_preflib

VOTERS, ALTERNATIVES = 5, 6
OURS, THEIRS, REPEATS = 200_000, 400, 3
AIM = 100
TOGETHER = ("plurality", "borda", "copeland", "minimax", "schulze", "instant_runoff")
ALSO = ("anti_plurality", "coombs", "bucklin", "kemeny", "ranked_pairs", "maximal_lotteries", "random_dictatorship")
SLOW_THERE = {"kemeny": 20, "ranked_pairs": 20}  # profiles for pref_voting: it tries all orders of something
JUDGES, DRAWS = 10, 2_000


def peers() -> dict[str, Callable[..., object]]:
    """Return pref_voting's functions; importing them emits deprecations of others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from pref_voting import (
            c1_methods,
            iterative_methods,
            margin_based_methods,
            other_methods,
            probabilistic_methods,
            scoring_methods,
        )
    return {
        "plurality": scoring_methods.plurality,
        "anti_plurality": scoring_methods.anti_plurality,
        "borda": scoring_methods.borda,
        "copeland": c1_methods.copeland,
        "minimax": margin_based_methods.minimax,
        "schulze": margin_based_methods.beat_path,
        "ranked_pairs": lambda profile: margin_based_methods.ranked_pairs(profile, algorithm="from_stacks"),
        "instant_runoff": iterative_methods.instant_runoff,
        "coombs": iterative_methods.coombs,
        "bucklin": other_methods.bucklin,
        "kemeny": other_methods.kemeny_young,
        "maximal_lotteries": probabilistic_methods.maximal_lottery,
        "random_dictatorship": probabilistic_methods.random_dictator,
    }


def seconds_there(values: np.ndarray, methods: list[Callable[..., object]]) -> tuple[float, list[list[object]]]:
    """Return CPU seconds of pref_voting, once warm, building included, and what each method found per profile."""
    from pref_voting.profiles import Profile as TheirProfile

    for method in methods:  # pref_voting compiles too
        method(TheirProfile([list(range(ALTERNATIVES))]))
    found: list[list[object]] = [[] for _ in methods]
    start = time.process_time()
    for t in range(values.shape[2]):
        profile = TheirProfile(np.argsort(-values[:, :, t], axis=1).tolist())
        for results, method in zip(found, methods, strict=True):
            results.append(method(profile))
    return time.process_time() - start, found


def seconds_here(E: ExpectedRewards, names: tuple[str, ...]) -> float:
    """Return CPU seconds of one thread, ballots included, best of several repeats."""
    rules = [strategies.create(name) for name in names]
    times = []
    for _ in range(REPEATS + 1):  # the first compiles
        start = time.process_time()
        decide(rules, E, threads=1)
        times.append(time.process_time() - start)
    return min(times[1:])


def same(name: str, values: np.ndarray, found: list[object]) -> bool:
    """Return whether the highest scores are the winners, or the probabilities equal, in every profile."""
    scores = strategies.create(name)(rewards(values)).scores
    assert scores is not None
    for t, theirs in enumerate(found):
        column = scores[:, t]
        if isinstance(theirs, dict):
            if not np.allclose(column, [theirs[a] for a in range(ALTERNATIVES)], atol=1e-7):
                return False
        elif np.flatnonzero(column == column.max()).tolist() != theirs:
            return False
    return True


def rewards(values: np.ndarray) -> ExpectedRewards:
    """Return E with numbered names."""
    names = [[f"{letter}{k}" for k in range(size)] for letter, size in zip("va", values.shape[:2], strict=True)]
    return ExpectedRewards(values, stakeholders=names[0], actions=names[1])


def main() -> None:
    """Print profiles per second here and there, and their ratio."""
    values = np.random.default_rng(0).random((VOTERS, ALTERNATIVES, OURS))
    E, there = rewards(values), peers()
    print(f"{VOTERS} voters × {ALTERNATIVES} alternatives, ballots built from rewards, one thread, CPU time")
    print(f"{'':22}{'accordant':>12}{'pref_voting':>13}{'ratio':>9}  equal winners")
    seconds, found = seconds_there(values[:, :, :THEIRS], [there[name] for name in TOGETHER])
    here, peer = OURS / seconds_here(E, TOGETHER), THEIRS / seconds
    equal = all(same(name, values[:, :, :THEIRS], each) for name, each in zip(TOGETHER, found, strict=True))
    print(f"{'six rules together':22}{here:12,.0f}{peer:13,.0f}{here / peer:8.0f}×  {equal}, aim {AIM}×")
    print("profiles per second; the six: " + ", ".join(TOGETHER))
    for name in (*TOGETHER, *ALSO):
        n = SLOW_THERE.get(name, THEIRS)
        seconds, found = seconds_there(values[:, :, :n], [there[name]])
        here, peer = OURS / seconds_here(E, (name,)), n / seconds
        print(f"{name:22}{here:12,.0f}{peer:13,.0f}{here / peer:8.0f}×  {same(name, values[:, :, :n], found[0])}")
    print("no peer of the same rule on rewards:")
    for name in ("approval", "range", "majority_judgment"):
        print(f"{name:22}{OURS / seconds_here(E, (name,)):12,.0f}")


def truth(folder: Path) -> None:
    """Print the mean Kendall distance of each rule's ranking to the true order; a tied pair counts half."""
    generator = np.random.default_rng(0)
    names = ("plurality", "anti_plurality", "borda", "copeland", "minimax", "ranked_pairs", "schulze", "kemeny",
             "instant_runoff", "coombs", "bucklin", "maximal_lotteries")  # fmt: skip
    print(f"pairs out of 6 in the wrong order, {JUDGES} judges drawn {DRAWS} times from each file\n")
    print("| rule | dots | puzzle |\n|---|---|---|")
    distances = {}
    for data in ("00024_dots", "00025_puzzle"):
        profiles = [read_preflib(path) for path in sorted((folder / data).glob("*.soc"))]
        drawn = []
        for profile in profiles:
            judges = np.repeat(np.arange(len(profile.ranks)), profile.weights.astype(int))
            drawn.append(profile.ranks[generator.choice(judges, size=(JUDGES, DRAWS))][..., 0].transpose(0, 2, 1))
        sample = Profile(np.concatenate(drawn, axis=2))
        for name in names:
            distances[name, data] = kendall_distance(strategies.create(name).count(sample).scores)
    for name in names:
        print(f"| `{name}` | {distances[name, '00024_dots']:.2f} | {distances[name, '00025_puzzle']:.2f} |")


def kendall_distance(scores: np.ndarray) -> float:
    """Return how many pairs on average are not in declared order, which is the true one."""
    wrong = np.zeros(scores.shape[1])
    for a in range(len(scores)):
        for b in range(a + 1, len(scores)):
            wrong += (scores[a] < scores[b]) + 0.5 * (scores[a] == scores[b])
    return float(wrong.mean())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--truth", type=Path, help="folder with 00024_dots and 00025_puzzle")
    given = parser.parse_args()
    truth(given.truth) if given.truth else main()
