"""The certificate schema beside the exact worst case: how much of the score it certifies, and at what cost.

    python -m benchmarks.paper_certificates                  constants, the worked example, random problems
    python -m benchmarks.paper_certificates --contexts 1e5   more random contexts a family

Work: a lower bound on a metric of decisions under every misreport of one stakeholder, in every context. Peer, in the
same run: the exact worst case by reachable actions (an action can win exactly if its highest score over the box
reaches the others' lowest). Violations, contexts in which the bound exceeds the exact value, must be 0.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from accordant import strategies
from accordant.certificates.schema import PaperBound, constants, family_of, paper_bound, perturbation_set
from accordant.certificates.schema.forms import ScoringForm
from accordant.utilities import ExpectedRewards

WORKED = np.array([[0.80, 0.50, 0.30], [0.70, 0.60, 0.50], [0.75, 0.40, 0.35]])
THETA = np.array([1.0, 0.0, 0.3])
RADII, RANDOM_RADII = (0.05, 0.10, 0.15), (0.01, 0.05)
MU = 0.05
MOMENTS = 400_000
FAMILIES = (
    ("utilitarian", {}, {}),
    ("nash_social_welfare", {}, {}),
    ("nash_social_welfare", {}, {"product": True}),
    ("nash_bargaining", {"disagreement": 0.0}, {}),
    ("compromise_programming", {"ideal": 1.0}, {}),
    ("compromise_programming", {"ideal": 0.5, "two_sided": True}, {}),
    ("maximin", {}, {"sigma": 0.05}),
    ("kalai_smorodinsky", {"disagreement": 0.0, "ideal": 1.0}, {"sigma": 0.05}),
)
SETTINGS = (
    {"tau": "star", "bias": "linear"},  # as the paper has it
    {"tau": "best"},
    {"tau": "per_context", "region": "box"},
)


def rewards(values: np.ndarray) -> ExpectedRewards:
    return ExpectedRewards(
        values, stakeholders=[f"i{i}" for i in range(len(values))], actions=[f"a{a}" for a in range(values.shape[1])]
    )


def exact_worst(form: ScoringForm, E: ExpectedRewards, theta: np.ndarray, delta: float) -> np.ndarray:
    """Return the smallest metric value that some misreport attains in each context; tied actions all count."""
    box = perturbation_set(E, delta=delta, coalition=[E.stakeholders[0]], mu=MU)
    reach = form.extremes(box.low, box.high)
    ranked = np.sort(reach.lowest, axis=0)
    best, second = ranked[-1], ranked[-2]
    rival = np.where(reach.lowest == best, second, best)  # the highest of the others' lowest
    return np.where(reach.highest >= rival - 1e-12, theta, np.inf).min(axis=0)


def worked_example() -> None:
    """Print the worked example: every term at τ*, the bound, the better bound, and the exact value."""
    E, rule = rewards(WORKED), strategies.utilitarian
    print("worked example: utilitarian, weights 1/3, one member, metric values 1, 0, 0.3")
    print("delta   margin   kappa    tau*      S        gradient curv.    bias     RLB      best tau       exact")
    for delta in RADII:
        settings = {"delta": delta, "coalition": ["i0"], "mu": MU}
        star = paper_bound(rule, E, THETA, tau="star", bias="linear", **settings)
        best = paper_bound(rule, E, THETA, **settings)
        exact = exact_worst(family_of(rule, E), E, THETA[:, None], delta)[0]
        shown = (star.smooth_score, star.gradient, star.curvature, star.bias, star.rlb, best.rlb)
        print(
            f"{delta:.2f}    {star.margin:.5f}  {star.kappa:.4f}   {star.tau:.6f}  "
            f"{'  '.join(f'{each:.5f}' for each in shown)}        {exact:g}"
        )


def constants_table() -> None:
    """Print κ of value metrics, and c₃ beside the largest of many random third moments."""
    print("\nvalue metrics: k, kappa of the softmax mean (Lambert W), kappa of log-sum-exp (log k)")
    for k in (2, 3, 4, 10):
        print(f"{k:4}  {constants.value_kappa(k):.5f}  {constants.surrogate_kappa(k):.5f}")
    generator = np.random.default_rng(1)
    policy = generator.dirichlet(np.full(4, 0.5), MOMENTS).T
    theta = generator.integers(0, 2, policy.shape)
    u = np.where(generator.random(policy.shape) < 0.8, generator.choice([-1.0, 1.0], policy.shape), 0.5)
    centred = theta - (policy * theta).sum(axis=0)
    moments = np.abs((policy * centred * (u - (policy * u).sum(axis=0)) ** 2).sum(axis=0))
    print(f"c3 = {constants.C3:.6f}; largest of {MOMENTS:,} random third moments {moments.max():.6f}")


def remainders() -> None:
    """Print the largest part of the curvature bound that a random perturbation of two members uses up."""
    generator = np.random.default_rng(2)
    E = rewards(generator.uniform(0.2, 0.8, (3, 3, 2_000)))
    theta = generator.integers(0, 2, (3, 2_000)).astype(float)
    box = perturbation_set(E, delta=0.1, coalition=["i0", "i1"], mu=MU)
    print("\nlargest second-order remainder over its bound, 12,000 random perturbations a rule; at most 1")
    print(f"{'rule':48}tube    box")
    for name, parameters, options in FAMILIES:
        form = family_of(strategies.create(name, parameters), E, **options)
        used = []
        for region in ("tube", "box"):
            largest = 0.0
            for tau in (0.02, 0.1, 0.5):
                for _ in range(2):
                    moved = np.where(generator.random(box.low.shape) < 0.5, box.low, box.high)
                    bound = paper_bound(
                        form, E, theta, delta=0.1, coalition=box.coalition, mu=MU, tau=tau, region=region
                    )
                    after = constants.expected_metric(form.scores(moved), theta, tau).score
                    linear = (bound.entries * (moved - box.centre)[box.members]).sum(axis=(0, 1))
                    remainder = np.abs(after - bound.terms.smooth_score - linear)
                    some = bound.terms.curvature > 0
                    largest = max(largest, float((remainder[some] / bound.terms.curvature[some]).max()))
            used.append(largest)
        print(f"{form.name:48}{used[0]:.3f}   {used[1]:.3f}")
        assert max(used) <= 1


def seconds(work: Callable[[], PaperBound | np.ndarray]) -> tuple[float, PaperBound | np.ndarray]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def random_problems(n_contexts: int) -> None:
    """Print mean certified metric, as the paper has it and improved, beside the exact one."""
    generator = np.random.default_rng(0)
    E = rewards(generator.random((3, 3, n_contexts)))
    theta = generator.random((3, n_contexts))
    print(f"\n{n_contexts:,} random contexts, 3 stakeholders x 3 actions, one member, metric values in [0, 1]")
    print(f"means over contexts; 'trivial' is the smallest metric value, mu = {MU}")
    columns = "as in    best     own tau,                   lead    seconds"
    print(f"{'':54}{columns}")
    print(f"{'rule':48}delta paper    tau      box      exact    trivial over    to exact violations")
    for name, parameters, options in FAMILIES:
        form = family_of(strategies.create(name, parameters), E, **options)
        for delta in RANDOM_RADII:
            there, exact = seconds(lambda form=form, delta=delta: exact_worst(form, E, theta, delta))
            bounds, spent, violations = [], 0.0, 0
            for settings in SETTINGS:
                spent, bound = seconds(
                    lambda form=form, delta=delta, settings=settings: paper_bound(
                        form, E, theta, delta=delta, coalition=["i0"], mu=MU, **settings
                    )
                )
                bounds.append(bound.value)
                violations += int((bound.terms.rlb > exact + 1e-12).sum())
            shown = (*bounds, exact.mean(), bound.trivial)
            print(
                f"{form.name:48}{delta:.2f}  {'   '.join(f'{each:.4f}' for each in shown)}  {bound.usable.mean():.2f}  "
                f"{spent / there:8.0f}    {violations}"
            )
            assert violations == 0


def main() -> None:
    """Print every comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=float, default=1e4, help="random contexts a family")
    arguments = parser.parse_args()
    worked_example()
    constants_table()
    remainders()
    random_problems(int(arguments.contexts))


if __name__ == "__main__":
    main()
