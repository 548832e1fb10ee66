"""What is known of rules with default parameters on all E: one table, a reason for every yes, a matrix for every no."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from accordant.axioms.axiom import weights_are_equal
from accordant.strategies.strategy import Strategy

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
        return _read_matrix(self.before), _read_matrix(self.after) if self.after else None


def _read_matrix(text: str) -> Matrix:
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
    return next(
        (example for example in COUNTEREXAMPLES if example.axiom == axiom and rule in example.rules.split()), None
    )


RISING = "utilitarian range nash_social_welfare atkinson generalised_gini leximin"  # rise with every reward
BY_COLUMN = f"{RISING} alpha_fairness maximin hurwicz sufficientarian majority_judgment"  # score a column by itself
REFERENCE_POINTS = (  # score a column by its distance from reference points of the context
    "relative_utilitarian nash_bargaining kalai_smorodinsky egalitarian_equivalent compromise_programming "
    "minimax_regret"
)
PLACES = "plurality anti_plurality borda bucklin instant_runoff coombs"
MARGINS = "copeland minimax ranked_pairs schulze kemeny"
ANONYMOUS = f"{BY_COLUMN} {REFERENCE_POINTS} {PLACES} {MARGINS} approval debate"


@dataclass(frozen=True)
class Theorem:
    """A reason why some rules with default parameters have an axiom on all E.

    Attributes
    ----------
    axiom
        Name of the axiom.
    rules
        Names of the rules, separated by blanks.
    because
        The reason in one line, with a source if it is not proven in the documentation.
    """

    axiom: str
    rules: str
    because: str


THEOREMS = (
    Theorem("weak_pareto", f"{RISING} alpha_fairness maximin hurwicz", "the score rises if every reward rises"),
    Theorem("weak_pareto", REFERENCE_POINTS, "the score rises if every reward rises; both face the same points"),
    Theorem("weak_pareto", "stakeholder", "the stakeholder prefers the other action too"),
    Theorem("weak_pareto", "plurality instant_runoff coombs", "nobody puts the worse first, or the better last"),
    Theorem("weak_pareto", "borda bucklin", "every ballot gives the better action a better place"),
    Theorem("weak_pareto", MARGINS, "unanimous margins are the largest, and form no cycle"),
    Theorem("strong_pareto", RISING, "the score rises if some reward rises"),
    Theorem("strong_pareto", "relative_utilitarian compromise_programming", "the score rises if some reward rises"),
    Theorem("strong_pareto", "borda copeland kemeny", "no margin of the better is smaller, and it beats the other"),
    Theorem("pigou_dalton", "nash_social_welfare atkinson", "symmetric and strictly concave scores (Dalton 1920)"),
    Theorem("pigou_dalton", "generalised_gini leximin", "the worse-off of two counts more (Weymark 1981; Sen 1970)"),
    Theorem("monotonicity", f"{BY_COLUMN} stakeholder constant", "the score grows with the own column; others stay"),
    Theorem("monotonicity", REFERENCE_POINTS, "the own score rises; points can only rise, so that others fall"),
    Theorem("monotonicity", "plurality anti_plurality borda bucklin approval", "its place rises, and no other does"),
    Theorem("monotonicity", "copeland minimax kemeny", "its margins rise and no margin between others changes"),
    Theorem("monotonicity", "schulze", "paths from it become stronger, paths to it weaker (Schulze 2011, section 4.5)"),
    Theorem("monotonicity", "ranked_pairs", "a stack with the action on top stays one (Zavist and Tideman 1989)"),
    Theorem("condorcet_consistency", MARGINS, "an action that beats all others wins alone (Fishburn 1977)"),
    Theorem("anonymity", f"{ANONYMOUS} constant", "the definition is symmetric in stakeholders"),
    Theorem("neutrality", f"{ANONYMOUS} stakeholder", "the definition is symmetric in actions"),
    Theorem("non_dictatorship", f"{ANONYMOUS} constant", "an anonymous rule cannot follow each of two who disagree"),
    Theorem("pairwise_independence", f"{BY_COLUMN} stakeholder", "the order of two columns depends on no other"),
    Theorem("choice_independence", f"{BY_COLUMN.replace('alpha_fairness ', '')} stakeholder constant",
            "the decision is the best by one order of columns"),
    Theorem("scale_invariance", "relative_utilitarian nash_bargaining kalai_smorodinsky debate",
            "the factor cancels (Nash 1950; Kalai and Smorodinsky 1975; Dhillon and Mertens 1999)"),
    Theorem("scale_invariance", f"{PLACES} {MARGINS} approval stakeholder constant", "ballots do not change"),
    Theorem("shift_invariance", f"{REFERENCE_POINTS} utilitarian range debate",
            "the number cancels, or adds the same to every action"),
    Theorem("shift_invariance", f"{PLACES} {MARGINS} approval stakeholder constant", "ballots do not change"),
    Theorem("ordinal_invariance", f"{PLACES} {MARGINS} stakeholder constant", "only orders are read"),
    Theorem("participation", "utilitarian range atkinson nash_social_welfare relative_utilitarian nash_bargaining "
            "compromise_programming", "scores are sums over stakeholders (Fishburn and Brams 1983)"),
    Theorem("participation", "maximin leximin kalai_smorodinsky egalitarian_equivalent minimax_regret",
            "the score is a minimum over stakeholders, and ties go to the sum"),
    Theorem("participation", "plurality anti_plurality borda approval sufficientarian",
            "scores are sums over ballots (Fishburn and Brams 1983; Moulin 1988)"),
    Theorem("participation", "stakeholder constant", "nobody else moves the winners"),
    Theorem("strategy_proofness", "stakeholder constant", "what others report changes nothing, and the own best wins"),
)  # fmt: skip


def theorem(rule: str, axiom: str) -> Theorem | None:
    """Return why a registered rule with default parameters has an axiom, or None."""
    return next((reason for reason in THEOREMS if reason.axiom == axiom and rule in reason.rules.split()), None)


COLUMNS = {
    "WP": "weak_pareto", "SP": "strong_pareto", "PD": "pigou_dalton", "Mo": "monotonicity",
    "Co": "condorcet_consistency", "An": "anonymity", "Ne": "neutrality", "ND": "non_dictatorship",
    "PI": "pairwise_independence", "CI": "choice_independence", "Sc": "scale_invariance", "Sh": "shift_invariance",
    "Or": "ordinal_invariance", "Pa": "participation", "St": "strategy_proofness",
}  # fmt: skip

# yes: never violated; no: violated on some E; ?: nothing is claimed
TABLE = """
                        WP   SP   PD   Mo   Co   An   Ne   ND   PI   CI   Sc   Sh   Or   Pa   St
