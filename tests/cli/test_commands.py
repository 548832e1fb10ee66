"""The command line as a new user meets it: what is printed where, exit codes, wrong input."""

from __future__ import annotations

import hashlib
import csv
import io
import json
import shutil
from html.parser import HTMLParser

import pandas as pd
import pytest

from accordant import runs
from accordant.cli.app import app

COST = ("seconds", "cpu_seconds", "peak_rss_mb")


def without_cost(run):
    content = json.loads((run / "run.json").read_text(encoding="utf-8"))
    return {name: value for name, value in content.items() if name != "cost"}


@pytest.mark.long
def test_run_prints_a_leaderboard_and_where_the_report_is(accordant, case_folder):
    done = accordant("run", "beds.yaml", "--out", "shown")
    assert done.returncode == 0
    assert done.stdout.startswith("data: beds.csv, 192 training and 48 untouched test rows")
    for name in ("maximin", "constant:Admit", "stakeholder:Ward", "* oracle", "* logged", "* random"):
        assert name in done.stdout
    assert "shown/report.html" in done.stdout
    assert "training rows" in done.stderr
    assert (case_folder / "shown" / "report.html").is_file()


@pytest.mark.long
def test_json_is_all_there_is_on_stdout(accordant):
    done = accordant("run", "beds.yaml", "--out", "as-json", "--json")
    printed = json.loads(done.stdout)
    assert {"case", "data", "seed", "selected", "run", *COST, "warnings", "leaderboard"} <= set(printed)
    assert printed["case"] == "beds"
    rows = {row["strategy"]: row for row in printed["leaderboard"]}
    assert rows["oracle"]["kind"] == "reference"
    assert rows["constant:Wait"]["kind"] == "baseline"
    assert rows["stakeholder:Patient"]["kind"] == "stakeholder"
    assert rows[printed["selected"]]["kind"] in {"compromise", "stakeholder", "baseline"}
    for row in rows.values():
        assert {"value", "low", "high"} <= set(row["score"])
        assert all({"value", "low", "high", "n"} <= set(cell) for cell in row["metrics"].values())


@pytest.mark.long
def test_no_data_means_the_simulator_and_says_so_first(accordant):
    done = accordant("run", "lending", "--rows", "150", "--folds", "3", "--resamples", "100", "--out", "simulated",
                     ACCORDANT_DATA="")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("SIMULATED DATA")


@pytest.mark.long
@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_same_seed_same_bytes_whatever_the_hash_seed(program, case_folder, finished_run, hash_seed):
    again = f"again-{hash_seed}"
    assert program("run", "beds.yaml", "--out", again, "--seed", "5", PYTHONHASHSEED=hash_seed).returncode == 0
    assert without_cost(case_folder / again) == without_cost(finished_run)
    assert (case_folder / again / "leaderboard.csv").read_bytes() == (finished_run / "leaderboard.csv").read_bytes()


@pytest.mark.long
def test_another_seed_is_another_run(accordant, case_folder, finished_run):
    assert accordant("run", "beds.yaml", "--out", "other-seed", "--seed", "6").returncode == 0
    assert without_cost(case_folder / "other-seed")["test"] != without_cost(finished_run)["test"]


def test_recommend_writes_csv_to_stdout_and_to_a_file(accordant, case_folder, finished_run):
    shown = accordant("recommend", "first", "beds.csv")
    table = pd.read_csv(io.StringIO(shown.stdout))
    assert len(table) == 240
    assert list(table.columns[:5]) == ["row", "action", "runner_up", "margin", "tied"]
    assert {"E[Patient, Admit]", "E[Ward, Wait]"} <= set(table.columns)
    assert accordant("recommend", "first", "beds.csv", "--out", "decided.csv").returncode == 0
    assert (case_folder / "decided.csv").read_text(encoding="utf-8") == shown.stdout


def test_recommend_reads_standard_input_one_row_at_a_time(accordant, case_folder, finished_run):
    lines = (case_folder / "beds.csv").read_text(encoding="utf-8").splitlines()
    whole = json.loads(accordant("recommend", "first", "beds.csv", "--json").stdout)
    for row in (0, 7):
        alone = json.loads(
            accordant("recommend", "first", "-", "--json", stdin="\n".join([lines[0], lines[row + 1]])).stdout
        )
        assert alone[0]["action"] == whole[row]["action"]
        assert alone[0]["expected_rewards"]["Ward"] == pytest.approx(whole[row]["expected_rewards"]["Ward"], abs=1e-12)


def test_recommend_with_another_strategy(accordant, finished_run):
    done = accordant("recommend", "first", "beds.csv", "--strategy", "constant:Wait", "--json")
    assert {row["action"] for row in json.loads(done.stdout)} == {"Wait"}
    assert json.loads(done.stdout)[0]["margin"] is None


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if name in {"src", "href"} and not value.startswith("#")]


