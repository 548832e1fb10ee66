"""Letters to the person concerned: plain, complete in every language, without a number in the unit of a rule."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.explanation import (
    Addressee,
    Change,
    Forecast,
    Labels,
    Person,
    Recourse,
    Trait,
    explain,
    for_person,
)
from accordant.explanation.contexts import Difference
from accordant.explanation.letter import _shared_100, _of_100
from accordant.languages import languages
from accordant.report.explanation import letter_text, render_letters
from accordant.utilities import ExpectedRewards

from .conftest import ALL_RULES, make_expected, make_known, make_rule

TRAITS = (
    Trait("Income", 42000.0, 0.148, 0.012, 2000), Trait("Credit_Score", 900.0, 0.97, 0.01, 2000),
    Trait("Town", "north", None, 0.3, 2124), Trait("Job", "", None, 0.0, 2124), Trait("Steps", 2.0, 0.1, 0.4, 2000),
    Trait("Loan", 10.0, 0.004, 0.001, 2000),
)  # fmt: skip
CHANCES = Forecast(
    ("Repaid", "Lost"), ((0.9, 0.1), (0.7, 0.3), (0.999, 0.001)), None, None, None, None, "", "", True, "calibrated"
)
LEVEL = Forecast(
    (), None, (11.6, 9.0, 8.0), (0.5, 0.4, 0.3), (18.6, 17.0, 16.0), 0.95, "grade", "points", True, "calibrated"
)
RECOURSE = Recourse(("Loan",), (Change("green", 0.6, (Difference("Loan", 20000.0, 12800.0),)),), 100, 2124)
WHO = Addressee(
    person="Ann",
    title="Loans",
    appeal_route="write to the office within four weeks",
    responsible_party="the bank",
    source="run",
)


def make_explained(name="utilitarian", parameters=None, row=0, **person):
    expected = make_expected(8, seed=4)
    rule, known = make_rule(name, parameters, expected), make_known(expected)
    (found,) = explain(rule, expected, rows=[row], known=known)
    given = {"forecast": CHANCES, "unusual": "", "settled": "rule", "action": found.choice.action} | person
    return replace(found, person=Person(TRAITS, **given), recourse=RECOURSE)


def syllables(word):
    """Groups of vowels, without a silent e: as good as such formulas are."""
    groups = re.findall(r"[aeiouy]+", word.lower())
    silent = word.lower().endswith("e") and not word.lower().endswith("le") and len(groups) > 1
    return max(1, len(groups) - silent)


def grade(text):
    """School grade by Kincaid and others (1975)."""
    sentences = [part for part in re.split(r"[.!?:;](?:\s|$)", text) if part.strip()]
    words = re.findall(r"[A-Za-z']+", text)
    return 0.39 * len(words) / len(sentences) + 11.8 * sum(map(syllables, words)) / len(words) - 15.59


def sentences_of(letter):
    return [letter.decided, letter.reason, *letter.expected, *letter.changes, *letter.sure, *letter.objection]


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "parameters"), ALL_RULES)
def test_letters_of_all_rules_can_be_read_in_grade_8(name, parameters):
    letter = for_person(make_explained(name, parameters), WHO)
    assert grade(" ".join(sentences_of(letter))) <= 8
    assert letter.decision
    assert letter.reason.startswith(letter.decision[0].upper())


def test_the_formula_tells_plain_from_difficult():
    plain = "The cat sat on the mat. The dog ran to the park."
    hard = "Notwithstanding institutional considerations, probabilistic characterisations necessitate interpretation."
    assert grade(plain) < 2
    assert grade(hard) > 15


@pytest.mark.few(4)
@pytest.mark.parametrize("code", languages())
@pytest.mark.parametrize(("name", "parameters"), ALL_RULES)
def test_no_number_stands_in_the_unit_of_a_rule(code, name, parameters):
    explained = make_explained(name, parameters)
    letter = for_person(explained, WHO, code=code)
    said = " ".join([*sentences_of(letter), *(each.decision + each.best for each in letter.wishes)])
    said = said.replace(explained.rule, "")
    allowed = {"100", "90", "10", "70", "30", "12,800", "12.800", "20,000", "20.000", "99", "1"}
    assert {each.strip(".,") for each in re.findall(r"[\d.,]*\d[\d.,]*", said)} <= allowed
    assert not re.search(r"[{}]|\bNone\b|\bnan\b|score|Δ|expected reward", said)
    for jargon in ("utilit", "maximin", "Nash", "regret", "stakeholder", "reward"):
        assert jargon not in said


@pytest.mark.parametrize(
    ("shares", "told"),
    [
        ((1.0,), ["100"]),
        ((0.79, 0.005, 0.205), ["79", "<1", "21"]),
        ((0.035, 0.63, 0.335), ["3", "63", "34"]),
        ((1 / 3, 1 / 3, 1 / 3), ["33", "33", "33"]),
        ((0.004, 0.004, 0.992), ["<1", "<1", "99"]),
        ((0.005, 0.005, 0.005, 0.005, 0.98), ["<1", "<1", "<1", "<1", "98"]),
        ((0.255, 0.255, 0.49), ["25", "25", "49"]),
        ((0.125, 0.125, 0.375, 0.375), ["12", "12", "38", "38"]),
    ],
)
def test_shares_of_a_hundred_add_up_where_equal_ones_can_be_told_as_equal(shares, told):
    assert _shared_100(shares) == told


def test_what_a_letter_says():
    letter = for_person(make_explained(action="blue"), WHO)
    assert letter.title == "Loans"
    assert letter.decided == "The decision is: blue."
    assert letter.expected == (
        "Think of 100 people with facts like yours, and the same decision. This is what we expect: Repaid: about >99; Lost: about <1.",
    )
    assert [each.usual for each in letter.known] == [
        "15 in 100 have less", "high: 97 in 100 have less", "30 in 100 have this", "nobody else has this",
        "40 in 100 have this", "low: >99 in 100 have more",
    ]  # fmt: skip
    assert [each.value for each in letter.known] == ["42,000", "900", "north", "not known", "2", "10"]
    assert letter.objection == ("Write to the office within four weeks.", "Who answers for the decision: the bank.")
    assert letter.source == "run, row 0"
    assert letter.wishes[0].who == "You"


def test_changes_are_those_that_are_better_for_the_person():
    E = ExpectedRewards([[0.2, 0.9], [0.9, 0.1]], stakeholders=["Ann", "Ben"], actions=["red", "green"])
    (found,) = explain(make_rule("utilitarian"), E)
    person = Person(TRAITS, CHANCES, "", "rule", found.choice.action)
    explained = replace(found, person=person, recourse=RECOURSE)
    letter = for_person(explained, WHO)
    assert found.choice.action == "green" or letter.changes[0] == (
        "The decision would be “green” with these changes: Loan 12,800 (now 20,000)."
    )
    content = for_person(explained, replace(WHO, person="Ben" if found.choice.action == "red" else "Ann"))
    assert content.changes == ("No other decision would be better for you. So we list no changes.",)
    nothing = for_person(replace(explained, recourse=Recourse((), (), 0, 5, reason="far")), replace(WHO, person=""))
    assert nothing.changes == ("We cannot say what would change the decision in your case.",)
    assert "did not look" in for_person(found, WHO).changes[0]
    none = for_person(replace(explained, recourse=replace(RECOURSE, changes=())), replace(WHO, person=""))
    assert none.changes[0].startswith("We looked at what you can change (Loan).")


@pytest.mark.parametrize(
    ("person", "decided"),
    [
        ({"settled": "referred", "action": ""}, "There is no decision yet."),
        ({"settled": "fall_back", "action": "red"}, "It is always taken when facts are as unusual as here."),
        ({"settled": "adopted", "action": "red", "why": "It is kinder."}, "Their reason: It is kinder."),
        ({"settled": "drawn", "action": "red", "chance": 0.25}, "The chance for this was about 25 in 100."),
    ],
)
def test_decisions_that_are_not_the_rules_choice(person, decided):
    letter = for_person(make_explained(unusual="far", **person), WHO)
    assert decided in letter.decided
    assert letter.reason == ""
    assert letter.changes == ("We did not look for what would change the decision.",)
    assert letter.sure[0].startswith("Some facts about you are unusual.")
    assert (letter.decision == "") == (person["settled"] == "referred")


def test_how_close_a_decision_was():
    def said(first, second, name="utilitarian"):
        E = ExpectedRewards([[first, second]], stakeholders=["Ann"], actions=["red", "green"])
        (found,) = explain(make_rule(name, {"action": "green"} if name == "constant" else None), E)
        return for_person(found).sure[0]

    assert "as close as can be" in said(0.5, 0.5)
    for gap, words in ((0.019, "very close"), (0.021, "close"), (0.099, "close"), (0.101, "not close")):
        assert said(0.5, 0.5 + gap).startswith(f"This was {words}."), gap
    assert "does not weigh what people want" in said(0.5, 0.9, "constant")


@pytest.mark.parametrize("code", languages())
def test_a_rule_that_was_learned_from_made_up_data_says_so_first(code):
    explained = make_explained()
    (first, *rest) = for_person(explained, replace(WHO, simulated=True), code=code).sure
    assert ("made-up data" in first) == (code == "en")
    assert tuple(rest) == for_person(explained, WHO, code=code).sure


def test_what_is_likely_adds_up_to_100_people():
    chances = ((0.3335, 0.3335, 0.333), (0.795, 0.014, 0.191), (0.9991, 0.0009, 0.0))
    likely = Forecast(("Repaid", "Part", "Lost"), chances, None, None, None, None, "", "", True, "calibrated")
    for action, counts in {"red": "33 33 33", "green": "80 1 19", "blue": ">99 <1 0"}.items():
        (told,) = for_person(make_explained(forecast=likely, action=action), WHO).expected
        assert re.findall(r"about ([<>]?\d+)", told) == counts.split()


def test_continuous_outcomes_and_unchecked_chances():
    letter = for_person(make_explained(forecast=LEVEL, action="red"), WHO)
    assert letter.expected == (
        "On average we expect for people like you: grade 11.6 points. For 95 in 100 of them it will be from 0.5 to 18.6.",
    )
    german = for_person(make_explained(forecast=replace(LEVEL, low=None, unit=""), action="red"), WHO, code="de")
    assert german.expected == ("Im Schnitt erwarten wir bei Menschen wie Ihnen: grade 11,6.",)
    unsure = replace(CHANCES, probabilities=None, basis="uncalibrated")
    assert "do not give chances" in for_person(make_explained(forecast=unsure), WHO).expected[0]


def test_labels_per_language_and_groups_of_a_stakeholder():
    labels = {
        "de": Labels(
            title="Kredite",
            actions={"blue": "Blau"},
            stakeholders={"Ben": "die Bank"},
            values={"Town": {"north": "Nord"}, "Steps": {"2": "zwei"}},
            appeal_route="Schreiben Sie uns",
        )
    }
    letter = for_person(make_explained(action="blue"), replace(WHO, labels=labels), code="de")
    assert (letter.title, letter.decision, letter.language) == ("Kredite", "Blau", "de")
    assert {each.who for each in letter.wishes} == {"Sie", "Die Bank", "Cem"}
    assert [each.value for each in letter.known][2:5:2] == ["Nord", "zwei"]
    assert letter.objection[0] == "Schreiben Sie uns."
    from accordant.explanation.labels import LabelledNames
    from accordant.languages import language

    names = LabelledNames(Labels(stakeholders={"Resident": "residents"}), language("en"))
    assert names.stakeholder("Resident (type 1)") == "residents (type 1)"
    assert names.stakeholder("Other_people (b)") == "Other people (b)"


def test_letters_as_a_page_and_as_text():
    letters = [for_person(make_explained(row=row), replace(WHO, title="<b>Loans & more")) for row in (0, 1)]
    html = render_letters(letters)
    assert html.count("<article") == 2
    assert "<b>Loans" not in html
    assert 'lang="en"' in html
    assert "<script" not in html
    assert 'lang="de"' in render_letters([for_person(make_explained(), code="de")])
    text = "\n".join(letter_text(letters[0]))
    assert all(part in text for part in ("What would change the decision", "How to object", "You – would be best"))
    with pytest.raises(InputError, match="in one language; found de, en"):
        render_letters([letters[0], for_person(make_explained(), code="de")])
    with pytest.raises(UnknownNameError, match="language"):
        for_person(make_explained(), code="fr")


def test_what_does_not_fit_one_page_is_counted():
    many = make_explained()
    many = replace(many, person=replace(many.person, traits=TRAITS * 3), favourites=many.favourites * 4)
    letter = for_person(many, WHO)
    assert len(letter.known) == 13
    assert letter.known[-1].name == "and 6 more"
    assert [each.who for each in letter.wishes][8:] == ["and 4 more"]
    text = letter_text(letter)
    assert "- and 6 more" in text
    assert "- and 4 more" in text


@pytest.mark.parametrize(
    ("below", "same", "usual"),
    [
        (None, 0.0, "nobody else has this"), (None, 0.001, "<1 in 100 have this"),
        (0.5, 0.05, "5 in 100 have this"), (0.5, 0.04, "50 in 100 have less"),
        (0.92, 0.04, "92 in 100 have less"), (0.94, 0.04, "high: 94 in 100 have less"),
        (0.96, 0.04, "high: 96 in 100 have less"), (0.999, 0.0, "high: >99 in 100 have less"),
        (0.0, 0.04, "low: 96 in 100 have more"), (0.02, 0.04, "low: 94 in 100 have more"),
        (0.04, 0.04, "4 in 100 have less"), (0.0, 0.0, "low: 100 in 100 have more"),
    ],
)  # fmt: skip
def test_a_value_is_high_or_low_at_the_ends_of_training_rows_only(below, same, usual):
    explained = make_explained()
    trait = Trait("Income", 42000.0, below, same, 2000)
    (known,) = for_person(replace(explained, person=replace(explained.person, traits=(trait,))), WHO).known
    assert known.usual == usual


def test_where_a_decision_stands_for_each():
    ladder, places = (
        [0.0, 0.1, 0.125, 0.5, 0.875, 0.9, 1.0],
        ["worst", "low", "middle", "middle", "middle", "high", "best"],
    )
    E = ExpectedRewards(
        [ladder, [0.25 + share / 2 for share in (1, 0.9375, 0.875, 0.5, 0.125, 0.0625, 0)], [0.5] * 7],
        stakeholders=["Ann", "Ben", "Cem"], actions=list("abcdefg"),
    )  # fmt: skip
    said = {"worst": "the worst of all", "low": "nearly the worst", "middle": "in between", "high": "nearly the best",
            "best": "the best of all"}  # fmt: skip
    for k, action in enumerate(E.actions):
        (explained,) = explain(make_rule("constant", {"action": action}), E)
        ann, ben, cem = for_person(explained, replace(WHO, person="Ann")).wishes
        assert (ann.who, ann.best, ann.decision) == ("You", "g", said[places[k]])
        assert (ben.who, ben.best, ben.decision) == ("Ben", "a", said[places[6 - k]])
        assert (cem.who, cem.best, cem.decision) == ("Cem", "all the same", "all the same")


@pytest.mark.parametrize(("mean", "told"), [(99.94, "99.9"), (-99.94, "-99.9"), (100.0, "100"), (-1234.5, "-1,234")])
def test_large_outcomes_are_told_without_decimals(mean, told):
    level = replace(LEVEL, means=(mean, 0.0, 0.0), low=None)
    letter = for_person(make_explained(forecast=level, action="red"), WHO)
    assert (
        letter.expected[0].replace("−", "-") == f"We expect this on average for people like you: grade {told} points."
    )


def test_shares_out_of_100_never_claim_none_or_all():
    assert [_of_100(share) for share in (0.0, 0.001, 0.004, 0.5, 0.996, 1.0)] == ["0", "<1", "<1", "50", ">99", "100"]
    assert np.isclose(float(_of_100(0.123)), 12)