utilitarian             yes  yes  no   yes  no   yes  yes  yes  yes  yes  no   yes  no   yes  no
range                   yes  yes  no   yes  no   yes  yes  yes  yes  yes  no   yes  no   yes  no
relative_utilitarian    yes  yes  no   yes  no   yes  yes  yes  no   no   yes  yes  no   yes  no
nash_social_welfare     yes  yes  yes  yes  no   yes  yes  yes  yes  yes  no   no   no   yes  no
atkinson                yes  yes  yes  yes  no   yes  yes  yes  yes  yes  no   no   no   yes  no
alpha_fairness          yes  no   no   yes  no   yes  yes  yes  yes  no   no   no   no   no   no
generalised_gini        yes  yes  yes  yes  no   yes  yes  yes  yes  yes  no   no   no   no   no
leximin                 yes  yes  yes  yes  no   yes  yes  yes  yes  yes  no   no   no   yes  no
maximin                 yes  no   no   yes  no   yes  yes  yes  yes  yes  no   no   no   yes  no
hurwicz                 yes  no   no   yes  no   yes  yes  yes  yes  yes  no   no   no   no   no
sufficientarian         no   no   no   yes  no   yes  yes  yes  yes  yes  no   no   no   yes  no

nash_bargaining         yes  no   no   yes  no   yes  yes  yes  no   no   yes  yes  no   yes  no
kalai_smorodinsky       yes  no   no   yes  no   yes  yes  yes  no   no   yes  yes  no   yes  no
egalitarian_equivalent  yes  no   no   yes  no   yes  yes  yes  no   no   no   yes  no   yes  no
compromise_programming  yes  yes  no   yes  no   yes  yes  yes  no   no   no   yes  no   yes  no
minimax_regret          yes  no   no   yes  no   yes  yes  yes  no   no   no   yes  no   yes  no
debate                  ?    ?    ?    ?    ?    yes  yes  yes  ?    ?    yes  yes  ?    ?    ?

