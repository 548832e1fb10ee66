"""``accordant deliberate RUN``: what it prints, adds, writes and refuses."""

from __future__ import annotations

import json
import shutil

import pytest


@pytest.fixture
def run(case_folder, finished_run):
    """A copy to which sections may be added, in the folder of the case."""
    shutil.rmtree(case_folder / "debated", ignore_errors=True)
    return shutil.copytree(finished_run, case_folder / "debated")


@pytest.mark.long
def test_a_debate_is_told_added_verified_and_reported(accordant, run, case_folder):
    done = accordant("deliberate", "debated", "--row", "3")
    assert done.returncode == 0, done.stderr
    for part in ("row 3 of the 48 untouched rows", "round 3", "settled on ", "E of row 3", "D* (", "Expected reward",
                 "added to the run: sections/0001-decision_debate.json"):  # fmt: skip
        assert part in done.stdout
    again = accordant("deliberate", "debated", "--row", "3", "--json", "--out", "debate.html")
    section = json.loads(again.stdout)
    first, second = (
        json.loads((run / f"sections/000{number}-decision_debate.json").read_text(encoding="utf-8"))
        for number in (1, 2)
    )
    assert first["result"] == second["result"] == section and first["previous"] != second["previous"]
    assert "round 1" in again.stderr and "settled" in (case_folder / "debate.html").read_text(encoding="utf-8")
    told = accordant("verify", "debated")
    verified = json.loads(accordant("verify", "debated", "--json").stdout)
    assert verified["sections"] == 2 and verified["head_sha256"] in told.stdout and "2 sections added" in told.stdout
    assert accordant("report", "debated", "--out", "with.html").returncode == 0
    page = (case_folder / "with.html").read_text(encoding="utf-8")
    assert "Added since the run" in page and "settle on" in page and verified["head_sha256"] in page


@pytest.mark.long
def test_a_batch_on_rows_of_a_file_and_nothing_added(accordant, run):
    batch = ("--rows", "3,7,9,11", "--grant", "Admit", "--capacity", "2", "--no-add", "--json")
    section = json.loads(accordant("deliberate", "debated", "beds.csv", *batch).stdout)
    assert sorted(each["settled"] for each in section["rows"]) == ["Admit", "Admit", "Wait", "Wait"]
    assert section["scarce"] == {"grant": "Admit", "otherwise": "Wait", "capacity": 2}
    assert section["file"] == "beds.csv" and not (run / "sections").exists()
    table = (run.parent / "beds.csv").read_text(encoding="utf-8")
    streamed = accordant("deliberate", "debated", "-", *batch, stdin=table)
    assert json.loads(streamed.stdout)["rows"] == section["rows"]


@pytest.mark.parametrize("protocol", ["offers", "vote"])
def test_other_protocols(accordant, run, protocol):
    done = accordant("deliberate", "debated", "--protocol", protocol, "--no-add", "--json")
    assert json.loads(done.stdout)["rows"][0]["settled"] in {"Admit", "Wait"}


@pytest.mark.long
def test_a_dialogue_is_told_turn_by_turn_and_added(accordant, run, case_folder):
    done = accordant("deliberate", "debated", "--row", "3", "--protocol", "dialogue", "--out", "dialogue.html")
    assert done.returncode == 0, done.stderr
    for part in ("why this action; row 3 of the 48", "1 Patient asks: why ", " answers: ", "because ",
                 "what would change it", "added to the run: sections/0001-decision_dialogue.json"):  # fmt: skip
        assert part in done.stdout
    section = json.loads(accordant("deliberate", "debated", "--row", "3", "--protocol", "dialogue", "--json").stdout)
    first = json.loads((run / "sections/0001-decision_dialogue.json").read_text(encoding="utf-8"))
    assert first["result"] == section
    assert "asks: why" in (case_folder / "dialogue.html").read_text(encoding="utf-8")


REFUSED = {
    "two ways": (["--row", "1", "--rows", "2,3"], "allowed: one of them"),
    "no number": (["--row", "x"], "--row is 'x'; allowed: whole numbers"),
    "no row": (["--row", "48"], "row 48 is to be debated; allowed: 0 to 47"),
    "below": (["--rows", "-1"], "row -1 is to be debated"),
    "units": (["--rows", "1,2", "--grant", "Admit", "--capacity", "bed=1"], "--capacity is bed=1; allowed with a run"),
    "two units": (["--capacity", "1", "--capacity", "2"], "--capacity is 1, 2; allowed with a run"),
    "idle": (["--guard", "strike", "--repeat", "2"], "--guard, --repeat has no effect on the run debated"),
    "protocol": (["--protocol", "talk"], "unknown protocol 'talk'"),
    "dialogue": (["--protocol", "dialogue", "--settle", "borda"], "--settle has no effect on --protocol dialogue"),
    "an input": (["beds.csv", "--out", "debated/x.html"], "lies in the finished run"),
    "a page": (["--out", "page.pdf"], "allowed: a file that ends with .html"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_wrong_input_ends_with_2(accordant, run, kind):
    options, message = REFUSED[kind]
    done = accordant("deliberate", "debated", *options)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr
    assert not (run / "sections").exists()


def test_options_of_runs_have_no_effect_on_cases(accordant):
    done = accordant("deliberate", "triage", "--row", "1", "--grant", "bed")
    assert done.returncode == 2 and "--row, --grant has no effect on triage, which is no finished run" in done.stderr


def test_a_dialogue_is_about_a_run(accordant):
    done = accordant("deliberate", "triage", "--protocol", "dialogue")
    assert done.returncode == 2 and "--protocol dialogue has no effect on triage, which is no finished" in done.stderr


def test_a_run_that_was_changed_is_refused(accordant, run):
    (run / "sections").mkdir()
    (run / "sections" / "0001-decision_debate.json").write_text("{}")
    for command in ("verify", "report", "deliberate"):
        done = accordant(command, "debated")
        assert done.returncode == 2 and "sections/0001-decision_debate.json is no section" in done.stderr
    shutil.rmtree(run / "sections")
    (run / "leaderboard.csv").write_text("")
    assert "leaderboard.csv was changed" in accordant("deliberate", "debated").stderr
