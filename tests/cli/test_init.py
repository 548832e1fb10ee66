"""`init`: a first case file from a table, with everything asked, guessed or refused."""

from __future__ import annotations

import json

import jsonschema
import pandas as pd
import pytest
import sqlalchemy
import yaml

from accordant.cases.files import read_case
from accordant.cases.proposal import Told
from accordant.cli import new_case


@pytest.fixture(autouse=True)
def no_case(case_folder):
    """Begin without the file that the command writes."""
    (case_folder / "first.yaml").unlink(missing_ok=True)


def test_it_writes_a_case_that_says_what_is_guessed(accordant, case_folder):
    done = accordant("init", "beds.csv", "--out", "first.yaml", "--favourable", "Admit", "--scarce", "Admit=0.3")
    assert done.returncode == 0, done.stderr
    assert "Action  (its name)" in done.stdout and "guessed: outcomes, the best first: Well, Unwell" in done.stdout
    assert "guessed: scarce" not in done.stdout and "Rewards are guesses" in done.stdout
    text = (case_folder / "first.yaml").read_text(encoding="utf-8")
    case = yaml.safe_load(text)
    assert case["data"]["features"] == {"pulse": "number"}, "age has too many values for a group, and is sensitive"
    assert case["problem"]["favourable_actions"] == ["Admit"]
    assert case["rewards"]["Person"]["table"]["Admit"] == {"Well": 1, "Unwell": 0.2}
    assert case["rewards"]["Institution"]["table"]["Wait"] == {"Well": 1, "Unwell": 0.3}
    spec = read_case(case_folder / "first.yaml")[0]
    assert {source.kind for source in spec.sources().values()} == {"guessed"}
    assert text.startswith(f"# yaml-language-server: $schema=./{new_case.SCHEMA}\n")
    schema = json.loads((case_folder / new_case.SCHEMA).read_text(encoding="utf-8"))
    assert not list(jsonschema.Draft202012Validator(schema).iter_errors(case))


@pytest.mark.long
@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".xlsx#Sheet1", ".sql"])
def test_it_reads_tables_of_any_kind(accordant, case_folder, tmp_path, suffix):
    frame = pd.read_csv(case_folder / "beds.csv")
    path = tmp_path / f"beds{suffix.partition('#')[0]}"
    database = f"sqlite:///{tmp_path / 'b.db'}"
    match path.suffix:
        case ".parquet":
            frame.to_parquet(path)
        case ".feather":
            frame.to_feather(path)
        case ".xlsx":
            frame.to_excel(path, index=False)
        case ".sql":
            engine = sqlalchemy.create_engine(database)
            frame.to_sql("beds", engine, index=False)
            engine.dispose()
            path.write_text("SELECT * FROM beds\nORDER BY rowid;")
    done = accordant("init", str(tmp_path / f"beds{suffix}"), "--yes", ACCORDANT_DATABASE=database)
    assert done.returncode == 0, done.stderr
    data = read_case(tmp_path / "beds.yaml")[0].data
    assert data.features == {"pulse": "number"}
    found = {".xlsx#Sheet1": data.sheet, ".sql": data.query}.get(suffix, data.file)
    assert found == {".xlsx#Sheet1": "Sheet1", ".sql": "SELECT * FROM beds\nORDER BY rowid;"}.get(suffix, path.name)


@pytest.mark.long
def test_the_file_runs_at_once_and_every_result_says_that_rewards_are_guesses(accordant, case_folder, tmp_path):
    pd.read_csv(case_folder / "beds.csv").to_parquet(tmp_path / "beds.parquet")
    assert accordant("init", str(tmp_path / "beds.parquet"), "--yes").returncode == 0
    done = accordant("run", str(tmp_path / "beds.yaml"), "--out", str(tmp_path / "run"), "--resamples", "100")
    assert done.returncode == 0, done.stderr
    assert "reward of Person, Institution: guessed, and said by nobody yet" in done.stdout
    assert "Nobody said what Person and Institution want" in done.stdout
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Nobody said what Person and Institution want" in page and "beds.parquet" in page


def test_json_names_what_is_open(accordant):
    done = accordant("init", "beds.csv", "--out", "first.yaml", "--json")
    told = json.loads(done.stdout)
    assert told["open"] == ["rewards", "scope"]
    assert {each["name"]: each["role"] for each in told["columns"]}["Outcome"] == "outcome"
    assert sum(told["actions"].values()) == pytest.approx(1)


@pytest.mark.few(4)
@pytest.mark.parametrize(("arguments", "message"), [
    (["beds.csv", "--out", "beds.csv"], "beds.csv exists; choose another place"),
    (["nowhere.csv"], "nowhere.csv cannot be read"),
    (["beds.csv", "--out", "first.yaml", "--action", "Actoin"], "did you mean it by 'Action'"),
    (["beds.csv", "--out", "first.yaml", "--favourable", "Admitt"], "did you mean 'Admit'"),
    (["beds.csv", "--out", "first.yaml", "--scarce", "Admit=3"], "for 'Admit' is '3'; allowed: a number between 0 and 1"),
    (["beds.csv", "--out", "first.yaml", "--scarce", "Bed=0.3"], "unknown action in --scarce: 'Bed'"),
    (["beds.csv", "--out", "first.yaml", "--scarce", "0.3"], "allowed: ACTION=SHARE"),
    (["beds.csv", "--out", "first.yaml", "--best-first", "Well"], "'Well'; allowed: each of"),
    (["beds.csv", "--out", "first.yaml", "--best-first", "Well,Unwel"], "unknown outcome in --best-first: 'Unwel'; did you"),
    (["beds.csv", "--out", "first.yaml", "--features", "puls"], "did you mean it by 'pulse'"),
    (["beds.csv", "--out", "first.yaml", "--stakeholders", " , "], "allowed: names separated by commas"),
])  # fmt: skip
def test_wrong_input_ends_with_2_and_writes_nothing(accordant, case_folder, arguments, message):
    done = accordant("init", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (case_folder / "first.yaml").exists()


def test_whoever_sits_at_a_terminal_is_asked(case_folder, monkeypatch):
    answers = iter(["sex", "Outcome", "none", "age, pulse", "f", "Well, Unwell", "f=0.25"])
    monkeypatch.setattr(new_case.typer, "prompt", lambda *_, **__: next(answers))
    written = new_case.new_case(
        str(case_folder / "beds.csv"), Told(), new_case.Said(("A",)), out=case_folder / "first.yaml", ask=True
    )
    assert written.proposal.action.name == "sex" and written.proposal.of("sensitive") == ()
    assert [column.name for column in written.proposal.of("feature")] == ["age", "pulse"]
    assert written.statement.best_first == ("Well", "Unwell") and written.statement.guesses == {}
    assert written.statement.favourable == ("f",)
    assert written.statement.scarce == {"f": 0.25}


def test_another_separator_is_seen(accordant, case_folder):
    text = (case_folder / "beds.csv").read_text(encoding="utf-8").replace(",", ";")
    (case_folder / "semicolons.csv").write_text(text, encoding="utf-8")
    assert accordant("init", "semicolons.csv", "--out", "first.yaml").returncode == 0
    assert yaml.safe_load((case_folder / "first.yaml").read_text(encoding="utf-8"))["data"]["separator"] == ";"