def test_report_is_one_file_that_needs_nothing_else(accordant, case_folder, finished_run):
    assert accordant("report", "first", "--out", "page.html").returncode == 0
    page = (case_folder / "page.html").read_text(encoding="utf-8")
    assert page == (finished_run / "report.html").read_text(encoding="utf-8")
    tags = _Tags()
    tags.feed(page)
    assert tags.addresses == []


def test_leaderboard_csv_has_every_strategy(finished_run):
    with (finished_run / "leaderboard.csv").open(encoding="utf-8") as file:
        names = [row["strategy"] for row in csv.DictReader(file)]
    assert names == [row["strategy"] for row in without_cost(finished_run)["test"]["leaderboard"]]


@pytest.mark.long
@pytest.mark.parametrize("command", ["strategies", "metrics", "data"])
def test_catalogues_print_tables_and_json(accordant, command):
    assert accordant(command).returncode == 0
    assert isinstance(json.loads(accordant(command, "--json").stdout), list)


@pytest.mark.long
def test_exit_codes_are_those_of_the_program(program):
    wrong = program("run", "lendnig")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean 'lending'" in wrong.stderr
    assert program("data").returncode == 0


def test_simulate_writes_what_run_reads(accordant, case_folder):
    assert accordant("simulate", "lending", "--rows", "60", "--out", "loans.csv").returncode == 0
    assert len(pd.read_csv(case_folder / "loans.csv")) == 60


