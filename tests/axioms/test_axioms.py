"""Axioms by worked examples, and every trial of every check against its twin in plain Python."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from accordant import strategies
from accordant.axioms import Setting, axioms, sample
from accordant.axioms.axiom import weights_are_equal
from accordant.axioms.consistency import condorcet_winners
from accordant.axioms.incentives import single_favourites
from accordant.axioms.invariance import orders
from accordant.axioms.outcome import outcome_of, sets_differ, somewhere, within
from accordant.axioms.incentives import without
from accordant.axioms.pareto import transfer
from accordant.axioms.invariance import ranks, redraw_in_order, shift_row
from accordant.axioms.incentives import reports, strict
from accordant.axioms.subjects import registered_rules
from accordant.axioms.table import ordered_names
from accordant.errors import InputError, NotFittedError, UnknownNameError
from accordant.strategies.compromise import Compromise, Scored
from accordant.utilities import ExpectedRewards

SHAPES = [(1, 1), (1, 3), (2, 1), (2, 2), (2, 3), (3, 3), (3, 4)]


def expected(*rows, stakeholders="ABCDEFGH", actions="wxyzuv"):
    values = np.array(rows, dtype=float)
    return ExpectedRewards(values, stakeholders=stakeholders[: len(rows)], actions=actions[: values.shape[1]])


def check(axiom, rule, E, seed=0):
    rule = strategies.create(rule) if isinstance(rule, str) else rule
    return axioms.create(axiom).check(rule, E, seed)


@pytest.mark.parametrize("name", ordered_names())
def test_every_axiom_says_what_it_is(name):
    axiom = axioms.create(name)
    assert axiom.name == name
    assert len(axiom.head) <= 8
    assert axiom.statement and axiom.source
    assert axiom.about in {"winners", "decisions", "ranking"}


def without_doubles(E):
    """Contexts in which no two rows and no two columns are equal: there a changed matrix tells what was changed."""
    matrices = [E.values[:, :, t] for t in range(E.n_contexts)]
    single = [len(np.unique(m, axis=0)) == m.shape[0] and len(np.unique(m, axis=1).T) == m.shape[1] for m in matrices]
    return E.take(np.flatnonzero(single)[:4])


def clear(before, after, t):
    """Whether every score in a context is either the best or clearly lower."""
    outcomes = [before, *([] if after is None else [after[1]])]
    return all((each.winners[:, t] == each.near[:, t]).all() for each in outcomes)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in ordered_names() if name != "non_dictatorship"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_trial_says_what_the_twin_says(twins, name, shape):
    E = without_doubles(sample(12, seed=sum(shape), n_stakeholders=shape[0], n_actions=shape[1]))
    axiom = axioms.create(name)
    for rule in registered_rules(E):
        setting = Setting.of(rule, E, seed=1)
        if axiom._inapplicable(setting):
            continue
        for number, trial in enumerate(axiom.trials(setting)):
            if name == "strategy_proofness" and number % 3:
                continue  # a third of the reports is enough here
            after = None if trial.after is None else trial.after[0]
            for t in np.flatnonzero(trial.judged & setting.before.known):
                if after is not None and not trial.after[1].known[t]:
                    continue
                before_matrix = E.values[:, :, t].tolist()
                after_matrix = None if after is None else after.values[:, :, t].tolist()
                found = twins[name](rule, before_matrix, after_matrix, (E.stakeholders, E.actions))
                if found and not trial.violated[t] and not clear(setting.before, trial.after, t):
                    continue  # a score within rounding of the best: the twin is strict, the check is not
                assert found == bool(trial.violated[t]), (rule.label, number, before_matrix, after_matrix)


@pytest.mark.long
@pytest.mark.parametrize("shape", [(2, 2), (3, 3)], ids=str)
def test_dictators_are_those_of_the_twin(twins, shape):
    E = sample(12, seed=5, n_stakeholders=shape[0], n_actions=shape[1])
    for rule in registered_rules(E):
        for t in range(12):
            alone = E.take(slice(t, t + 1))
            found = check("non_dictatorship", rule, alone)
            names = (E.stakeholders, E.actions)
            if outcome_of(rule, alone).known[0] and found.judged:
                assert (found.violated > 0) == twins["non_dictatorship"](
                    rule, alone.values[:, :, 0].tolist(), None, names
                )


@pytest.mark.long
@pytest.mark.parametrize("name", ordered_names())
def test_witnesses_are_confirmed_in_plain_python(confirms, name):
    E = sample(300, seed=3, n_stakeholders=4)
    seen = 0
    for rule in registered_rules(E):
        finding = check(name, rule, E)
        witness = finding.witness
        assert (witness is None) == (finding.violated == 0)
        assert finding.violated <= finding.judged <= 300
        if witness is None or name == "non_dictatorship":
            continue
        np.testing.assert_array_equal(witness.before.values, E.values[:, :, witness.context])
        after = None if witness.after is None else witness.after.values.tolist()
        assert confirms(name, rule, witness.before.values.tolist(), after, (E.stakeholders, E.actions)), rule.label
        assert witness.sentence
        seen += 1
    assert seen or name == "non_dictatorship"


def test_maximin_calls_a_dominated_action_a_winner_but_does_not_take_it():
    finding = check("strong_pareto", "maximin", expected([0.5, 0.5], [0.6, 0.9]))
    assert (finding.judged, finding.violated) == (1, 1)
    assert finding.witness.sentence == (
        "w wins although x is better for somebody and worse for nobody (the tie rule does not take it)"
    )
    assert finding.witness.before.winners == ("w", "x")
    assert finding.witness.before.chosen == "x"
    assert finding.witness.after is None


def test_weak_pareto_is_not_put_to_the_test_where_nothing_is_dominated():
    finding = check("weak_pareto", strategies.create("constant", {"action": "w"}), expected([1, 0], [0, 1]))
    assert (finding.judged, finding.violated) == (0, 0)
    finding = check("weak_pareto", strategies.create("constant", {"action": "w"}), expected([0, 1], [0, 1]))
    assert finding.witness.sentence == "w wins although everybody prefers x"


def test_condorcet_winner_of_the_textbook():
    # Condorcet's example against Borda: 3 voters rank x > w > y, 2 rank w > y > x; x wins by majority, w by points
    E = expected(*[[0.5, 1, 0]] * 3, *[[1, 0, 0.5]] * 2)
    assert condorcet_winners(E.values)[:, 0].tolist() == [False, True, False]
    finding = check("condorcet_consistency", "borda", E)
    assert finding.witness.sentence == "x beats every other action by majority, yet w wins"
    assert check("condorcet_consistency", "copeland", E).violated == 0


def test_no_condorcet_winner_in_a_cycle():
    E = expected([1, 0.5, 0], [0, 1, 0.5], [0.5, 0, 1])
    assert not condorcet_winners(E.values).any()
    assert check("condorcet_consistency", "borda", E).judged == 0


def test_utilitarian_is_indifferent_to_transfers_and_atkinson_is_not():
    E = expected([0.8, 0.2], [0.2, 0.2])
    assert check("pigou_dalton", "utilitarian", E).violated == 1
    assert check("pigou_dalton", "atkinson", E).violated == 0


def test_utilitarian_minds_the_unit_but_not_the_zero():
    E = expected([0.2, 0.0], [0.0, 0.3])
    assert check("scale_invariance", "utilitarian", E).violated == 1
    assert check("shift_invariance", "utilitarian", E).violated == 0


def test_borda_lets_a_third_action_decide_between_two():
    E = expected([1, 0.5, 0], [1, 0.5, 0], [0, 1, 0.5])
    assert check("pairwise_independence", "borda", E).violated == 1
    assert check("pairwise_independence", "utilitarian", E).violated == 0


def test_kalai_smorodinsky_changes_its_choice_without_an_action_that_it_did_not_take():
    # without z, w is the worst action for Bo and for nobody else the best: the scale changes
    finding = check("choice_independence", "kalai_smorodinsky", expected([1, 0.2, 0], [0, 0.8, 1]))
    assert finding.violated == 1
    assert len(finding.witness.after.actions) == 2


def test_instant_runoff_loses_a_winner_that_rises():
    E = expected([0.8, 0.6, 0.2], [0.6, 0.4, 1], [0, 0.8, 0.8], [1, 1, 0.2])
    finding = check("monotonicity", "instant_runoff", E)
    assert finding.violated == 1
    assert "no longer wins" in finding.witness.sentence
    assert check("monotonicity", "borda", E).violated == 0


def test_staying_away_pays_under_hurwicz():
    # with Ann the best-off lifts w and x to (1 + 0)/2; without her x has (0.4 + 0.4)/2 and w (1 + 0)/2
    finding = check("participation", "hurwicz", expected([1, 0.8], [0, 0.4], [1, 0.4]))
    assert finding.violated == 1
    assert len(finding.witness.after.stakeholders) == 2
    assert "by staying away" in finding.witness.sentence


def test_single_stakeholder_is_the_dictator():
    rule = strategies.create("stakeholder", {"stakeholder": "B"})
    E = expected([1, 0], [0, 1])
    finding = check("non_dictatorship", rule, E)
    assert (finding.judged, finding.violated) == (1, 1)
    assert finding.witness.sentence == "B's best action wins in every context"
    assert check("non_dictatorship", "utilitarian", E).violated == 0


def test_misreporting_pays_under_the_utilitarian_rule():
    # Ada's true rewards (0.6, 0.5) lose against Bo's (0, 1); she exaggerates to (1, 0) and w ties with x
    finding = check("strategy_proofness", "utilitarian", expected([0.6, 0.0], [0.0, 0.9]))
    assert finding.violated == 1
    assert finding.witness.sentence == "A truly gets 0 from x, and 0.6 from w by misreporting"
    dictator = strategies.create("stakeholder", {"stakeholder": "A"})
    assert check("strategy_proofness", dictator, expected([0.6, 0.0], [0.0, 0.9])).violated == 0


def test_strategy_proofness_is_not_judged_where_somebody_is_indifferent():
    assert check("strategy_proofness", "utilitarian", expected([0.6, 0.6], [0.0, 0.9])).judged == 0


@pytest.mark.long
@pytest.mark.parametrize("name", ordered_names())
@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1)], ids=str)
def test_one_stakeholder_or_one_action_is_no_error(name, shape):
    E = sample(9, n_stakeholders=shape[0], n_actions=shape[1])
    for rule in registered_rules(E):
        finding = check(name, rule, E)
        assert finding.violated <= finding.judged
    if shape[1] == 1 and name not in {"anonymity", "monotonicity", "participation"}:
        assert check(name, "utilitarian", E).violated == 0


def test_a_third_of_a_sample_is_in_tenths_and_a_third_in_halves():
    values = sample(300).values
    assert len(np.unique(values[:, :, ::3])) == 1200
    assert np.unique(values[:, :, 1::3]) == pytest.approx(np.arange(11) / 10)
    assert np.unique(values[:, :, 2::3]).tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("name", ordered_names())
def test_no_contexts_is_no_error(name):
    E = ExpectedRewards(np.zeros((2, 3, 0)), stakeholders="AB", actions="wxy")
    assert check(name, "utilitarian", E).judged == 0


@pytest.mark.few(5)
@pytest.mark.parametrize("name", ordered_names())
def test_same_seed_same_finding(name):
    E = sample(40, seed=8)
    first, second = (check(name, "kalai_smorodinsky", E, seed=4).to_json() for _ in range(2))
    assert first == second


def test_a_drawing_rule_is_not_judged():
    E = sample(5)
    for rule in (
        strategies.create("utilitarian", {"selection": "softmax", "temperature": 0.1}),
        strategies.create("random_dictatorship"),
    ):
        finding = check("anonymity", rule, E)
        assert finding.judged == 0
        assert "drawn" in finding.inapplicable


def test_unequal_weights_are_not_asked_for_impartiality():
    rule = strategies.create("utilitarian", {"weights": [1, 2, 1]})
    for name in ("anonymity", "pigou_dalton"):
        assert "weights are unequal" in check(name, rule, sample(5)).inapplicable
    assert not check("neutrality", rule, sample(5)).inapplicable


def test_a_rule_without_scores_has_no_ranking():
    rule = strategies.create("constant", {"action": "w"})
    assert "does not score" in check("pairwise_independence", rule, sample(5)).inapplicable


def test_stated_order_weights_fit_one_number_of_stakeholders():
    rule = strategies.create("generalised_gini", {"order_weights": [3, 2, 1]})
    assert "order weights" in check("participation", rule, sample(5)).inapplicable


def test_global_points_stay_those_of_training():
    E = sample(30)
    rule = strategies.create("kalai_smorodinsky", {"disagreement": "global", "ideal": "global"})
    with pytest.raises(NotFittedError):
        check("scale_invariance", rule, E)
    fitted = rule.fit(E)
    # points that do not move with the row make the unit matter, and make the order of two actions their own affair
    assert check("scale_invariance", fitted, E).violated > 0
    assert check("pairwise_independence", fitted, E).violated == 0
    assert check("participation", fitted, E).violated == 0


def test_a_status_quo_is_not_taken_away():
    rule = strategies.create("nash_bargaining", {"disagreement": "status_quo", "status_quo": "w"})
    finding = check("choice_independence", rule, sample(40))
    assert finding.judged > 0
    assert finding.witness is None or "without w" not in finding.witness.sentence


def test_single_precision_is_judged_in_double():
    E = sample(50, seed=2)
    single = ExpectedRewards(E.values.astype(np.float32), stakeholders=E.stakeholders, actions=E.actions)
    assert check("shift_invariance", "utilitarian", single).violated == 0
    assert check("scale_invariance", "relative_utilitarian", single).violated == 0


def test_without_drops_the_number_of_one_stakeholder():
    rule = strategies.create("utilitarian", {"weights": [1, 2, 3]})
    assert without(rule, 1).weights == (1, 3)
    rule = strategies.create("sufficientarian", {"floor": [0.1, 0.2, 0.3]})
    assert without(rule, 0).floor == (0.2, 0.3)
    rule = strategies.create("kalai_smorodinsky", {"disagreement": "global", "ideal": [1, 1, 0.9]}).fit(sample(9))
    assert without(rule, 2).ideal == (1, 1)
    assert [len(end) for end in without(rule, 2).training_range] == [2, 2]
    assert without(strategies.create("maximin"), 0) == strategies.create("maximin")


def test_a_rule_that_refuses_fewer_stakeholders_is_not_judged():
    @dataclass(frozen=True)
    class ForThree(Compromise):
        name = "for_three"

        def score(self, block, weights):
            if len(weights) != 3:
                raise InputError("this rule is for three stakeholders")
            return Scored(block.totals.copy())

    assert "this rule is for three stakeholders" in check("participation", ForThree(), sample(9)).inapplicable
    assert check("weak_pareto", ForThree(), sample(9)).judged > 0


def test_unknown_axiom_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean 'anonymity'"):
        axioms.create("anonimity")


def test_winners_tolerate_rounding_and_infinite_scores():
    scores = np.array([[1.0, -np.inf, 0.3], [1.0 - 1e-13, -np.inf, -np.inf], [0.9, -np.inf, 0.3 - 1e-10]])
    assert within(scores, 1e-12).tolist() == [[True, True, True], [True, True, False], [False, True, False]]
    assert within(scores, 1e-9)[2].tolist() == [False, True, True]


def test_sets_differ_only_if_clearly():
    before = outcome_of(strategies.create("utilitarian"), expected([0.5, 0.5, 0.2]))
    near = outcome_of(strategies.create("utilitarian"), expected([0.5, 0.5 - 1e-10, 0.2]))
    far = outcome_of(strategies.create("utilitarian"), expected([0.5, 0.49, 0.2]))
    assert not sets_differ(before, near)[0]
    assert sets_differ(before, far)[0]
    assert somewhere(np.zeros((2, 3, 0), dtype=bool)).shape == (0,)


def test_orders_are_all_of_few_and_some_of_many():
    generator = np.random.default_rng(0)
    assert orders(1, generator) == []
    assert len(orders(4, generator)) == 23
    many = orders(6, generator)
    assert all(sorted(order) == list(range(6)) for order in many)
    assert many[0] == [1, 0, 2, 3, 4, 5]


def test_rows_are_redrawn_in_their_order():
    generator = np.random.default_rng(0)
    row = np.floor(generator.random((5, 200)) * 4) / 4
    drawn = redraw_in_order(row, generator)
    np.testing.assert_array_equal(ranks(drawn), ranks(row))
    assert drawn.min() > 0 and drawn.max() < 1
    wide = redraw_in_order(np.tile(np.arange(120.0)[:, None] / 200, (1, 2)), generator)
    assert (np.diff(wide, axis=0) > 0).all()


def test_transfers_keep_the_sum_and_the_places():
    moved, amount = transfer(np.array([[0.8, 0.2], [0.2, 0.4]]), 0, 1, np.array([0.5, 1.0]))
    np.testing.assert_allclose(moved, [[0.65, 0.3], [0.35, 0.3]])
    np.testing.assert_allclose(amount, [0.15, 0.1])


def test_reports_are_strict_and_in_range():
    generator = np.random.default_rng(0)
    row = generator.random((4, 30))
    decided = generator.integers(0, 4, 30)
    every = list(reports(row, decided, generator))
    assert len(every) == 23 + 1 + 3 * 4
    for report in every:
        assert report.min() >= 0 and report.max() <= 1
    own = [report for report in every if not strict(report[None]).all()]
    # one action at 1 and the decided one at 0: where they are the same action it is at 1, and all stay distinct
    assert own == []


def test_favourites_are_single():
    E = expected([1, 1, 0], [0, 0.4, 0.5])
    assert single_favourites(E.values)[:, :, 0].tolist() == [[False] * 3, [False, False, True]]


def test_stakeholders_count_alike_without_weights_or_with_equal_ones():
    assert weights_are_equal(strategies.create("utilitarian"))
    assert weights_are_equal(strategies.create("utilitarian", {"weights": (2.0, 2.0, 2.0)}))
    assert not weights_are_equal(strategies.create("utilitarian", {"weights": (1.0, 2.0, 1.0)}))
    assert weights_are_equal(strategies.create("stakeholder", {"stakeholder": "s0"}))


def test_drawn_shifts_of_a_row_lie_between_the_furthest_and_differ():
    generator = np.random.default_rng(0)
    row = 0.3 + 0.4 * generator.random((3, 200))
    drawn, down, up = ((each - row)[0] for each in shift_row(row, generator))
    assert ((down - 1e-12 <= drawn) & (drawn <= up + 1e-12)).all()
    assert 0.4 < ((drawn - down) / (up - down)).mean() < 0.6
