"""Concrete matrices that show that a rule fails an axiom; every one is checked by a test in plain Python."""

from __future__ import annotations

from dataclasses import dataclass

Matrix = list[list[float]]


@dataclass(frozen=True)
class Counterexample:
    """E, and E changed as the axiom says, on which some rules with default parameters fail.

    Attributes
    ----------
    axiom
        Name of the axiom.
    rules
        Names of the rules, separated by blanks. ``stakeholder`` is the first one alone, ``constant`` the first action.
    before, after
        A row of actions per stakeholder, rows separated by ``/``; `after` is empty if the axiom speaks about one E.
    """

    axiom: str
    rules: str
    before: str
    after: str = ""

    def matrices(self) -> tuple[Matrix, Matrix | None]:
        """Return both matrices, stakeholder by action."""
        return _matrix(self.before), _matrix(self.after) if self.after else None


def _matrix(text: str) -> Matrix:
    return [[float(number) for number in row.split()] for row in text.split("/")]


SUMS = "utilitarian range atkinson generalised_gini nash_social_welfare"
POINTS = (
    "nash_bargaining kalai_smorodinsky egalitarian_equivalent relative_utilitarian compromise_programming "
    "minimax_regret"
)
BALLOTS = (
    "plurality anti_plurality approval borda bucklin instant_runoff coombs copeland minimax ranked_pairs schulze kemeny"
)
OWN = f"{SUMS} alpha_fairness leximin maximin hurwicz sufficientarian majority_judgment"

