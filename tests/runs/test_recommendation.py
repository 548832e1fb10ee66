"""Recommendations for a file: in batches, unless a strategy looks at the whole batch."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from accordant import strategies
from accordant.errors import InputError, MissingColumnError
from accordant.runs import read_run, write_run
from accordant.runs.decision_log import read_decisions
from accordant.runs.recommendation import recommend_rows, recommendations_as_json, write_recommendations, written_column
from accordant.runs.sections.explanation import document_of, explained_rows
from accordant.tables.frames import EXACT
from accordant.tables.text import written_cell


@pytest.fixture
def rows(tmp_path):
    generator = np.random.default_rng(5)
    frame = pd.DataFrame({"x": generator.normal(size=40), "kind": generator.choice(["1", "2"], 40), "group": 0})
    frame.to_csv(tmp_path / "new.csv", index=False)
    return tmp_path / "new.csv"


@pytest.mark.long
@pytest.mark.parametrize(("budget", "batches"), [(None, 4), ({"yes": 3}, 1)])
def test_budgets_hold_over_the_file_and_not_over_each_batch(monkeypatch, run_folder, rows, budget, batches):
    monkeypatch.setattr("accordant.runs.row_batches.ROWS_AT_ONCE", 10)
    run = read_run(run_folder)
    parameters = {"rule": "utilitarian", "floors": {"Bank": 0.0}, "budgets": budget}
    rule = strategies.create("constrained", parameters).for_problem(run.case.problem)
    run.policy.strategies_[rule.label] = rule
    found = list(recommend_rows(run, rows, rule.label))
    assert [batch.start for batch in found] == [0, 10, 20, 30][:batches]
    actions = np.concatenate([batch.recommended.decisions.actions for batch in found])
    assert len(actions) == 40
    assert budget is None or (actions == "yes").sum() <= 3


def test_a_strategy_that_draws_says_how_it_drew(run_folder, rows):
    run = read_run(run_folder)
    rule = strategies.create("utilitarian", {"selection": "epsilon_greedy", "epsilon": 1.0})
    rule = rule.for_problem(run.case.problem)
    run.policy.strategies_[rule.label] = rule
    found, _ = recommendations_as_json(run, rows, rule.label)
    for each in found:
        assert each["probabilities"] == {"yes": 0.5, "no": 0.5}
        assert each["action"] == ("yes" if each["draw"] < 0.5 else "no")
    draws = [each["draw"] for each in found]
    assert len(set(draws)) == 40 and {each["action"] for each in found} == {"yes", "no"}
    frame = pd.read_csv(rows, **EXACT)
    for row in (0, 17, 39):  # a row that is decided alone gets the same action
        alone = run.policy.recommend(frame.iloc[[row]], strategy=rule.label)
        assert alone.decisions.actions.tolist() == [found[row]["action"]]
    twice = run.policy.recommend(pd.concat([frame.iloc[[3]]] * 200), strategy=rule.label)
    assert 60 < (twice.decisions.actions == "yes").sum() < 140  # equal rows of one file draw each for themselves
    columns = twice.columns()
    assert columns["draw"][0] == draws[3] and set(columns["P[yes]"]) == {0.5}


@pytest.mark.long
def test_a_strategy_that_draws_may_be_chosen_and_repeats_its_draws(loans):
    """Every certain rule serves one stakeholder better than the other; a draw evens that out."""
    rule = strategies.create("utilitarian", {"selection": "softmax", "temperature": 0.2})
    policy, again = (loans.fitted(strategies=[rule], metrics={"gini_reward": 1.0}) for _ in range(2))
    assert policy.selected_ == "utilitarian[softmax 0.2]"
    first, second = (each.recommend(loans.columns).decisions for each in (policy, again))
    np.testing.assert_array_equal(first.codes, second.codes)
    assert policy.predict(loans.columns).tolist() == first.actions.tolist()
    shares = first.policy.mean(axis=1)
    taken = np.bincount(first.codes, minlength=len(shares)) / len(first.codes)
    assert (np.abs(taken - shares) < 4 * np.sqrt(shares * (1 - shares) / len(first.codes)) + 1e-9).all()


def test_explanations_say_what_was_drawn(run_folder, rows):
    run = read_run(run_folder)
    rule = strategies.create("utilitarian", {"selection": "softmax", "temperature": 0.5}).for_problem(run.case.problem)
    run.policy.strategies_[rule.label] = rule
    (explained,) = document_of(explained_rows(run, rows, rows=[2], strategy=rule.label))["explanations"]
    recommended, _ = recommendations_as_json(run, rows, rule.label)
    (said,) = [each for each in explained["sentences"]["decides"] if each.startswith("The rule draws")]
    assert f"drew {recommended[2]['action']}." in said and f"{recommended[2]['draw']:.4f}" in said
    assert all(f"{name} {chance:.3f}" in said for name, chance in recommended[2]["probabilities"].items())


def test_what_was_fitted_to_training_rows_decides_for_new_ones(outcomes, tmp_path, rows):
    outcome, policy = outcomes["own"], copy.copy(outcomes["own"].policy)
    evidence = policy.evidence_
    for name, parameters in (("population_maximin", {}), ("population_by_group", {"attribute": "group"})):
        rule = strategies.create(name, parameters).for_problem(policy.problem)
        fitted = rule.fit(evidence.expected, evidence.log.contexts)
        policy.strategies_ = {**policy.strategies_, fitted.label: fitted}
    run = read_run(write_run(replace(outcome, policy=policy), tmp_path / "run"))
    contexts = pd.read_csv(rows, **EXACT)
    for label in ("population_maximin", "population_maximin by group"):
        assert run.policy.strategies_[label] == policy.strategies_[label] and policy.strategies_[label].fitted
        (batch,) = recommend_rows(run, rows, label)
        here = policy.recommend(contexts, strategy=label).decisions
        np.testing.assert_array_equal(batch.recommended.decisions.codes, here.codes)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_file_stored_by_columns_is_decided_as_the_same_rows_of_a_csv_file(monkeypatch, run_folder, rows, suffix):
    monkeypatch.setattr("accordant.runs.row_batches.ROWS_AT_ONCE", 16)
    run, table = read_run(run_folder), pd.read_csv(rows, dtype={"kind": str}, **EXACT)
    table["also"] = [{"nested": 1}] * len(table)  # is not read, and could not be
    stored = rows.with_suffix(suffix)
    table.to_parquet(stored) if suffix == ".parquet" else table.to_feather(stored)
    outs = [rows.with_name(f"decided{end}") for end in (".csv", suffix)]
    counts = [write_recommendations(run, source, None, out) for source, out in zip((rows, stored), outs, strict=True)]
    assert counts[0] == counts[1] and counts[0].rows == 40
    as_csv = pd.read_csv(outs[0], keep_default_na=False, na_values={"margin": [""]}, **EXACT)
    found = pd.read_parquet(outs[1]) if suffix == ".parquet" else pd.read_feather(outs[1])
    assert list(found) == list(as_csv)
    for name in found:
        np.testing.assert_array_equal(found[name].to_numpy(), as_csv[name].to_numpy(), err_msg=name)
    for batch, other in zip(recommend_rows(run, rows, None), recommend_rows(run, stored, None), strict=True):
        np.testing.assert_array_equal(batch.recommended.expected.values, other.recommended.expected.values)


def test_what_a_file_stored_by_columns_lacks_or_holds_is_named(run_folder, rows):
    run, table = read_run(run_folder), pd.read_csv(rows, dtype={"kind": str}, **EXACT)
    table.rename(columns={"x": "xx"}).to_parquet(rows.with_name("lacks.parquet"))
    table.assign(x=np.inf).to_parquet(rows.with_name("infinite.parquet"))
    table.assign(x="much").to_parquet(rows.with_name("texts.parquet"))
    for name, message in (
        ("lacks", "column 'x'.*nearest|column 'x'.*xx"), ("infinite", "infinite.parquet, row 0: column 'x': found 'inf'"),
        ("texts", "texts.parquet, row 0: column 'x': found 'much'"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            write_recommendations(run, rows.with_name(f"{name}.parquet"), None, rows.with_name("out.csv"))
    assert not rows.with_name("out.csv").exists()


def test_decisions_are_logged_on_request(run_folder, rows):
    run, log, out = read_run(run_folder), rows.with_name("log.jsonl"), rows.with_name("out.csv")
    table = pd.read_csv(rows, dtype=str).assign(name=lambda frame: [f"p{k}" for k in range(len(frame))])
    table.to_csv(rows, index=False)
    write_recommendations(run, rows, None, out, log=log)
    write_recommendations(run, rows, None, out, log=log, row_id="name")
    lines, decided = list(read_decisions(log)), pd.read_csv(out, keep_default_na=False, **EXACT)
    assert [line.row for line in lines] == [*range(40), *(f"p{k}" for k in range(40))]
    assert decided["row"].tolist() == [f"p{k}" for k in range(40)]
    for line, (_, row) in zip(lines[40:], decided.iterrows(), strict=True):
        assert line.run == run.manifest.sha256 and (line.action or "") == row["action"]
        assert (line.runner_up or "", line.referral) == (row["runner_up"], row["referred"])
        assert {f"E[{who}, {what}]": e for who, of in line.expected_rewards.items() for what, e in of.items()} == {
            name: row[name] for name in decided if name.startswith("E[")
        }
        assert set(run.policy.features_) <= set(line.context)
        assert row["unusual"] == "" or row["unusual"] in line.remarks


def test_a_log_grows_only_where_all_was_written(run_folder, rows):
    run, log, out = read_run(run_folder), rows.with_name("log.jsonl"), rows.with_name("out.csv")
    with rows.open("a") as file:
        file.write("much,1,0\n")
    with pytest.raises(InputError, match="found 'much'"):
        write_recommendations(run, rows, None, out, log=log)
    assert not log.exists() and not out.exists()
    for place, message in ((Path("-"), "cannot be standard output"), (rows, "is an input"), (out, "is an input")):
        with pytest.raises(InputError, match=message):
            write_recommendations(run, rows, None, out, log=place)
    with pytest.raises(MissingColumnError, match="names"):
        write_recommendations(run, rows, None, out, row_id="names")


@given(
    floats=arrays(float, 5, elements=st.floats(width=64)),
    texts=st.lists(st.sampled_from(["a", "=1+1", "-5", "-x", "a,b", '"', "", None]), min_size=5, max_size=5),
)
def test_columns_are_written_as_pandas_writes_them_cell_by_cell(floats, texts):
    table = pd.DataFrame({"f": floats, "n": range(5), "b": [True] * 5, "t": pd.Series(texts, dtype=object)})
    slow = table.assign(t=table["t"].map(written_cell))
    fast = pd.DataFrame({name: written_column(table[name]) for name in table})
    assert fast.to_csv(index=False) == slow.to_csv(index=False)
