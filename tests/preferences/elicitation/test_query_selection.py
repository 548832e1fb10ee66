"""Sessions: why they stop, what is asked, what answers teach, and that a settled decision is as right as it says."""

from __future__ import annotations

import numpy as np
import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.preferences.elicitation import (
    Posterior,
    ChosenBy,
    Inquiry,
    NormalPrior,
    OwnChoice,
    Standing,
    Stopping,
    all_pairs,
    elicit,
    simulated_person,
)
from accordant.preferences.elicitation.decision_value import Verdicts

PRIOR = NormalPrior.isotropic(3, 4.0)


def inquiry(seed=0, n_items=6, **changes):
    items = np.random.default_rng(seed).normal(size=(n_items, 3))
    given = {"items": items, "decision": OwnChoice(items[:3]), "samples": 200} | changes
    return Inquiry(**given)


def held(plan, seed=0, answer=None, prior=PRIOR):
    generator = np.random.default_rng(seed)
    truth = generator.multivariate_normal(prior.mean, prior.covariance)
    respond = simulated_person(truth, plan.items, generator) if answer is None else answer
    return truth, elicit(plan, Posterior(prior), respond, generator)


def test_every_reason_to_stop():
    steep = NormalPrior.isotropic(3, 100.0)
    _, found = held(inquiry(stopping=Stopping(regret=0.0, questions=100)), 1, prior=steep)
    assert found.stopped == "settled" and found.standing.probability >= 0.95
    _, found = held(inquiry(stopping=Stopping(level=1.0, regret=0.5)))
    assert found.stopped == "small regret" and found.standing.regret <= 0.5 and found.standing.probability < 1
    _, found = held(inquiry(stopping=Stopping(regret=0.0, questions=2)))
    assert found.stopped == "asked enough" and len(found.answered) == 2
    _, found = held(inquiry(), answer=lambda question: None)
    assert found.stopped == "stopped by the person" and found.answered == ()


def test_when_every_pair_was_asked_it_is_enough():
    plan = inquiry(pairs=np.array([[0, 1], [4, 5]]), stopping=Stopping(level=1.0, regret=0.0))
    _, found = held(plan, answer=lambda question: "cannot say")
    assert found.stopped == "asked enough"
    assert sorted(sorted((q.first, q.second)) for q, _ in found.answered) == [[0, 1], [4, 5]]
    _, found = held(inquiry(pairs=np.empty((0, 2), dtype=int)))
    assert (found.stopped, found.answered) == ("asked enough", ())


def test_no_pair_is_asked_twice_even_if_it_was_given_twice():
    plan = inquiry(pairs=np.vstack([all_pairs(6), all_pairs(6)[:, ::-1]]), stopping=Stopping(1.0, 0.0, 100))
    _, found = held(plan, answer=lambda question: "cannot say")
    asked = [tuple(sorted((q.first, q.second))) for q, _ in found.answered]
    assert len(asked) == len(set(asked)) == 15


def test_what_answers_teach():
    for answer, rows in (("first", [1]), ("second", [-1]), ("equal", [1, -1]), ("cannot say", [])):
        plan = inquiry()
        session = plan.begin(Posterior(PRIOR), np.random.default_rng(1))
        question = session.question
        session.answer(answer)
        difference = plan.items[question.first] - plan.items[question.second]
        assert session.belief.differences.tolist() == [(sign * difference).tolist() for sign in rows]
        assert session.answered == [(question, answer)]


def test_the_same_generator_and_answers_give_the_same_questions():
    runs = [held(inquiry(), seed=7)[1] for _ in range(2)]
    assert runs[0].answered == runs[1].answered
    assert np.array_equal(runs[0].standing.chances, runs[1].standing.chances)


def test_either_item_may_be_shown_first():
    shown = [inquiry().begin(Posterior(PRIOR), np.random.default_rng(seed)).question for seed in range(30)]
    lower_first = sum(q.first < q.second for q in shown)
    assert 5 <= lower_first <= 25


def test_one_action_is_settled_at_once():
    plan = inquiry(decision=OwnChoice(np.zeros((1, 3))))
    _, found = held(plan)
    assert (found.stopped, len(found.answered), found.standing.probability) == ("settled", 0, 1.0)


def test_questions_are_about_the_decision():
    """Only the first feature decides, and only one pair tells about it."""
    items = np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 3.0, 0], [0, -3.0, 0], [0, 0, 3.0], [0, 0, -3.0]])
    for criterion, pair in (
        ("decision_information", {0, 1}), ("expected_regret_reduction", {0, 1}), ("parameter_information", None)
    ):  # fmt: skip
        plan = Inquiry(
            items, ChosenBy(lambda theta: (theta[:, 0] > 0).astype(int), 2),
            np.array([[0, 1], [2, 3], [4, 5]]), criterion, samples=2000,
        )  # fmt: skip
        question = plan.begin(Posterior(PRIOR), np.random.default_rng(0)).question
        asked = {question.first, question.second}
        assert asked == pair if pair else asked != {0, 1}


