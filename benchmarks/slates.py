"""Slates per second of every rule, at several numbers of users, beside plain loops and abcvoting in the same run.

    python -m benchmarks.slates [--users 100000] [--items 1000] [--places 10] [--seconds 60] [--only seq_pav seq_cc]

Work: 5 stakeholders, of whom the first is the user, expected rewards drawn evenly from [0, 1], five categories of
items, no state, parameters as they are by default or as `GIVEN` says. E comes in parts of 1,000 users, which are drawn
once, given to every rule and forgotten, so that memory does not grow with the number of users.

First table: wall time of all cores that the process may use, without the time of drawing, and CPU time of one slate,
which other work on the machine disturbs less. A rule that has used its seconds up is left out from then on, and what
all users would take is extrapolated aloud.

Second table: CPU time of one thread for the same users. Lists are the same where the loops and abcvoting find the same
set of items. Ties of abcvoting go to the first item, so items are sorted for it by what breaks ties here. Its greedy
Monroe counts whole voters, and its lists are compared with those of ``greedy_monroe[whole=True]``.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from accordant.errors import AccordantError
from accordant.slates.candidates import Candidates
from accordant.slates.rule import SlateRule, rules
from accordant.slates.rules.approval import approvals
from accordant.threads import free_cores
from accordant.utilities import ExpectedRewards
from benchmarks.slate_peers import LOOPS, committees_there

STAKEHOLDERS, CATEGORIES = 5, 5
PART = 1_000  # users that are drawn together: 40 MB of E
PROBE = 20  # users that tell how many fit into the seconds of a rule
COMPARED, REPEATS, PEER_SECONDS = 200, 3, 4.0
GIVEN: dict[str, dict[str, object]] = {  # parameters without a default
    "per_item": {"strategy": "maximin"}, "stakeholder_slate": {"stakeholder": "s0"},
    "floored": {"rule": "utilitarian_slate", "floors": 0.5},
}  # fmt: skip
AS_THERE = {"greedy_monroe": {"whole": True}}


@dataclass
class Timing:
    """What one rule has done so far."""

    rule: SlateRule
    allowed: int = 0
    users: int = 0
    seconds: float = 0.0
    rates: dict[int, float] = field(default_factory=dict)
    costs: list[float] = field(default_factory=list)  # CPU seconds of a slate, part by part

    def serve(self, part: Candidates, k: int, checkpoints: list[int]) -> None:
        """Fill the slates of a part, or of as many of its users as are still allowed."""
        size = min(part.n_users, self.allowed - self.users)
        if size <= 0:
            return
        some = part if size == part.n_users else part.take(slice(0, size))
        start, cpu = time.perf_counter(), time.process_time()
        self.rule(some, k)
        self.seconds += time.perf_counter() - start
        self.costs.append((time.process_time() - cpu) / size)
        self.users += size
        if self.users in checkpoints:
            self.rates[self.users] = self.users / self.seconds


def parts(n_users: int, n_items: int) -> Iterator[Candidates]:
    """Yield candidates part by part; only one part is in memory."""
    names = [f"s{i}" for i in range(STAKEHOLDERS)], [f"c{c}" for c in range(n_items)]
    for start in range(0, n_users, PART):
        generator = np.random.default_rng([17, start])
        values = generator.random((STAKEHOLDERS, n_items, min(PART, n_users - start)))
        expected = ExpectedRewards(values, stakeholders=names[0], actions=names[1])
        yield Candidates(expected, categories=np.arange(n_items) % CATEGORIES)


def timings(probe: Candidates, k: int, seconds: float, n_users: int, names: list[str]) -> list[Timing]:
    """Return the rules that run, compiled, with how many users they may serve; say which do not run, and why."""
    found = []
    for name in names:
        try:
            rule = rules.create(name, GIVEN.get(name))
            rule(probe.take(slice(0, 2)), k)
            start = time.perf_counter()
            rule(probe, k)
        except AccordantError as error:
            print(f"{name}: not run: {error}")
            continue
        rate = probe.n_users / (time.perf_counter() - start)
        slow = rate * seconds < PART  # a part would take too long
        found.append(Timing(rule, min(n_users, max(PROBE, int(rate * seconds))) if slow else n_users))
    return found


def table(n_users: int, n_items: int, k: int, seconds: float, names: list[str]) -> None:
    """Print slates per second of every rule."""
    checkpoints = sorted({n for n in (1_000, 10_000, n_users) if n <= n_users})
    probe = next(parts(PROBE, n_items))
    rows = timings(probe, k, seconds, n_users, names)
    before = 0.0
    for number, part in enumerate(parts(n_users, n_items)):
        for row in rows:
            if row.seconds < seconds:
                row.serve(part, k, checkpoints)
        before = peak() if number < 2 else before  # two parts overlap while the second is drawn
        if all(row.users >= row.allowed or row.seconds >= seconds for row in rows):
            break
    print(
        f"slates per second after so many users, {free_cores()} cores, wall time; CPU µs of a slate: first, last part"
    )
    print(f"{'rule':46}{'kind':12}" + "".join(f"{n:>10,}" for n in checkpoints) + f"{'first':>10}{'last':>10}")
    for row in rows:
        reached = "".join(f"{row.rates[n]:10,.0f}" if n in row.rates else f"{'-':>10}" for n in checkpoints)
        rate = row.users / row.seconds
        rest = f"  {row.users:,} users at {rate:,.0f}/s; extrapolated, {n_users:,} take {n_users / rate:,.0f} s"
        costs = f"{1e6 * row.costs[0]:10,.0f}{1e6 * row.costs[-1]:10,.0f}"
        print(f"{row.rule.label:46}{row.rule.kind:12}{reached}{costs}{rest if row.users < n_users else ''}")
    early = min(n_users, 2 * PART)
    print(f"peak memory of the process: {before:,.0f} MB after {early:,} users, {peak():,.0f} MB at the end")


def peak() -> float:
    """Return the highest resident memory so far in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def beside_peers(n_items: int, k: int, names: list[str]) -> None:
    """Print slates per CPU second of one thread here, in plain loops, and in abcvoting."""
    world = next(parts(COMPARED, n_items))
    there = committees_there()
    print(f"\nslates per CPU second of one thread, {COMPARED} users; in brackets: lists that are the same as here")
    print(f"{'rule':16}{'accordant':>10}{'NumPy loop':>18}{'ratio':>8}{'abcvoting':>18}{'ratio':>8}")
    for name in (each for each in LOOPS if each in names and each in rules):
        here, ours = measured(rules.create(name), world, k)
        loop, same_loop = looped(name, world, k, ours)
        line = f"{name:16}{here:10,.0f}{loop:10,.0f} ({same_loop:5.0%}){here / loop:7.1f}×"
        if there is None:
            print(f"{line}     not installed")
            continue
        _, ours = measured(rules.create(name, AS_THERE.get(name)), world, k)
        rate, same = counted(there[name], world, k, ours)
        print(f"{line}{rate:10,.1f} ({same:5.0%}){here / rate:7,.0f}×")


