"""Why rules have axioms on all E: a line of proof or a source for every yes; proofs stand in docs/methods/axioms.md."""

from __future__ import annotations

from dataclasses import dataclass

RISING = "utilitarian range nash_social_welfare atkinson generalised_gini leximin"  # rise with every reward
COLUMNS = f"{RISING} alpha_fairness maximin hurwicz sufficientarian majority_judgment"  # score a column by itself
POINTS = (  # score a column by its distance from reference points of the context
    "relative_utilitarian nash_bargaining kalai_smorodinsky egalitarian_equivalent compromise_programming "
    "minimax_regret"
)
PLACES = "plurality anti_plurality borda bucklin instant_runoff coombs"
MARGINS = "copeland minimax ranked_pairs schulze kemeny"
ANONYMOUS = f"{COLUMNS} {POINTS} {PLACES} {MARGINS} approval debate"


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
    Theorem("weak_pareto", POINTS, "the score rises if every reward rises; both face the same points"),
    Theorem("weak_pareto", "stakeholder", "the stakeholder prefers the other action too"),
    Theorem("weak_pareto", "plurality instant_runoff coombs", "nobody puts the worse first, or the better last"),
    Theorem("weak_pareto", "borda bucklin", "every ballot gives the better action a better place"),
    Theorem("weak_pareto", MARGINS, "unanimous margins are the largest, and form no cycle"),
    Theorem("strong_pareto", RISING, "the score rises if some reward rises"),
    Theorem("strong_pareto", "relative_utilitarian compromise_programming", "the score rises if some reward rises"),
    Theorem("strong_pareto", "borda copeland kemeny", "no margin of the better is smaller, and it beats the other"),
    Theorem("pigou_dalton", "nash_social_welfare atkinson", "symmetric and strictly concave scores (Dalton 1920)"),
    Theorem("pigou_dalton", "generalised_gini leximin", "the worse-off of two counts more (Weymark 1981; Sen 1970)"),
    Theorem("monotonicity", f"{COLUMNS} stakeholder constant", "the score grows with the own column; others stay"),
    Theorem("monotonicity", POINTS, "the own score rises; points can only rise, so that others fall"),
    Theorem("monotonicity", "plurality anti_plurality borda bucklin approval", "its place rises, and no other does"),
    Theorem("monotonicity", "copeland minimax kemeny", "its margins rise and no margin between others changes"),
    Theorem("monotonicity", "schulze", "paths from it become stronger, paths to it weaker (Schulze 2011, section 4.5)"),
    Theorem("monotonicity", "ranked_pairs", "a stack with the action on top stays one (Zavist and Tideman 1989)"),
    Theorem("condorcet_consistency", MARGINS, "an action that beats all others wins alone (Fishburn 1977)"),
    Theorem("anonymity", f"{ANONYMOUS} constant", "the definition is symmetric in stakeholders"),
    Theorem("neutrality", f"{ANONYMOUS} stakeholder", "the definition is symmetric in actions"),
    Theorem("non_dictatorship", f"{ANONYMOUS} constant", "an anonymous rule cannot follow each of two who disagree"),
    Theorem("pairwise_independence", f"{COLUMNS} stakeholder", "the order of two columns depends on no other"),
    Theorem("choice_independence", f"{COLUMNS.replace('alpha_fairness ', '')} stakeholder constant",
            "the decision is the best by one order of columns"),
    Theorem("scale_invariance", "relative_utilitarian nash_bargaining kalai_smorodinsky debate",
            "the factor cancels (Nash 1950; Kalai and Smorodinsky 1975; Dhillon and Mertens 1999)"),
    Theorem("scale_invariance", f"{PLACES} {MARGINS} approval stakeholder constant", "ballots do not change"),
    Theorem("shift_invariance", f"{POINTS} utilitarian range debate",
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
    return next((each for each in THEOREMS if each.axiom == axiom and rule in each.rules.split()), None)