def test_a_standing_by_hand():
    losses = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [9.0, 0.0]])
    standing = Standing.of(Verdicts(np.array([0, 0, 0, 1]), losses))
    assert standing.chances.tolist() == [0.75, 0.25]
    assert standing.regrets.tolist() == [2.25, 0.75]
    assert (standing.decided, standing.probability, standing.regret) == (1, 0.25, 0.75)  # the less costly mistake
    tied = Standing(np.array([0.2, 0.5, 0.3]), np.array([1.0, 1.0, 1.0]))
    assert tied.decided == 1


def test_reasons_in_their_order():
    sure, cheap, open_ = (
        Standing(np.array(chances), np.array(regrets))
        for chances, regrets in (([0.96, 0.04], [0.0, 3.0]), ([0.6, 0.4], [0.04, 0.1]), ([0.6, 0.4], [0.2, 0.3]))
    )
    rule = Stopping(questions=3)
    assert [rule.reason(each, 0) for each in (sure, cheap, open_)] == ["settled", "small regret", None]
    assert [rule.reason(open_, n) for n in (2, 3, 4)] == [None, "asked enough", "asked enough"]


@pytest.mark.long
def test_a_settled_decision_is_right_as_often_as_it_says():
    """If truths come from the prior, the stated probability holds at any stopping time (Bayesian coherence)."""
    right, stated = [], []
    for seed in range(80):
        plan = inquiry(seed, stopping=Stopping(level=0.9, regret=0.0, questions=8))
        truth, found = held(plan, seed + 1000)
        right.append((plan.items[:3] @ truth).argmax() == found.standing.decided)
        stated.append(found.standing.probability)
    error = np.sqrt(np.mean(np.array(stated) * (1 - np.array(stated))) / len(stated))
    assert abs(np.mean(right) - np.mean(stated)) < 3.5 * error


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: inquiry(items=np.zeros(3)), "items have shape"),
        (lambda: inquiry(pairs=np.array([0, 1])), "pairs have shape"),
        (lambda: inquiry(pairs=np.array([[0.0, 1.0]])), "whole numbers"),
        (lambda: inquiry(pairs=np.array([[0, 6]])), "positions from 0 to 5"),
        (lambda: inquiry(pairs=np.array([[2, 2]])), "two different positions"),
        (lambda: inquiry(samples=1), "samples is 1"),
        (lambda: inquiry(criterion="variance"), "unknown criterion 'variance'"),
        (
            lambda: inquiry().begin(Posterior(NormalPrior.isotropic(2)), np.random.default_rng(0)),
            "items have 3 features",
        ),
        (lambda: Stopping(level=0.0), "level is 0.0"),
        (lambda: Stopping(level=1.01), "level is 1.01"),
        (lambda: Stopping(regret=-1.0), "regret is -1.0"),
        (lambda: Stopping(questions=-1), "questions is -1"),
        (lambda: simulated_person([1.0], np.eye(2), np.random.default_rng(0)), "coefficients has shape"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_answers_that_are_refused():
    session = inquiry().begin(Posterior(PRIOR), np.random.default_rng(0))
    with pytest.raises(UnknownNameError, match="unknown answer 'frist'; did you mean 'first'"):
        session.answer("frist")
    session.stop()
    assert (session.question, session.stopped) == (None, "stopped by the person")
    with pytest.raises(InputError, match="no question to answer: stopped by the person"):
        session.answer("first")


def test_a_least_number_of_questions():
    """A prior that is sure does not settle a decision before the person has said so much."""
    sure = NormalPrior(np.array([5.0, 0.0, 0.0]), 0.01 * np.eye(3))
    plan = inquiry(stopping=Stopping(questions=5))
    assert held(plan, prior=sure)[1].answered == ()
    patient = inquiry(stopping=Stopping(questions=5, least=3))
    found = held(patient, prior=sure)[1]
    assert (len(found.answered), found.stopped) == (3, "settled")
    short = held(inquiry(stopping=Stopping(questions=2, least=3)), prior=sure)[1]
    assert (len(short.answered), short.stopped) == (2, "asked enough")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Stopping(questions=2.5), "questions is 2.5; allowed: a whole number"),
        (lambda: Stopping(least=-1), "least is -1"),
        (lambda: inquiry(samples=2.5), "samples is 2.5; allowed: a whole number"),
        (lambda: inquiry(decision=OwnChoice(np.eye(2))), "items have 3 features; allowed: 2, as in the decision"),
        (lambda: simulated_person([1.0], [[1.0]], np.random.default_rng(0), lapse=7), "lapse is 7"),
        (
            lambda: ChosenBy(lambda theta: np.full(len(theta), -1), 2).verdicts(np.zeros((3, 1))),
            "returned -1 to -1; allowed: 0 to 1",
        ),
    ],
)
def test_numbers_that_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
