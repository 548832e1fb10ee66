"""What debates of two rule agents did on random triage scenarios, beside the directions noted before.

    python -m benchmarks.deliberation_directions --scenarios 200 --seed 0

Work: 12 patients, 5 beds, two groups of 6; linear concession; both null hypotheses. Criteria, declared beforehand:
access gap at most .25, equal-opportunity gap among the most severe at most .34, need capture at least .6, benefit ratio
at least .75. Each pairing has two lines: `noted` is a run by other code, on other draws, in which an empty urgent cell
counted as a gap of 0; `here` is this package, in which it is not defined and so not met. Compare directions, not
decimals. Gain and loss are shares of scenarios; null hypotheses keep the concession level of the first agent.
At the end, null 1 by random walks is compared with null 1 by listing, on scenarios of 319,770 allocations.
No peer: no published code runs this protocol.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

from accordant.agents import Agent, create
from accordant.allocations.measures.measure import Criterion, measures
from accordant.deliberation.assessment import Group, alternatives, emergence
from accordant.deliberation.cases.triage.scenarios import random_scenario
from accordant.deliberation.protocols.debate import debate
from accordant.deliberation.repetition import Repeated, repeat
from accordant.statistics import Estimate

MARGINAL = Group("group", "marginal")
MEMBERS = 6  # patients in the marginal group
CRITERIA = (
    Criterion("access gap", measures.create("access_gap", {"group": "group"}), 0.25),
    Criterion(
        "opportunity gap", measures.create("equal_opportunity_gap", {"group": "group", "urgent": "severity"}), 0.34
    ),
    Criterion("need", measures.create("need_capture"), 0.6),
    Criterion("benefit", measures.create("benefit_ratio"), 0.75),
)
STRONG, WEAK = ("biased", 1.0), ("biased", 0.3)
Speaker = str | tuple[str, float]


@dataclass(frozen=True)
class Pairing:
    """Two agents, a rule, and what was noted: as printed, and null 1 of the first agent and null 2."""

    first: str
    second: Speaker
    settle: str
    noted: str
    nulls: str = "    -    -"

    @property
    def name(self) -> str:
        second = self.second if isinstance(self.second, str) else f"biased {self.second[1]:g}"
        return f"{self.first} - {second}, {self.settle}"


PAIRINGS = (
    Pairing("rawlsian", STRONG, "bargain", " .34  .00  .00 | .000 | .015 .905 | 2.52 0.00 0.90", "  .20  .79"),
    Pairing("rawlsian", WEAK, "bargain", " .34  .00  .06 | .020 | .055 .775 | 2.52 0.00 1.08", "  .21  .73"),
    Pairing("utilitarian", WEAK, "bargain", " .15  .00  .07 | .060 | .140 .555 | 2.48 0.00 1.00"),
    Pairing("rawlsian", "baseline", "bargain", " .26  .04  .14 | .075 | .110 .495 | 2.40 2.50 2.45", "  .19  .76"),
    Pairing("utilitarian", "rawlsian", "bargain", " .15  .34  .52 | .275 | .315 .195 | 2.48 2.52 2.48", "  .19  .69"),
    Pairing("utilitarian", "procedural", "bargain", " .15  .05  .20 | .120 | .215 .385 | 2.48 2.47 2.46"),
    Pairing("rawlsian", STRONG, "mediated", " .34  .00  .06 | .035 | .135 .590 | 2.52 0.00 1.14", "  .20  .81"),
    Pairing("rawlsian", WEAK, "mediated", " .34  .00  .32 | .125 | .240 .335 | 2.52 0.00 1.44"),
    Pairing("utilitarian", WEAK, "mediated", " .15  .00  .34 | .250 | .400 .280 | 2.48 0.00 1.35"),
    Pairing("rawlsian", "baseline", "mediated", " .26  .04  .59 | .345 | .425 .040 | 2.40 2.50 2.47"),
    Pairing("utilitarian", "rawlsian", "mediated", " .15  .34  .88 | .525 | .560 .015 | 2.48 2.52 2.50", "  .23  .89"),
    Pairing("utilitarian", "procedural", "mediated", " .15  .05  .56 | .385 | .515 .030 | 2.48 2.47 2.50"),
)
TOUGHNESS = (("boulware", "conceder", "2.45"), ("linear", "linear", "   -"), ("conceder", "boulware", "0.00"))
WALKED = (("rawlsian", "utilitarian"), ("care", "libertarian"))
WALKED_SCENARIOS, WALKED_PATIENTS, WALKED_BEDS, WALKED_LIMIT = 4, 22, 8, 400_000
HEAD = "all criteria met |strict|  gain loss | marginal beds  | random search"  # the nulls at the level of A


def speaker(who: Speaker, concession: str = "linear") -> Agent:
    """Return an agent by name, or the biased fixture by strength."""
    parameters: dict[str, Any] = {"concession": concession}
    if isinstance(who, str):
        return create(who, parameters)
    parameters |= {"favoured_fact": "group", "favoured_value": "favoured", "strength": who[1]}
    return create("biased", parameters, allow_adversarial=True)


def run(first: Agent, second: Agent, settle: str, options: argparse.Namespace) -> Repeated:
    """Repeat one pairing."""
    return repeat(
        random_scenario, (first, second), options.scenarios, criteria=CRITERIA, settle=settle, group=MARGINAL,
        allow_adversarial=True, seed=options.seed, jobs=options.jobs,
    )  # fmt: skip


def value(estimate: Estimate | None, digits: int = 2) -> str:
    """Return an estimate without its leading zero."""
    if estimate is None or estimate.value is None:
        return "-"
    return f"{estimate.value:.{digits}f}".removeprefix("0")


def beds(found: Repeated, label: str) -> str:
    """Return the mean number of beds that the marginal group gets."""
    access = found.lines[label].access
    return "-" if access is None or access.value is None else f"{MEMBERS * access.value:.2f}"


def here(found: Repeated) -> str:
    """Return one row of results, in the order of the noted ones."""
    labels = *(f"solo {name}" for name in found.agents), "joint"
    met = " ".join(f"{value(found.lines[label].all_met):>4}" for label in labels)
    given = " ".join(beds(found, label) for label in labels)
    return (
        f"{met} | {value(found.strict, 3)} | {value(found.gain, 3)} {value(found.loss, 3)} | {given} "
        f"| {value(found.random[found.agents[0]]):>5} {value(found.search[found.agents[0]]):>4}"
    )


def second_line(found: Repeated) -> str:
    """Return intervals, and what other ways to decide would have met."""
    joint, strict = found.lines["joint"].all_met, found.strict
    others = ", ".join(
        f"{label.removeprefix('strategy ')} {value(line.all_met)}" for label, line in found.lines.items()
        if label == "disagreement" or label.startswith("strategy ")
    )  # fmt: skip
    text = f"possible {value(found.possible)}; "
    text += f"joint [{joint.low:.2f}, {joint.high:.2f}], strict [{strict.low:.2f}, {strict.high:.2f}]; "
    if found.restored is not None and found.restored.value is not None:
        went, nearer = next(iter(found.conversion.values())), next(iter(found.approach.values()))
        text += f"access restored {found.restored.value:+.2f}, conversion {value(went)}, approach {value(nearer)}; "
    return text + f"all met by others: {others}"


def walks(seed: int) -> str:
    """Return how far null hypotheses by walks and by search are from those by listing."""
    chance, mean, found, compared = 0.0, 0.0, 0, 0
    for pair in WALKED:
        for number in range(WALKED_SCENARIOS):
            scenario = random_scenario(seed + number, patients=WALKED_PATIENTS, beds=WALKED_BEDS)
            held = debate(scenario, [create(name) for name in pair], seed=seed + number)
            drawn, exact = (
                emergence(held, CRITERIA, among=among)
                for among in (alternatives(held), alternatives(held, limit=WALKED_LIMIT))
            )
            for one, other in zip(drawn.random, exact.random, strict=True):
                assert other.exact
                assert not one.exact
                chance = max(chance, abs(one.all_met - other.all_met))
                mean = max(mean, abs(one.mean_met - other.mean_met))
                compared += 1
            found += sum(a.most_met == b.most_met for a, b in zip(drawn.search, exact.search, strict=True))
    return (
        f"walks against lists, {compared} times: null 1 off by at most {chance:.3f}, criteria met on average by "
        f"at most {mean:.3f}; null 2 the same in {found}"
    )


def main() -> None:
    """Print all pairings, then toughness, then walks against lists."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenarios", type=int, default=200, help="random scenarios per pairing")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes; results are the same for any number")
    options = parser.parse_args()
    start = time.perf_counter()
    print(f"[measured] {options.scenarios} scenarios per pairing, seed {options.seed}; A, B, joint\n{'':6} {HEAD}")
    for pairing in PAIRINGS:
        found = run(speaker(pairing.first), speaker(pairing.second), pairing.settle, options)
        print(f"{pairing.name}\n noted {pairing.noted} | {pairing.nulls.strip():>10}\n  here {here(found)}")
        print(f"       {second_line(found)}", flush=True)
    print("\ntoughness, rawlsian - biased 1, bargain: beds of the marginal group, noted and here")
    for tough, soft, noted in TOUGHNESS:
        found = run(speaker("rawlsian", tough), speaker(STRONG, soft), "bargain", options)
        print(f"  aligned {tough:>8}, biased {soft:>8}: {noted} {beds(found, 'joint')}")
    print(f"\n{walks(options.seed)}\n\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
