"""Which question next? Decision information against parameter information, regret reduction and random pairs.

Simulated people: θ ~ N(0, scale² I), answers by Bradley–Terry with lapses; items with normal features; what is at stake
is the best of a few of the items. Every criterion meets the same people, items and candidate pairs.

Printed per criterion, with standard errors over people: questions until the decision is settled (P ≥ level, at most
--questions), the share of people for whom it settled, how often the decision is truly best, among settled and among
all, and the true loss of the decision. Then paired differences to random; negative in questions and loss is better.

Run: OMP_NUM_THREADS=1 python -m benchmarks.elicitation
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from accordant.preferences.elicitation import (
    CRITERIA,
    Criterion,
    Inquiry,
    NormalPrior,
    OwnChoice,
    Posterior,
    ScalePrior,
    Stopping,
    elicit,
    simulated_person,
)


@dataclass(frozen=True)
class World:
    """Sizes of the simulation."""

    features: int
    items: int
    actions: int
    scale: float
    lapse: float
    level: float
    questions: int
    samples: int
    strength: float = 1.0
    learned: bool = True


COLUMNS = ("questions", "settled", "right", "loss", "stated")


def one_person(world: World, criterion: Criterion, seed: int) -> tuple[float, ...]:
    """Return questions, whether settled, whether right, true loss and stated probability."""
    made, answering, asking = np.random.default_rng(seed).spawn(3)
    items = made.standard_normal((world.items, world.features))
    truth = world.strength * world.scale * made.standard_normal(world.features)
    actions = items[: world.actions]
    inquiry = Inquiry(
        items, OwnChoice(actions), criterion=criterion, samples=world.samples,
        stopping=Stopping(world.level, 0.0, world.questions),
    )  # fmt: skip
    scale = ScalePrior() if world.learned else None
    belief = Posterior(NormalPrior.isotropic(world.features, world.scale**2), world.lapse, scale=scale)
    found = elicit(inquiry, belief, simulated_person(truth, items, answering, world.lapse), asking)
    rewards = actions @ truth
    decided = found.standing.decided
    return (
        len(found.answered), found.stopped == "settled", decided == rewards.argmax(),
        float(rewards.max() - rewards[decided]), found.standing.probability,
    )  # fmt: skip


def with_error(values: NDArray[np.float64]) -> str:
    """Return mean and standard error."""
    if len(values) < 2:
        return "-"
    return f"{values.mean():.3f} ({values.std(ddof=1) / np.sqrt(len(values)):.3f})"


def calibration(world: World, people: int) -> None:
    """Print the stated probability against the share that is right, for weak, medium and strong preferences."""
    edges = (0.0, 0.6, 0.8, 0.9, 0.95, 1.0)
    print("\nstated probability against right decisions (people), by strength of preferences; decision_information")
    for learned in (False, True):
        for strength in (0.1, 0.3, 1.0, 3.0):
            told = replace(world, strength=strength, learned=learned)
            found = np.array(
                [one_person(told, "decision_information", seed) for seed in range(people)], dtype=np.float64
            )
            cells = [
                f"questions {found[:, 0].mean():.1f}, stated {found[:, 4].mean():.3f}, right {found[:, 2].mean():.3f}"
            ]
            for low, high in pairwise(edges):
                inside = found[(found[:, 4] >= low) & (found[:, 4] < high + (high == 1.0))]
                if len(inside):
                    cells.append(
                        f"{low:.2f}–{high:.2f}: {inside[:, 4].mean():.2f} / {inside[:, 2].mean():.2f} ({len(inside)})"
                    )
            print(f"scale {'learned' if learned else 'assumed'}, strength {strength}: " + "; ".join(cells))


def main() -> None:
    """Read the sizes and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--features", type=int, default=8)
    parser.add_argument("--items", type=int, default=12)
    parser.add_argument("--actions", type=int, default=3)
    parser.add_argument("--scale", type=float, default=2.0, help="standard deviation of each coefficient")
    parser.add_argument("--lapse", type=float, default=0.02)
    parser.add_argument("--level", type=float, default=0.95)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--calibration", type=int, default=0, help="people of each strength, for the calibration")
    asked = parser.parse_args()
    world = World(**{name: value for name, value in vars(asked).items() if name not in ("people", "calibration")})
    print(f"{asked.people} simulated people, {world}")
    results: dict[str, NDArray[np.float64]] = {}
    print(f"{'criterion':26} {'questions':>16} {'settled':>14} {'right if settled':>16} {'right':>14} {'loss':>14} "
          f"{'stated':>14} {'seconds':>8}")  # fmt: skip
    for criterion in CRITERIA:
        started = time.process_time()
        found = np.array([one_person(world, criterion, seed) for seed in range(asked.people)], dtype=np.float64)
        results[criterion] = found
        settled = found[found[:, 1] == 1]
        cells = [found[:, 0], found[:, 1], settled[:, 2], found[:, 2], found[:, 3], found[:, 4]]
        print(f"{criterion:26} " + " ".join(f"{with_error(cell):>15}" for cell in cells)
              + f" {time.process_time() - started:8.1f}")  # fmt: skip
    print("\npaired differences to random, mean (standard error)")
    for criterion in CRITERIA[:-1]:
        gap = results[criterion] - results["random"]
        print(f"{criterion:26} " + ", ".join(f"{name} {with_error(gap[:, k])}" for k, name in enumerate(COLUMNS)))
    if asked.calibration:
        calibration(world, asked.calibration)


if __name__ == "__main__":
    main()
