"""New rows are read by the types of the training rows, and what is unlike these is said, counted and handled."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest
import yaml

from accordant.errors import DataError, RunFolderError, SpecError
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.runs.sections.certification import certify_rows
from accordant.runs.sections.explanation import document_of, explained_rows
from accordant.runs.recommendation import recommend_rows, recommendations_as_json, stream_recommendations
from accordant.runs.row_batches import row_contexts

NEW = "x,kind,group\n0.1,1,0\n99,1,0\n0.2,7,1\n,2,1\n"  # usual; out of range and far; unseen; missing, as in training


@pytest.fixture
def declared(cases, tmp_path):
    """Carry out a case whose ``data`` section is changed, and return its folder."""

    def carried_out(**data):
        case = yaml.safe_load(cases["own"].read_text())
        case["data"] |= data
        (tmp_path / "own.yaml").write_text(yaml.safe_dump(case, sort_keys=False))
        (tmp_path / "own.csv").write_bytes((cases["own"].parent / "own.csv").read_bytes())
        return write_run(carry_out(tmp_path / "own.yaml", RunOptions(seed=7)), tmp_path / "declared")

    return carried_out


@pytest.mark.few(3)
@pytest.mark.parametrize("cell", ["abc", "2,5", "50%", "#DIV/0!", "1e999", "2024-05-31"])
def test_one_damaged_cell_of_the_data_is_refused_before_anything_is_learned(cases, tmp_path, cell):
    frame = pd.read_csv(cases["own"].parent / "own.csv", dtype=str)
    frame.loc[40, "x"] = cell
    frame.to_csv(tmp_path / "own.csv", index=False)
    case = yaml.safe_load(cases["own"].read_text())
    case["data"]["features"] = {"x": "number", "kind": "category"}
    for features in (case["data"]["features"], ["x", "group"]):
        case["data"]["features"] = features
        (tmp_path / "own.yaml").write_text(yaml.safe_dump(case))
        found = "inf" if cell == "1e999" else cell
        with pytest.raises(DataError, match="^own.csv, line 42: column 'x': found ") as caught:
            carry_out(tmp_path / "own.yaml", RunOptions(seed=7))
        assert repr(found) in str(caught.value) or repr(cell) in str(caught.value)


@pytest.mark.few(3)
@pytest.mark.parametrize("source", ["file", "stream"])
@pytest.mark.parametrize("cell", ["abc", "2,5", "1 000"])
def test_a_column_of_numbers_refuses_other_cells_of_new_rows(run_folder, tmp_path, cell, source):
    """In training these cells would be refused too; here the batch may hold nothing else."""
    text = f'x,kind\n"{cell}",1\n'
    (tmp_path / "new.csv").write_text(text)
    name = "new.csv" if source == "file" else "standard input"
    with pytest.raises(DataError, match=rf"^{name}, line 2: column 'x': found '{cell}'"):
        row_contexts(read_run(run_folder), tmp_path / "new.csv" if source == "file" else io.StringIO(text))


def test_a_category_stays_a_category_in_new_rows(run_folder):
    rows = row_contexts(read_run(run_folder), io.StringIO("x,kind\n1,1\n2,2\n"))
    assert rows["kind"].tolist() == ["1", "2"] and rows["x"].tolist() == [1.0, 2.0]
    decided = read_run(run_folder).policy.recommend({"x": [1.0, 2.0], "kind": [1, 2]})
    assert decided.unusual is not None and not decided.unusual.kinds["unseen"].any()


def test_without_a_declaration_the_strategy_decides_with_remarks(run_folder):
    rows, counts = recommendations_as_json(read_run(run_folder), io.StringIO(NEW), None)
    assert [bool(each["unusual"]) for each in rows] == [False, True, True, False]
    assert rows[2]["unusual"] == "unseen: kind '7'" and rows[1]["unusual"].startswith("out of range: x 99 (")
    assert all(each["action"] in ("yes", "no") and not (each["referred"] or each["fall_back"]) for each in rows)
    assert (counts.rows, counts.unusual, counts.referred, counts.fall_back) == (4, 2, 0, 0)


@pytest.mark.long
def test_rows_are_referred_or_get_the_declared_action(declared, run_folder):
    folder = declared(unusual={"unseen": "refer", "out_of_range": "no"})
    run, out = read_run(folder), io.StringIO()
    counts = stream_recommendations(run, io.StringIO(NEW), None, out)
    table = pd.read_csv(io.StringIO(out.getvalue()), keep_default_na=False)
    assert table["action"].tolist()[1:3] == ["no", ""]
    assert table["referred"].tolist() == [False, False, True, False]
    assert table["fall_back"].tolist() == [False, True, False, False]
    assert table["margin"].tolist()[1:3] == ["", ""] and table["runner_up"].tolist()[1:3] == ["", ""]
    assert "1 are referred to a person, 1 get the fall-back action" in counts.sentence()
    rows, _ = recommendations_as_json(run, io.StringIO(NEW), None)
    assert [each["action"] for each in rows][1:3] == ["no", None]
    plain, _ = recommendations_as_json(read_run(run_folder), io.StringIO(NEW), None)
    assert rows[0] == plain[0] and rows[3] == plain[3]
    assert [each["expected_rewards"] for each in rows] == [each["expected_rewards"] for each in plain]


@pytest.mark.long
def test_handling_changes_no_figure_of_a_run_and_is_counted(declared, outcomes):
    folder = declared(unusual={"missing": "no", "out_of_range": "refer", "unseen": "refer", "far": "refer"})
    content, plain = read_run(folder).content, outcomes["own"].record.content
    assert content["test"] == plain["test"] and content["validation"] == plain["validation"]
    counts = content["unusual"]
    assert counts["rows"] == content["data"]["test"]
    assert counts["referred"] <= counts["unusual"] == plain["unusual"]["unusual"]
    assert plain["unusual"]["referred"] == plain["unusual"]["fall_back"] == 0
    said = [each for each in content["notes"] if each.startswith("Untouched rows: ")]
    assert bool(said) == bool(counts["unusual"])


@pytest.mark.long
def test_certificates_and_explanations_say_it_too(declared):
    run = read_run(declared(unusual={"unseen": "refer"}))
    found = certify_rows(run, io.StringIO(NEW), delta=0.05).to_json()
    assert found["unusual"]["referred"] == 1 and found["unusual"]["kinds"]["unseen"] == 1
    assert [row["referred"] for row in found["rows"]] == [False, False, True, False]
    assert found["rows"][2]["unusual"] == "unseen: kind '7'" and found["rows"][2]["action"] in ("yes", "no")
    document = document_of(explained_rows(run, io.StringIO(NEW), rows=[0, 2]))
    usual, unusual = (each["sentences"]["sure"] for each in document["explanations"])
    assert "unseen: kind '7'. A person decides." in unusual[-1] and not any("unlike" in each for each in usual)
    usual, unusual = explained_rows(run, io.StringIO(NEW), rows=[0, 2]).letters("en")
    assert usual.decision and usual.reason
    assert unusual.decided.startswith("There is no decision yet.") and not unusual.decision
    assert unusual.sure == ("Some facts about you are unusual. The forecast may fit you less well.",)


def _rounded(rows):
    """Return rows without the last digits of their numbers, in which sums of other sizes differ."""
    return json.loads(json.dumps(rows), parse_float=lambda digits: round(float(digits), 12))


def test_batches_say_what_all_rows_at_once_say(monkeypatch, run_folder):
    run, text = read_run(run_folder), NEW + '0.1,1,0\n\n0.2,"new\nkind",1\n' + NEW.split("\n", 1)[1]
    whole, _ = recommendations_as_json(run, io.StringIO(text), None)
    monkeypatch.setattr("accordant.runs.row_batches.ROWS_AT_ONCE", 3)
    in_batches, _ = recommendations_as_json(run, io.StringIO(text), None)
    assert _rounded(in_batches) == _rounded(whole)
    with pytest.raises(DataError, match="standard input, line 14: column 'x': found 'y'"):
        list(recommend_rows(run, io.StringIO(text + "y,1,0\n"), None))


@pytest.mark.parametrize(
    ("unusual", "message"),
    [
        ({"unseen": "nobody"}, "line 22: unknown unseen in unusual: 'nobody'; valid: recommend, refer, yes, no"),
        ({"unsen": "refer"}, "data.unusual: unknown key 'unsen'; did you mean 'unseen'"),
    ],
)
def test_a_wrong_declaration_is_refused(declared, unusual, message):
    with pytest.raises(SpecError) as caught:
        declared(unusual=unusual)
    assert message.partition(": ")[2] in str(caught.value) and "case file own.yaml, line " in str(caught.value)


@pytest.mark.parametrize("change", [{"types": {}}, {"types": {"x": "numbr", "kind": "category"}}])
def test_forged_types_are_refused(outcomes, change):
    from accordant.runs.models.policy_state import load_policy, policy_files

    files = {name: make() for name, make in policy_files(outcomes["own"].policy).items()}
    files["policy.json"] = json.dumps(json.loads(files["policy.json"]) | change)
    with pytest.raises(RunFolderError, match="do not fit their case: (KeyError|ValueError)"):
        load_policy(outcomes["own"].case, lambda name: files[name])


def test_a_saved_policy_remembers_types_ranges_and_levels(outcomes, run_folder):
    policy, again = outcomes["own"].policy, read_run(run_folder).policy
    assert again.types_ == policy.types_ == {"x": "number", "kind": "category", "group": "number"}
    assert again.profile_.ranges == policy.profile_.ranges and again.profile_.counts == policy.profile_.counts
    assert sum(again.profile_.counts["kind"]) == len(policy.evidence_.log)
    assert np.array_equal(again.profile_.reference["x"], policy.profile_.reference["x"], equal_nan=True)