WRONG = [
    (("run", "lendnig"), "did you mean 'lending'"),
    (("run", "nowhere.yaml"), "does not exist"),
    (("run", "beds.yaml", "--rows", "9999"), "allowed: 1 to 192"),
    (("run", "beds.yaml", "--data", "nowhere"), "not found at nowhere"),
    (("run", "beds.yaml", "--out", "first"), "exists"),
    (("run", "beds.yaml", "--folds", "2"), "folds"),
    (("recommend", "first", "nowhere.csv"), "cannot be read"),
    (("recommend", "nowhere", "beds.csv"), "not a folder"),
    (("recommend", "first", "beds.csv", "--strategy", "maximn"), "did you mean 'maximin'"),
    (("report", "."), "not a finished run"),
    (("simulate", "beds.yaml"), "has no simulator"),
]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("arguments", "message"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_wrong_input_is_exit_code_2_and_one_message(accordant, finished_run, arguments, message):
    done = accordant(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


CHANGES = [
    ("title: Who", "tilte: Who", "did you mean 'title'"),
    ("folds: 3", "flods: 3", "learning: unknown key 'flods'; did you mean 'folds'"),
    ("Unwell: 0.3}", "Unwell: 1.3}", "is 1.3; allowed: [0, 1]"),
    ("Unwell: 0.3}", "Unwell: .nan}", "is nan; allowed: [0, 1]"),
    ("weight: 0.5}\nevaluation", "weight: 0.4}\nevaluation", "sum to 0.9"),
    ("metric: min_reward", "metric: min_rewrad", "did you mean 'min_reward'"),
    ("features: [age, pulse]", "features: [age, puls]", "column 'puls' is missing; did you mean it by 'pulse'"),
    ("name: LogisticRegression", "name: LogisticRegresion", "did you mean 'LogisticRegression'"),
    ("actions: [Admit, Wait]", "actions: [Admit, Wiat]", "did you mean"),
    ("outcomes: [Well, Unwell]", "outcomes: [Well, Unwel]", "did you mean"),
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("old", "new", "message"), CHANGES, ids=[new for _, new, _ in CHANGES])
def test_a_wrong_case_file_leaves_nothing_behind(accordant, case_folder, old, new, message):
    text = (case_folder / "beds.yaml").read_text(encoding="utf-8")
    assert old in text
    (case_folder / "wrong.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    before = sorted(path.name for path in case_folder.iterdir())
    done = accordant("run", "wrong.yaml", "--out", "never")
    assert done.returncode == 2
    assert message in done.stderr
    assert sorted(path.name for path in case_folder.iterdir()) == before


DATA_CHANGES = [
    (lambda table: table.iloc[:0], "no rows"),
    (lambda table: table.assign(Outcome="Well"), "at least two outcomes"),
    (lambda table: table.assign(Action=["Admt", *table["Action"][1:]]), "unknown action in wrong.csv, line 2: 'Admt'"),
    (lambda table: table.assign(Outcome=["Wel", *table["Outcome"][1:]]), "unknown outcome in wrong.csv, line 2: 'Wel'"),
    (lambda table: table.drop(columns="sex"), "column 'sex' is missing"),
]


@pytest.mark.long
@pytest.mark.parametrize(("change", "message"), DATA_CHANGES, ids=[message for _, message in DATA_CHANGES])
def test_wrong_data_leave_nothing_behind(accordant, case_folder, change, message):
    change(pd.read_csv(case_folder / "beds.csv")).to_csv(case_folder / "wrong.csv", index=False)
    done = accordant("run", "beds.yaml", "--data", "wrong.csv", "--out", "never")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert not (case_folder / "never").exists()
    assert not list(case_folder.glob(".*unfinished*"))


@pytest.mark.parametrize("file", ["run.json", "models/policy.json", "models/outcome-model.skops", "manifest.json"])
def test_a_changed_run_folder_is_refused(accordant, case_folder, finished_run, file):
    shutil.copytree(finished_run, case_folder / "changed", dirs_exist_ok=True)
    (case_folder / "changed" / file).write_bytes((finished_run / file).read_bytes()[:-1] + b"?")
    done = accordant("recommend", "changed", "beds.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert "changed" in done.stderr
    shutil.rmtree(case_folder / "changed")


def test_our_own_fault_is_exit_code_1(accordant, monkeypatch):
    monkeypatch.setattr(runs, "carry_out", lambda *_: 1 / 0)
    done = accordant("run", "lending")
    assert done.returncode == 1
    assert "fault of accordant" in done.stderr


@pytest.mark.long
def test_help_names_every_command(program):
    shown = program("--help").stdout
    for command in app.registered_commands:
        assert command.callback.__name__ in shown


def deep(levels):
    return [] if levels == 0 else [deep(levels - 1)]


@pytest.mark.parametrize(
    ("forged", "message"),
    [
        ([{}], "is not what a run writes"),
        ([{"verdict": "=1+1"}], "is not what a run writes"),
        ("none", "is not what a run writes"),
        (deep(80), "levels of nesting"),
    ],
    ids=["empty", "formula", "text", "deep"],
)
def test_a_report_of_a_forged_record_is_refused(accordant, finished_run, tmp_path, forged, message):
    """Hashes are right; what is inside is not what a run writes."""
    folder = shutil.copytree(finished_run, tmp_path / "run")
    record = json.loads((folder / "run.json").read_text())
    record["scrutiny"]["conflict"]["pairs"] = forged
    (folder / "run.json").write_text(json.dumps(record))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["sha256"]["run.json"] = hashlib.sha256((folder / "run.json").read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    done = accordant("report", str(folder), "--out", str(tmp_path / "page.html"))
    assert done.returncode == 2
    assert "run.json" in done.stderr and message in done.stderr
    assert not (tmp_path / "page.html").exists()


@pytest.mark.long
def test_a_quick_look_says_first_and_in_the_record_what_it_left_out(accordant, case_folder):
    done = accordant("run", "beds.yaml", "--quick", "--out", "quick")
    assert done.returncode == 0 and "A QUICK LOOK" in done.stdout.splitlines()[1]
    record = json.loads((case_folder / "quick" / "run.json").read_text(encoding="utf-8"))
    assert record["learning"]["effort"] == "quick" and record["test"]["resamples"] <= 200
    assert any(sentence.startswith("A quick look:") for sentence in record["warnings"])
    assert any("Nor were these looked at" in sentence for sentence in record["warnings"])
    assert record["scrutiny"]["conflict"]["pairs"] == [] and record["scrutiny"]["bounds"] is None
    assert [each["strategy"] for each in record["scrutiny"]["by_strategy"]] == [record["selected"]]


@pytest.mark.long
def test_a_column_of_decisions_is_compared_and_not_selected(accordant, case_folder):
    """Not even where it knew what followed, and so comes first."""
    table = pd.read_csv(case_folder / "beds.csv")
    table["committee"] = table["Outcome"].map({"Unwell": "Admit", "Well": "Wait"})
    table.to_csv(case_folder / "more.csv", index=False)
    common = ("run", "beds.yaml", "--data", "more.csv", "--quick", "--json")
    done = accordant(*common, "--decisions", "committee")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    scores = {row["strategy"]: row["score"]["value"] for row in record["leaderboard"]}
    assert max(scores, key=scores.get) == "decided:committee" != record["selected"]
    missing = accordant(*common, "--decisions", "comittee")
    assert missing.returncode == 2 and "did you mean it by 'committee'" in missing.stderr


def test_quick_and_thorough_contradict_each_other(accordant):
    done = accordant("run", "beds.yaml", "--quick", "--thorough", "--out", "neither")
    assert done.returncode == 2 and "allowed: one of them" in done.stderr