def measured(rule: SlateRule, world: Candidates, k: int) -> tuple[float, list[set[int]]]:
    """Return slates per CPU second, best of several repeats, and what is in them."""
    seconds = []
    for _ in range(REPEATS + 1):  # the first compiles
        start = time.process_time()
        slates = rule(world, k, threads=1)
        seconds.append(time.process_time() - start)
    return world.n_users / min(seconds[1:]), [set(row[row >= 0].tolist()) for row in slates.items]


def looped(name: str, world: Candidates, k: int, ours: list[set[int]]) -> tuple[float, float]:
    """Return users per CPU second of the loop, approvals and sums included, and how many lists are the same."""
    same, start = 0, time.process_time()
    for user, expected in enumerate(ours):
        values = world.values[:, :, user]
        approved = values >= values.mean(axis=1, keepdims=True)
        same += set(LOOPS[name](approved, values.sum(axis=0), k)) == expected
    return len(ours) / (time.process_time() - start), same / len(ours)


def counted(
    compute: Callable[[np.ndarray, int], set[int]], world: Candidates, k: int, ours: list[set[int]]
) -> tuple[float, float]:
    """Return committees per CPU second of abcvoting within a few seconds, and how many are the same."""
    approved, same, seconds = approvals(world), 0, 0.0
    for user, expected in enumerate(ours):
        order = np.argsort(-world.totals[:, user], kind="stable")
        ballots = approved[:, order, user]
        start = time.process_time()
        found = compute(ballots, k)
        seconds += time.process_time() - start
        same += set(order[list(found)].tolist()) == expected
        if seconds > PEER_SECONDS:
            break
    return (user + 1) / seconds, same / (user + 1)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--items", type=int, default=1_000)
    parser.add_argument("--places", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=60.0, help="for each rule")
    parser.add_argument("--only", nargs="+", metavar="RULE", help="names of rules; all by default")
    given = parser.parse_args()
    names = given.only or list(rules.names())
    print(f"{given.users:,} users × {given.items:,} candidates × {STAKEHOLDERS} stakeholders, k = {given.places}")
    table(given.users, given.items, given.places, given.seconds, names)
    beside_peers(given.items, given.places, names)


if __name__ == "__main__":
    main()