plurality               yes  no   no   yes  no   yes  yes  yes  no   no   yes  yes  yes  yes  no
anti_plurality          no   no   no   yes  no   yes  yes  yes  no   no   yes  yes  yes  yes  no
approval                no   no   no   yes  no   yes  yes  yes  no   no   yes  yes  no   yes  no
borda                   yes  yes  no   yes  no   yes  yes  yes  no   no   yes  yes  yes  yes  no
bucklin                 yes  no   no   yes  no   yes  yes  yes  no   no   yes  yes  yes  no   no
instant_runoff          yes  no   no   no   no   yes  yes  yes  no   no   yes  yes  yes  no   no
coombs                  yes  no   no   no   no   yes  yes  yes  no   no   yes  yes  yes  no   no
majority_judgment       no   no   no   yes  no   yes  yes  yes  yes  yes  no   no   no   no   no

copeland                yes  yes  no   yes  yes  yes  yes  yes  no   no   yes  yes  yes  no   no
minimax                 yes  no   no   yes  yes  yes  yes  yes  no   no   yes  yes  yes  no   no
ranked_pairs            yes  no   no   yes  yes  yes  yes  yes  no   no   yes  yes  yes  no   no
schulze                 yes  no   no   yes  yes  yes  yes  yes  no   no   yes  yes  yes  no   no
kemeny                  yes  yes  no   yes  yes  yes  yes  yes  no   no   yes  yes  yes  no   no

stakeholder             yes  no   no   yes  no   no   yes  no   yes  yes  yes  yes  yes  yes  yes
constant                no   no   no   yes  no   yes  no   yes  ?    yes  yes  yes  yes  yes  yes
"""

MOST_ACTIONS = {"ranked_pairs": 8}  # with more actions, ties between margins fall to the declared order


@dataclass(frozen=True)
class Claim:
    """Whether a rule has an axiom on all E.

    Attributes
    ----------
    holds
        True: never violated. False: violated on some E.
    because
        Why it holds, with its source; or what the counterexample shows.
    counterexample
        E on which it fails, if it does.
    """

    holds: bool
    because: str
    counterexample: Counterexample | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        matrices = None
        if self.counterexample is not None:
            before, after = self.counterexample.matrices()
            matrices = {"before": before, "after": after}
        return {"holds": self.holds, "because": self.because, "counterexample": matrices}


def claim_about(rule: Strategy, axiom: str, n_stakeholders: int, n_actions: int) -> Claim | None:
    """Return what is known of a rule, or None if nothing is, or if its parameters are not the defaults.

    Parameters
    ----------
    rule
        Any rule.
    axiom
        Name of the axiom.
    n_stakeholders, n_actions
        Numbers in the E at hand. Claims are about two or more stakeholders; one alone is a dictator under most rules.
    """
    holds = CLAIMS.get((rule.name, axiom))
    if (
        n_stakeholders < 2
        or holds is None
        or n_actions > MOST_ACTIONS.get(rule.name, n_actions)
        or not has_default_parameters(rule)
    ):
        return None
    if not holds:
        return Claim(False, "a counterexample", counterexample(rule.name, axiom))
    reason = theorem(rule.name, axiom)
    assert reason is not None
    return Claim(True, reason.because)


def has_default_parameters(rule: Strategy) -> bool:
    """Return whether all parameters are the defaults; required ones may be anything, and weights equal."""
    for field in dataclasses.fields(rule):
        required = field.default is dataclasses.MISSING
        if not required and field.name != "weights" and getattr(rule, field.name) != field.default:
            return False
    return weights_are_equal(rule)


def read_table(text: str) -> dict[tuple[str, str], bool]:
    """Return (rule, axiom) → yes or no; what is open is left out."""
    head, *lines = (line.split() for line in text.splitlines() if line.strip())
    return {
        (rule, COLUMNS[column]): word == "yes"
        for rule, *words in lines
        for column, word in zip(head, words, strict=True)
        if word != "?"
    }


CLAIMS = read_table(TABLE)
