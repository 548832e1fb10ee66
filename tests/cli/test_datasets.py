"""`recommend`, `certify` and `evaluate` part by part: what a new user sees, and what is refused."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from accordant.runs.sections.certification import DELTA
from accordant.tables.datasets import PART_ROWS

pytestmark = pytest.mark.usefixtures("alone")


@pytest.fixture(scope="module")
def beds(case_folder):
    """A dataset of two files with three row groups."""
    frame = pd.read_csv(case_folder / "beds.csv")
    for day, rows in (("day=1", frame[:150]), ("day=2", frame[150:])):
        (case_folder / "beds" / day).mkdir(parents=True)
        rows.reset_index(drop=True).to_parquet(case_folder / "beds" / day / "rows.parquet", row_group_size=100)
    return case_folder / "beds"


def decided(folder):
    return [each for file in sorted(folder.glob("part-*.parquet")) for each in pd.read_parquet(file)["action"]]


@pytest.mark.long
@pytest.mark.parametrize(
    "where", [["--on", "here"], ["--on", "processes:2", "--part-rows", "10"], ["--part-rows", "100"], []]
)
def test_recommendations_for_a_folder_are_a_file_for_each_part(accordant, finished_run, beds, tmp_path, where):
    done = accordant("recommend", "first", "beds", *where, "--out", f"{tmp_path}/out")
    assert (done.returncode, done.stdout) == (0, f"240 recommendations: {tmp_path}/out\n"), done.stderr
    rows = json.loads(accordant("recommend", "first", "beds.csv", "--json").stdout)
    assert decided(tmp_path / "out") == [row["action"] or "" for row in rows]
    assert len(list((tmp_path / "out").glob("part-*"))) == (3 if "--part-rows" in where else 2)
    again = accordant("recommend", "first", "beds/day=*/*.parquet", *where, "--out", f"{tmp_path}/out", "--json")
    told = json.loads(again.stdout)
    assert told["out"] == f"{tmp_path}/out" and told["unusual"]["rows"] == 240


def test_unusual_rows_are_told_as_for_one_file(accordant, finished_run, case_folder, tmp_path):
    frame = pd.read_csv(case_folder / "beds.csv")[:40]
    frame.assign(age=frame["age"].where(frame.index != 3, 900)).to_csv(tmp_path / "odd.csv", index=False)
    one = accordant("recommend", "first", f"{tmp_path}/odd.csv", "--out", f"{tmp_path}/one.csv")
    parts = accordant("recommend", "first", f"{tmp_path}/odd.csv", "--on", "here", "--out", f"{tmp_path}/out")
    assert one.returncode == parts.returncode == 0
    assert "1 of 40" in one.stderr and one.stderr.splitlines()[-1] in parts.stderr


@pytest.mark.long
def test_certificates_of_a_dataset(accordant, finished_run, beds, tmp_path):
    asked = ["--delta", "0.1", "--coalition", "Ward"]
    done = accordant("certify", "first", "beds", *asked, "--on", "threads:2", "--out", f"{tmp_path}/out")
    assert done.returncode == 0, done.stderr
    assert "240" in done.stdout and "Ward" in done.stdout and f"{tmp_path}/out" in done.stdout
    told = json.loads(accordant("certify", "first", "beds", *asked, "--out", f"{tmp_path}/out", "--json").stdout)
    one = json.loads(accordant("certify", "first", "beds.csv", *asked, "--no-add", "--json").stdout)
    assert (told["rows"], told["certified"], told["coalition"]) == (240, one["certified"], ["Ward"])
    assert [each["members"] for each in told["coalitions"]] == [each["members"] for each in one["survey"]["coalitions"]]
    for mine, theirs in zip(told["coalitions"], one["survey"]["coalitions"], strict=True):
        assert mine["certified"] == pytest.approx(theirs["certified"])


@pytest.mark.long
def test_strategies_are_judged_on_a_dataset(accordant, finished_run, case_folder, tmp_path):
    frame = pd.read_csv(case_folder / "beds.csv")
    frame.loc[frame.index.repeat(100)].to_parquet(tmp_path / "many.parquet", row_group_size=8000)
    asked = ["evaluate", "first", f"{tmp_path}/many.parquet", "--resamples", "100", "--out", f"{tmp_path}/out"]
    done = accordant(*asked, "--on", "here", "--part-rows", "8000")
    assert done.returncode == 0, done.stderr
    assert "Leaderboard on 24,000 rows" in done.stdout and f"sums of parts: {tmp_path}/out" in done.stdout
    board = json.loads(accordant(*asked, "--part-rows", "8000", "--json").stdout)
    assert (board["n"], board["out"]) == (24_000, f"{tmp_path}/out") and len(board["leaderboard"]) >= 3
    assert len(list((tmp_path / "out").glob("part-*.npz"))) == 3


WRONG = [
    (
        ["--on", "proceses:2"],
        "unknown executor 'proceses'; did you mean 'processes'? valid: dask, here, processes, queue, ray",
    ),
    (["--on", "processes:0"], "processes:0: allowed: a number of workers, at least 1"),
    (["--on", "queue://"], "queue:// names no database; allowed: queue://DATABASE"),
    (["--on", "queue://nowhere"], "'nowhere' is no address of a database; allowed: sqlite:///FILE or postgresql"),
    (["--on", "ray://10.0.0.1:6379"], "RAY_AUTH_MODE=token"),
    (["--part-rows", "0"], "--part-rows"),
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("where", "message"), WRONG)
@pytest.mark.parametrize("command", ["recommend", "certify", "evaluate"])
def test_a_wrong_place_is_told_before_anything_is_written(
    accordant, finished_run, beds, tmp_path, monkeypatch, command, where, message
):
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    done = accordant(command, "first", "beds", *where, "--out", f"{tmp_path}/out")
    assert done.returncode == 2 and message in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["run", "study"])
def test_a_place_for_fits_is_checked_too(accordant, case_folder, tmp_path, command):
    done = accordant(command, "beds.yaml", "--on", "proceses:2", "--out", f"{tmp_path}/out")
    assert done.returncode == 2 and "did you mean 'processes'" in done.stderr
    done = accordant(command, "beds.yaml", "--on", "here", "--jobs", "2", "--out", f"{tmp_path}/out")
    assert done.returncode == 2 and "--on here and --jobs 2 both say how many work side by side" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["recommend", "first", "beds"], "what comes of a dataset is a folder with a file for each part: name it with --out"),
        (["recommend", "first", "beds", "--out", "-"], "name it with --out"),
        (["recommend", "first", "-", "--on", "here", "--out", "new"], "parts are those of a file, a folder or a pattern"),
        (["recommend", "first", "beds", "--out", "new", "--log", "log.jsonl"], "--log adds lines to one file"),
        (["recommend", "first", "*.orc", "--out", "new"], "*.orc: there is no file there"),
        (["recommend", "first", "beds", "--out", "beds/new"], "beds/new lies in the dataset beds"),
        (["recommend", "first", "beds", "--out", "first/new"], "lies in the finished run"),
        (["recommend", "first", "beds", "--out", "beds.csv"], "beds.csv exists and holds no parts of a job"),
        (["recommend", "first", "beds", "--out", "mine"], "mine exists and holds no parts of a job; name another folder"),
        (["recommend", "first", "beds", "--out", "new", "--strategy", "maximun"], "unknown strategy 'maximun'"),
        (["recommend", "first", "beds", "--out", "newer", "--id", "agee"], "did you mean it by 'age'"),
        (["certify", "first", "--on", "here", "--out", "new"], "parts are those of a file, a folder or a pattern"),
        (["certify", "first", "beds", "--out", "new", "--schema", "paper"], "--schema and --data have no effect on parts"),
        (["certify", "first", "beds", "--out", "new", "--coalition", "Wrad"], "did you mean 'Ward'"),
        (["evaluate", "first", "beds"], "--out"),
        (["evaluate", "first", "new.csv", "--out", "newest"], "part 0: data.action: new.csv: column 'Action' is missing"),
        (["evaluate", "nowhere", "beds", "--out", "new"], "nowhere"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)  # fmt: skip
def test_what_cannot_be_done_is_told(accordant, case_folder, finished_run, beds, arguments, message):
    pd.read_csv(case_folder / "beds.csv").drop(columns="Action").to_csv(case_folder / "new.csv", index=False)
    (case_folder / "mine").mkdir(exist_ok=True)
    (case_folder / "mine" / "notes.txt").write_text("mine")
    done = accordant(*arguments)
    assert done.returncode == 2 and message in " ".join(done.stderr.split()), done.stderr
    assert [each.name for each in (case_folder / "mine").iterdir()] == ["notes.txt"]


@pytest.mark.long
def test_a_folder_that_holds_other_work_is_refused(accordant, finished_run, beds, tmp_path):
    assert accordant("recommend", "first", "beds", "--on", "here", "--out", f"{tmp_path}/out").returncode == 0
    before = {each.name: each.read_bytes() for each in (tmp_path / "out").iterdir()}
    for asked, words in (
        (["certify", "first", "beds"], "other task"), (["recommend", "first", "beds", "--part-rows", "10"], "other parts"),
        (["recommend", "first", "beds.csv", "--on", "here"], "other parts"),
        (["recommend", "first", "beds", "--strategy", "constant:Wait"], "other strategy"),
    ):  # fmt: skip
        done = accordant(*asked, "--out", f"{tmp_path}/out")
        assert done.returncode == 2 and "holds parts of another job" in done.stderr and words.split()[1] in done.stderr
    assert {each.name: each.read_bytes() for each in (tmp_path / "out").iterdir()} == before


@pytest.fixture(scope="module")
def whole_policy(accordant, finished_run, case_folder):
    """A run with strategies for the whole policy."""
    more = "strategies: [{name: maximin}, {name: population_maximin}, {name: population_nash}]\n"
    (case_folder / "whole.yaml").write_text((case_folder / "beds.yaml").read_text() + more)
    done = accordant("run", "whole.yaml", "--out", "whole", "--seed", "5")
    assert done.returncode == 0, done.stderr
    return case_folder / "whole"


@pytest.mark.long
def test_a_strategy_for_the_whole_policy_is_fitted_and_decides(accordant, whole_policy, beds, tmp_path):
    asked = (
        "population",
        "whole",
        "beds",
        "--strategy",
        "population_maximin",
        "--on",
        "here",
        "--out",
        f"{tmp_path}/out",
    )
    done = accordant(*asked)
    assert done.returncode == 0, done.stderr
    for words in (
        "strategy: population_maximin",
        "all rows: 240",
        "Ward",
        "best policy",
        "passes over E",
        f"{tmp_path}/out",
    ):
        assert words in done.stdout
    told = json.loads(accordant(*asked, "--json").stdout)
    assert told.pop("out") == f"{tmp_path}/out" and told == json.loads(
        (tmp_path / "out" / "population.json").read_text()
    )
    assert told["fits"][0]["rows"] == 240 and 0 <= told["fits"][0]["gap"] < 1e-9
    together = accordant(
        "recommend", "whole", "beds", "--population", f"{tmp_path}/out", "--out", f"{tmp_path}/decided"
    )
    assert together.returncode == 0 and "240 recommendations" in together.stdout, together.stderr
    assert len(decided(tmp_path / "decided")) == 240


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["population", "whole", "beds", "--out", "new", "--strategy", "maximin"], "decides each row by itself; allowed:"),
        (["population", "first", "beds", "--out", "new"], "no strategy for the whole policy; a case lists one"),
        (["population", "whole", "beds"], "--out"),
        (["recommend", "whole", "beds", "--population", "nowhere", "--out", "new"], "nowhere has no population.json"),
        (["recommend", "whole", "-", "--population", "nowhere", "--out", "new"], "parts are those of a file, a folder"),
        (["recommend", "whole", "beds.csv", "--population", "nowhere"], "name it with --out"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)  # fmt: skip
def test_a_fit_that_cannot_be_is_told(accordant, case_folder, whole_policy, beds, arguments, message):
    done = accordant(*arguments)
    assert done.returncode == 2 and message in " ".join(done.stderr.split()), done.stderr
    assert not (case_folder / "new").exists()


PLAN = ("plan", "first", "beds", "--rows", "1e5", "--part-rows", "100", "--on", "here", "--price", "2")


@pytest.fixture
def few_empty_parts(monkeypatch):
    """What a part costs the driver, from fewer of them."""
    monkeypatch.setattr("accordant.runs.datasets.sample.EMPTY", (1, 5))


@pytest.mark.long
@pytest.mark.usefixtures("few_empty_parts")
def test_a_plan_says_what_a_job_will_take(accordant, finished_run, beds):
    done = accordant(*PLAN)
    assert done.returncode == 0, done.stderr
    for word in ("100,000", "recommend", "CPU hours", "cost", "limited by", "waiting"):
        assert word in done.stdout


@pytest.mark.long
@pytest.mark.usefixtures("few_empty_parts")
def test_a_plan_as_json_says_what_is_assumed_of_a_cluster(accordant, finished_run, beds):
    told = json.loads(accordant(*PLAN, "--workers", "50", "--json").stdout)
    assert (told["rows"], told["workers"], told["seconds"]["level"]) == (100_000, 50, 0.9)
    assert told["seconds"]["low"] <= told["seconds"]["value"] <= told["seconds"]["high"]
    assert any(note.startswith("assumed") for note in told["notes"])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (["--rows", "1e9", "--for", "certfy"], "did you mean 'certify'"),
        (["--rows", "1e9", "--for", "population"], "has no strategy for the whole policy"),
        (["--rows", "1e9", "--for", "evaluate", "--strategy", "maximin"], "--strategy has no effect on evaluate"),
        (["--rows", "1e9", "--out", "plan.pdf"], "allowed: a file that ends with .html"),
        (["--rows", "1e9", "--out", "-", "--json"], "both write to standard output"),
        (["--rows", "1e9", "--on", "proceses:2"], "did you mean 'processes'"),
        (["--rows", "0"], "--rows is 0"),
        (["--rows", "1e9", "--workers", "0"], "--workers"),
        (["nowhere"], "nowhere"),
        ([], "a DATASET"),
    ],
)
def test_a_plan_of_nothing_is_refused(accordant, finished_run, wrong, words):
    done = accordant("plan", "first", *wrong)
    assert done.returncode == 2 and words in done.stderr and not done.stdout


@pytest.mark.long
@pytest.mark.usefixtures("few_empty_parts")
def test_a_plan_is_written_as_a_page_alone_or_in_a_folder(accordant, finished_run, case_folder, beds):
    alone = accordant(*PLAN, "--out", "plan.html")
    assert alone.returncode == 0 and "page: plan.html" in alone.stdout, alone.stderr
    folder = accordant(*PLAN, "--json", "--out", "planned")
    told = json.loads(folder.stdout)
    assert told == json.loads((case_folder / "planned" / "planned.json").read_text())
    html = (case_folder / "planned" / "report.html").read_text()
    for words in ("10⁵ rows", "Who gets a bed", "The model", "no worker is lost", "10⁷"):
        assert words in html, words
    assert accordant(*PLAN, "--out", "planned").returncode == 2


def test_help_says_the_defaults_that_hold(accordant):
    assert f"may be misreported; {DELTA:g}." in " ".join(
        accordant("certify", "--help").stdout.replace("│", " ").split()
    )
    assert f"so many rows; {PART_ROWS}." in " ".join(accordant("plan", "--help").stdout.replace("│", " ").split())


@pytest.mark.long
def test_lists_for_a_folder(accordant, finished_run, beds, tmp_path):
    asked = ["slate", "first", "beds", "--strategies", "borda", "--k", "2", "--out", f"{tmp_path}/out"]
    done = accordant(*asked, "--on", "here")
    assert done.returncode == 0, done.stderr
    assert "rule: borda, lists of 2" in done.stdout and f"240 lists: {tmp_path}/out" in done.stdout
    told = json.loads(accordant(*asked, "--on", "here", "--json").stdout)
    assert told["rows"] == 240 and [each["stakeholder"] for each in told["stakeholders"]]
    rows = pd.concat([pd.read_parquet(each) for each in sorted((tmp_path / "out").glob("part-*.parquet"))])
    assert len(rows) == 240 and (rows["item[1]"] != rows["item[2]"]).all()


@pytest.mark.parametrize(("given", "message"), [
    (["first", "beds", "--strategies", "borda,seq_pav"], "found borda, seq_pav; name one"),
    (["first", "beds", "--strategies", "borda"], "name it with --out"),
    (["first", "beds", "--strategies", "borda", "--requests", "9"], "--requests has no effect"),
    (["first", "beds", "--strategies", "borda", "--no-add"], "--no-add has no effect"),
    (["triage", "beds", "--strategies", "borda"], "triage is no finished run"),
    (["first", "--part-rows", "9"], "--part-rows has no effect"),
])  # fmt: skip
@pytest.mark.few(1)
def test_lists_that_are_refused(accordant, finished_run, beds, tmp_path, given, message):
    out = [] if "--out" in message else ["--out", f"{tmp_path}/out"]
    done = accordant("slate", *given, *out)
    assert done.returncode == 2 and message in done.stderr and not (tmp_path / "out").exists()
