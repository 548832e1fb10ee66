"""What explanations say, word by word, and how values of features stand in sentences."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import numpy as np
import pytest
from accordant import strategies
from accordant.certificates import Known
from accordant.contexts import Contexts
from accordant.explanation import Change, Forecast, Misreport, Person, Recourse, Trait, explain
from accordant.explanation.contexts import Difference
from accordant.explanation.sentences import _who, sentences_by_topic
from accordant.explanation.counterfactual_sentences import _misreport
from accordant.explanation.value_text import value_text
from accordant.utilities import ExpectedRewards


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "missing"), ("", "an empty text"), ("north", "north"), (-3.0, "−3"), (0.12345, "0.1235"), (1e6, "1000000")],
)
def test_a_value_of_a_feature(value, text):
    assert value_text(value) == text


@pytest.mark.parametrize("who", ["Ada", None])
def test_who_may_misreport_is_named(who):
    whose = f"the expected rewards of {who} alone" if who else "all expected rewards"
    assert _who(Misreport(who, 0.1)) == (who or "everybody together")
    silent = _misreport(Misreport(who, 0.0))
    assert silent == f"For changes of {whose}, nothing is certified, and no change that alters the decision is known."
    known = _misreport(Misreport(who, 0.0, 0.25, "wait"))
    assert known == f"For changes of {whose}, nothing is certified; by 0.250 they can change so that wait wins."


THREE = [[0.9, 0.5, 0.2], [0.3, 0.515, 0.1], [0.4, 0.5, 0.7]]
SAID = [  # rule, parameters, E, and everything that is said of the decision
    (
        "utilitarian",
        {},
        THREE,
        """
        Red, because compared with green the loss for Ben and Cem is smaller than the gain for Ann (taken together).
        The rule utilitarian compares the weighted mean of expected rewards (more is better): 0.533, against 0.505 of the runner-up green.
        Expected rewards run from 0, the worst for a stakeholder, to 1, the best.
        Alone, Ann would have chosen red too.
        Alone, Ben would have chosen green.
        Alone, Cem would have chosen blue.
        Instead of the runner-up green it gives Ann 0.400 more, Ben 0.215 less and Cem 0.100 less expected reward.
        Instead of blue it gives Ann 0.700 more, Ben 0.200 more and Cem 0.300 less expected reward.
        Without Ann, if Ann had no preference or with half the weight of Ann, green would be decided.
        With twice the weight of Ben, green would be decided.
        With twice the weight of Cem, green would be decided.
        If all expected rewards change by at most 0.014 each, the decision stays; just beyond, green can win.
        If the expected rewards of Ann alone change by at most 0.042 each, the decision stays; just beyond, green can win.
        If the expected rewards of Ben alone change by at most 0.042 each, the decision stays; just beyond, green can win.
        If the expected rewards of Cem alone change by at most 0.042 each, the decision stays; just beyond, green can win.
        The smallest shift of weight that changes the decision is 0.047 of all weight: with Ann 0.287, Ben 0.379 and Cem 0.333, green would be decided.
        With less weight for Ann, 0.282 of all weight in place of 0.333, green would be decided.
        With more weight for Ben, 0.411 of all weight in place of 0.333, green would be decided.
        With more weight for Cem, 0.481 of all weight in place of 0.333, green would be decided.
        Errors of at most 0.014 in each of the expected rewards would not have changed the decision.
        How far expected rewards may move is exact: just beyond, a change is known to alter it, or none does.
        """,
    ),
    (
        "utilitarian",
        {"weights": (2.0, 0.0, 1.0)},
        [[0.9, 0.5, 0.2], [0.3, 0.515, 0.1], [0.4, 0.51, 0.7]],
        """
        Red, because compared with green the loss for Cem is less than a quarter of the gain for Ann (counted by weight).
        The rule utilitarian compares the weighted mean of expected rewards (more is better): 0.733, against 0.503 of the runner-up green.
        Expected rewards run from 0, the worst for a stakeholder, to 1, the best.
        Alone, Ann would have chosen red too.
        Alone, Ben would have chosen green.
        Alone, Cem would have chosen blue.
        Instead of the runner-up green it gives Ann 0.400 more, Ben 0.215 less and Cem 0.110 less expected reward.
        Instead of blue it gives Ann 0.700 more, Ben 0.200 more and Cem 0.300 less expected reward.
        Without Ann or if Ann had no preference, blue would be decided.
        If all expected rewards change by at most 0.114 each, the decision stays; just beyond, green can win.
        If the expected rewards of Ann alone change by at most 0.172 each, the decision stays; just beyond, green can win.
        If the expected rewards of Cem alone change by at most 0.344 each, the decision stays; just beyond, green can win.
        Nothing that Ben alone could report, from 0 to 1, would change the decision.
        With less weight for Ann, 0.299 of all weight in place of 0.667, blue would be decided.
        The smallest shift of weight that changes the decision is 0.367 of all weight: with Ann 0.300, Ben 0.000 and Cem 0.700, blue would be decided.
        With more weight for Cem, 0.701 of all weight in place of 0.333, blue would be decided.
        With more weight for Ben, 0.517 of all weight in place of 0.000, green would be decided.
        Errors of at most 0.114 in each of the expected rewards would not have changed the decision.
        How far expected rewards may move is exact: just beyond, a change is known to alter it, or none does.
        """,
    ),
    (
        "kalai_smorodinsky",
        {},
        THREE,
        """
        Green, because whoever gets the smallest part of their possible gain either way (Cem) gets a larger part under it than under red.
        The rule kalai_smorodinsky[context] compares the smallest part of a possible gain (0 none, 1 all of it) (more is better): 0.333, against 0.000 of the runner-up red.
        Gains are measured from 0.200 for Ann, 0.100 for Ben and 0.400 for Cem.
        The best that counts is 0.900 for Ann, 0.515 for Ben and 0.700 for Cem.
        Alone, Ben would have chosen green too.
        Alone, Ann would have chosen red.
        Alone, Cem would have chosen blue.
        Instead of the runner-up red it gives Ann 0.400 less, Ben 0.215 more and Cem 0.100 more expected reward.
        Instead of blue it gives Ann 0.300 more, Ben 0.415 more and Cem 0.200 less expected reward.
        Without Cem or if Cem had no preference, red would be decided.
        If all expected rewards change by at most 0.049 each, the decision stays; just beyond, red can win.
        If the expected rewards of Ann alone change by at most 0.149 each, the decision stays; just beyond, red can win.
        If the expected rewards of Ben alone change by at most 0.207 each, the decision stays; just beyond, red can win.
        If the expected rewards of Cem alone change by at most 0.049 each, the decision stays; just beyond, red can win.
        Other weights were not looked for: the rule does not ask how large a weight is, only whether it is above 0.
        Errors of at most 0.049 in each of the expected rewards would not have changed the decision.
        How far expected rewards may move is exact: just beyond, a change is known to alter it, or none does.
        """,
    ),
    (
        "utilitarian",
        {"selection": "softmax", "temperature": 0.1},
        [[0.9, 0.5], [0.3, 0.515]],
        """
        Red, because actions are drawn by lot and none has a higher chance.
        The rule utilitarian[softmax 0.1] compares the weighted mean of expected rewards (more is better): 0.600, against 0.508 of the runner-up green.
        Expected rewards run from 0, the worst for a stakeholder, to 1, the best.
        The action is drawn, with these probabilities: red 0.716, green 0.284.
        Alone, Ann would have chosen red too.
        Alone, Ben would have chosen green.
        Instead of the runner-up green it gives Ann 0.400 more and Ben 0.215 less expected reward.
        Without Ann, if Ann had no preference or with half the weight of Ann, green would be decided.
        With twice the weight of Ben, green would be decided.
        If all expected rewards change by at most 0.046 each, the decision stays; just beyond, green can win.
        If the expected rewards of Ann alone change by at most 0.092 each, the decision stays; just beyond, green can win.
        If the expected rewards of Ben alone change by at most 0.092 each, the decision stays; just beyond, green can win.
        The smallest shift of weight that changes the decision is 0.151 of all weight: with Ann 0.350 and Ben 0.650, green would be decided.
        With less weight for Ann, 0.349 of all weight in place of 0.500, green would be decided.
        With more weight for Ben, 0.651 of all weight in place of 0.500, green would be decided.
        Errors of at most 0.046 in each of the expected rewards would not have changed the decision.
        How far expected rewards may move is exact: just beyond, a change is known to alter it, or none does.
        """,
    ),
    (
        "constrained",
        {"rule": "utilitarian", "floors": {"Ann": 0.95, "Ben": 0.9}},
        [[0.9, 0.5], [0.3, 0.515]],
        """
        Green, because no action keeps the declared limits, and none comes closer to them.
        The rule constrained[utilitarian; Ann >= 0.95, Ben >= 0.9] compares the weighted mean of expected rewards.
        No action satisfies all constraints.
        Constraints changed the decision: the rule alone would choose another action.
        The decision falls below what was asked for by 0.450 for Ann and 0.385 for Ben.
        Alone, Ben would have chosen green too.
        Alone, Ann would have chosen red.
        Instead of the runner-up red it gives Ann 0.400 less and Ben 0.215 more expected reward.
        Without Ben or if Ben had no preference, red would be decided.
        If all expected rewards change by at most 0.074 each, the decision stays; just beyond, red can win.
        If the expected rewards of Ann alone change by at most 0.149 each, the decision stays; just beyond, red can win.
        If the expected rewards of Ben alone change by at most 0.107 each, the decision stays; just beyond, red can win.
        On a grid of shares, no weights were found that would lead to another decision.
        Errors of at most 0.074 in each of the expected rewards would not have changed the decision.
        How far expected rewards may move is exact: just beyond, a change is known to alter it, or none does.
        """,
    ),
    (
        "maximin",
        {},
        [[0.5, 0.5], [0.2, 0.2]],
        """
        Red, because green would be just as good by the rule and for all together, and this action stands first in the list.
        The rule maximin compares the smallest expected reward (more is better): 0.200, against 0.200 of the runner-up green.
        Expected rewards run from 0, the worst for a stakeholder, to 1, the best.
        Another action has the same score: the higher sum of expected rewards decided, then the declared order.
        Alone, Ann and Ben would have chosen red too or something equally good to them.
        Instead of the runner-up green it gives Ann as much and Ben as much expected reward.
        The same is decided without Ann or Ben, and if one of them had no preference.
        However little all expected rewards may change, green can win.
        However little the expected rewards of Ann alone may change, green can win.
        However little the expected rewards of Ben alone may change, green can win.
        Other weights were not looked for: the rule does not ask how large a weight is, only whether it is above 0.
        The decision is a close call: it hangs on how ties are broken.
        How far expected rewards may move is exact: just beyond, a change is known to alter it, or none does.
        """,
    ),
    (
        "constant",
        {"action": "red"},
        THREE,
        """
        Red, because this rule takes it for everybody.
        It does not read expected rewards.
        The rule constant:red gives no scores to actions.
        Alone, Ann would have chosen red too.
        Alone, Ben would have chosen green.
        Alone, Cem would have chosen blue.
        Instead of green it gives Ann 0.400 more, Ben 0.215 less and Cem 0.100 less expected reward.
        Instead of blue it gives Ann 0.700 more, Ben 0.200 more and Cem 0.300 less expected reward.
        The same is decided without Ann, Ben or Cem, and if one of them had no preference.
        Nothing that stakeholders could report, from 0 to 1, would change the decision.
        Other weights were not looked for: the rule has no weights.
        How far expected rewards may move is exact: just beyond, a change is known to alter it, or none does.
        """,
    ),
]


@pytest.mark.parametrize(("name", "parameters", "rewards", "text"), SAID)
def test_what_is_said_of_a_decision(name, parameters, rewards, text):
    names = {
        "stakeholders": ("Ann", "Ben", "Cem")[: len(rewards)],
        "actions": ("red", "green", "blue")[: len(rewards[0])],
    }
    (explained,) = explain(strategies.create(name, parameters), ExpectedRewards(rewards, **names))
    assert explained.sentences() == tuple(textwrap.dedent(text).strip().split("\n"))


def lent(given):
    """Return what a loan is expected to bring a bank, and an applicant who likes it less in the north."""
    share, north = given["income"] / 100, given["town"] == "north"
    rewards = np.array([[share, 0.5 + 0 * share], [0.6 - 0.2 * north, 0.5 + 0 * share]])
    return ExpectedRewards(rewards, stakeholders=("Bank", "Applicant"), actions=("Grant", "Deny"))


def explained_loan(row):
    contexts = Contexts(
        {"income": np.array([50.0, 30.0, 70.0, 52.0]), "town": np.array(["north", "south", "south", "south"])}
    )
    (explained,) = explain(
        strategies.utilitarian, lent(contexts), rows=[row], known=Known(contexts=contexts), observed=contexts,
        decide=lambda given: strategies.utilitarian(lent(given)).codes,
    )  # fmt: skip
    return explained


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (
            0,
            """
            Other contexts were looked for among the 4 observed contexts given: 2 are decided differently.
            The nearest of them, at distance 0.587, gets Grant; it differs in town south in place of north and income 52 in place of 50.
            With town south in place of north and all else equal, Grant would be decided.
            With income 70 in place of 50 and all else equal, Grant would be decided.
            These are associations of the models with what was observed, not causes.
            """,
        ),
        (
            2,
            """
            Other contexts were looked for among the 4 observed contexts given: 2 are decided differently.
            The nearest of them, at distance 1.370, gets Deny; it differs in income 50 in place of 70 and town north in place of south.
            With income 30 in place of 70 and all else equal, Deny would be decided.
            These are associations of the models with what was observed, not causes.
            """,
        ),
    ],
)
def test_what_is_said_of_other_contexts(row, text):
    """Incomes have quartiles 45 and 56.5; a distance is the mean of that of incomes, in these ranges, and of towns."""
    said = textwrap.dedent(text).strip().split("\n")
    change = sentences_by_topic(explained_loan(row))["change"]
    assert list(change[-len(said) :]) == said


CHANCES = Forecast(
    ("Repaid", "Lost"), ((0.9, 0.1), (0.7, 0.3)), None, None, None, None, "", "", True, "calibrated"
)  # fmt: skip
GRADES = Forecast((), None, (11.6, 9.0), (0.5, 0.4), (18.6, 17.0), 0.95, "grade", "points", True, "calibrated")


@pytest.mark.parametrize(
    ("forecast", "text"),
    [
        (
            CHANCES,
            """
            After Grant, outcomes are likely with these probabilities: Repaid 0.900, Lost 0.100.
            After Deny, outcomes are likely with these probabilities: Repaid 0.700, Lost 0.300.
            These are probabilities of an outcome model that was calibrated, or chosen, on rows that it had not seen.
            """,
        ),
        (
            replace(CHANCES, depends_on_action=False, basis="checked"),
            """
            The forecast of the outcome does not depend on the action.
            Whatever is done, outcomes are likely with these probabilities: Repaid 0.900, Lost 0.100.
            The outcome model was not calibrated; on the untouched rows its mean probabilities agree with the shares that were observed.
            """,
        ),
        (
            replace(CHANCES, probabilities=None, basis="uncalibrated"),
            "The outcome model is not calibrated, so no probabilities of outcomes are given.",
        ),
        (
            GRADES,
            """
            After Grant, grade is 11.600 points on average; with probability 0.950 it is from 0.500 to 18.600.
            After Deny, grade is 9.000 points on average; with probability 0.950 it is from 0.400 to 17.000.
            """,
        ),
        (
            replace(GRADES, low=None, unit=""),
            """
            After Grant, grade is 11.600 on average.
            After Deny, grade is 9.000 on average.
            """,
        ),
    ],
)
def test_what_is_said_of_a_person(forecast, text):
    traits = Trait("income", 42000.0, 0.148, 0.012, 2000), Trait("town", "north", None, 0.3, 2124)
    told = replace(explained_loan(2), person=Person(traits, forecast, "", "rule", "Grant"))
    assert list(sentences_by_topic(told)["person"]) == [
        "Income is 42000: 0.148 of 2000 training rows have less, 0.012 the same.",
        "Town is north: 0.300 of 2124 training rows have the same.",
        *textwrap.dedent(text).strip().split("\n"),
    ]


RAISE = Change("Deny", 0.6, (Difference("income", 70.0, 30.0), Difference("town", "south", "north")))
TRIED = "that training rows have were tried: no plausible change leads to another action."


@pytest.mark.parametrize(
    ("recourse", "said"),
    [
        (Recourse((), (), 0, 5, reason="far"), ["What the person could change was not looked for: far."]),
        (Recourse(("income",), (), 12, 5, everything=True), [f"Of income, all values {TRIED}"]),
        (Recourse(("income", "town"), (), 12, 5), [f"Of income and town, 12 changes {TRIED}"]),
        (
            Recourse(("income", "town"), (RAISE,), 12, 5),
            [
                "If income were 30 (here 70) and town were north (here south), Deny would be decided: 0.600 interquartile "
                "ranges away.",
                "Only income and town may change. Of texts, a change counts 1.",
                "Each change was decided again by the same policy, and is no more unlike the training rows than the "
                "person is.",
            ],
        ),
    ],
)
def test_what_is_said_of_what_a_person_could_change(recourse, said):
    assert list(sentences_by_topic(replace(explained_loan(2), recourse=recourse))["change"][: len(said)]) == said