COUNTEREXAMPLES = (
    Counterexample("weak_pareto", "anti_plurality approval majority_judgment sufficientarian constant",
                   ".8 1 .9 / .1 .3 .2"),
    Counterexample("strong_pareto", "alpha_fairness maximin sufficientarian nash_bargaining kalai_smorodinsky "
                   "stakeholder egalitarian_equivalent minimax_regret anti_plurality approval bucklin",
                   "0 0 0 / 0 1 0 / 1 0 .5"),
    Counterexample("strong_pareto", "hurwicz instant_runoff minimax ranked_pairs schulze constant",
                   "1 0 .4 1 / .4 1 .2 .8 / 0 .6 .8 0"),
    Counterexample("strong_pareto", "plurality majority_judgment", ".6 .7 .5 / 1 .2 1 / .2 .1 .2"),
    Counterexample("strong_pareto", "coombs", "0 .5 1 0 / .5 0 0 1"),
    Counterexample("pigou_dalton", f"utilitarian range hurwicz sufficientarian {POINTS} {BALLOTS} majority_judgment "
                   "stakeholder constant",
                   ".4 0 / 0 .4", ".4 .3 / 0 .1"),
    Counterexample("pigou_dalton", "maximin alpha_fairness", "1 0 / 0 .6 / 0 1", "0 0 / .7 .6 / .9 1"),
    Counterexample("monotonicity", "instant_runoff",
                   ".8 .6 .2 / .6 .4 1 / 0 .8 .8 / 1 1 .2", ".8 .6 .2 / .6 .4 1 / 0 1 .8 / 1 1 .2"),
    Counterexample("monotonicity", "coombs", "0 0 1 1 / 0 0 0 0 / 1 1 0 0", ".61 0 1 1 / 0 0 0 0 / 1 1 0 0"),
    Counterexample("condorcet_consistency", f"{OWN} nash_bargaining kalai_smorodinsky egalitarian_equivalent "
                   "compromise_programming minimax_regret stakeholder constant",
                   "1 0 / .5 1 / 0 .5"),
    Counterexample("condorcet_consistency", "relative_utilitarian plurality anti_plurality approval borda bucklin "
                   "instant_runoff",
                   "1 .4 .3 .2 / 0 .2 1 .8 / 0 .7 .4 .2"),
    Counterexample("condorcet_consistency", "coombs", ".5 0 1 1 / 0 1 0 .5 / 1 1 .5 0 / 0 1 0 1"),
    Counterexample("anonymity", "stakeholder", "0 1 / 1 0", "1 0 / 0 1"),
    Counterexample("neutrality", "constant", "1 1 / .5 1", "1 1 / 1 .5"),
    Counterexample("non_dictatorship", "stakeholder", "0 1 / 1 0"),
    Counterexample("pairwise_independence", "relative_utilitarian compromise_programming minimax_regret plurality "
                   "anti_plurality approval borda instant_runoff coombs copeland minimax ranked_pairs schulze kemeny",
                   "0 .6 0 / .4 0 0", "0 .6 0 / .4 0 1"),
    Counterexample("pairwise_independence", "nash_bargaining kalai_smorodinsky egalitarian_equivalent bucklin",
                   "1 0 .5 / .5 1 1", "1 0 1 / .5 1 0"),
    Counterexample("choice_independence", f"relative_utilitarian minimax_regret {BALLOTS}",
                   ".6 0 .2 / .8 1 0 / 0 .2 .8", ".6 0 / .8 1 / 0 .2"),
    Counterexample("choice_independence",
                   "nash_bargaining kalai_smorodinsky egalitarian_equivalent compromise_programming",
                   "1 .2 0 / 0 .8 1", "1 .2 / 0 .8"),
    # with somebody at 0 all scores of α-fairness are close to its floor, and ties are wide but not transitive
    Counterexample("choice_independence", "alpha_fairness",
                   ".5 .36 .3 / .5 .7 .85 / 0 0 0", ".36 .3 / .7 .85 / 0 0"),
    Counterexample("scale_invariance", f"{OWN.replace('maximin ', '')} compromise_programming minimax_regret",
                   ".2 0 / 0 1", "1 0 / 0 1"),
    Counterexample("scale_invariance", "maximin egalitarian_equivalent", "1 1 0 / .6 1 0", ".3 .3 0 / .6 1 0"),
    Counterexample("shift_invariance", "atkinson generalised_gini nash_social_welfare alpha_fairness leximin maximin "
                   "sufficientarian majority_judgment",
                   "1 .5 / .5 1", ".5 0 / .5 1"),
    Counterexample("shift_invariance", "hurwicz", "1 .5 / 1 1 / .5 1", ".5 0 / 1 1 / .5 1"),
    Counterexample("ordinal_invariance", f"{OWN} {POINTS} approval", ".5 1 0 / 1 .5 0", ".3 .94 .22 / 1 .5 0"),
    Counterexample("participation", "bucklin coombs copeland majority_judgment",
                   ".6 .4 .3 1 / .2 .5 1 .8 / 1 .7 .3 .1 / .7 .3 .9 .7", ".6 .4 .3 1 / .2 .5 1 .8 / .7 .3 .9 .7"),
    Counterexample("participation", "minimax ranked_pairs schulze",
                   "0 .2 0 .4 / .4 .2 0 .4 / .6 .8 .6 0 / .2 .6 .6 0 / .6 0 .8 .6",
                   ".4 .2 0 .4 / .6 .8 .6 0 / .2 .6 .6 0 / .6 0 .8 .6"),
    Counterexample("participation", "kemeny", "0 1 .2 0 / 1 .2 0 .8 / .4 .2 .6 .4", "0 1 .2 0 / .4 .2 .6 .4"),
    Counterexample("participation", "instant_runoff",
                   ".4 .6 0 / .4 .6 1 / 1 1 0 / .8 0 .2 / .4 .6 1", ".4 .6 0 / 1 1 0 / .8 0 .2 / .4 .6 1"),
    Counterexample("participation", "generalised_gini", "1 .4 / .3 .2 / 0 .2", "1 .4 / 0 .2"),
    Counterexample("participation", "hurwicz", "1 .8 / 0 .4 / 1 .4", "0 .4 / 1 .4"),
    Counterexample("participation", "alpha_fairness", ".5 .32 / .5 .85 / 0 0 / .8 .81", ".5 .32 / .5 .85 / 0 0"),
    # a cycle of three: Ada, whose best action is y, gets w, and x by putting it first
    Counterexample("strategy_proofness", f"{OWN} {POINTS} {BALLOTS}",
                   "0 .5 1 / 1 0 .5 / .5 1 0", "0 1 .5 / 1 0 .5 / .5 1 0"),
)  # fmt: skip


def counterexample(rule: str, axiom: str) -> Counterexample | None:
    """Return the counterexample for a registered rule with default parameters, or None."""
    return next((each for each in COUNTEREXAMPLES if each.axiom == axiom and rule in each.rules.split()), None)
