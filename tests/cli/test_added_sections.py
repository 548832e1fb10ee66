"""What `certify` and `explain` add to a run, what they add nothing to, and a case in the place of a run."""

from __future__ import annotations

import json
import shutil

import pytest

from accordant import limits
from accordant.limits import Limit
from accordant.runs import read_run


@pytest.fixture
def run(case_folder, finished_run):
    """A copy to which sections may be added, in the folder of the case."""
    shutil.rmtree(case_folder / "asked", ignore_errors=True)
    kept = shutil.ignore_patterns("sections")
    return shutil.copytree(finished_run, case_folder / "asked", ignore=kept)


def section_of(run, number=0):
    """Return a typed section of a run after comparing its JSON with what its file holds."""
    link = read_run(run).links[number]
    assert link.section().to_json() == link.envelope.result
    return link.section()


@pytest.mark.long
def test_certificates_are_added_with_the_figures_that_are_printed(accordant, run):
    done = accordant("certify", "asked", "--delta", "0.1", "--coalition", "Ward", "--json")
    assert done.returncode == 0, done.stderr
    printed, section = json.loads(done.stdout), section_of(run)
    assert "added to the run: sections/0001-certificates.json" in done.stderr
    assert (section.contexts, section.certified, section.attackable) == tuple(
        printed[name] for name in ("contexts", "certified", "attackable")
    )
    assert section.to_json()["survey"] == printed["survey"] and section.left_out == 0
    assert section.threat.coalition == ("Ward",) and section.selected
    for row, shown in zip(section.decisions, printed["rows"], strict=True):
        assert (row.row, row.action, row.certified) == (shown["row"], shown["action"], shown["certified"])
        assert " | ".join(row.reachable) == shown["reachable"]
        assert list(row.radii) == [shown[name] for name in shown if name.startswith("radius")]
    assert section.rows.words == "the 48 untouched rows of the run" and section.rows.n == 48
    assert f"{section.certified} cannot change if Ward may misreport" in section.words


@pytest.mark.long
def test_an_explanation_is_added_whole(accordant, run, case_folder):
    done = accordant("explain", "asked", "beds.csv", "--row", "3,0", "--json")
    printed, section = json.loads(done.stdout), section_of(run)
    assert section.to_json()["explanations"] == printed["explanations"]
    assert section.to_json()["influence"] == printed["influence"]
    assert section.rows.file == "beds.csv" and section.rows.sha256 is not None
    assert section.words.startswith("Row")
    assert "3 and 0 of 240 rows of beds.csv" in section.words
    told = accordant("explain", "asked", "--row", "2")
    assert "added to the run: sections/0002-explanations.json" in told.stdout
    verified = json.loads(accordant("verify", "asked", "--json").stdout)
    assert verified["sections"] == 2
    accordant("report", "asked", "--out", "asked.html")
    assert "3 and 0 of 240 rows of beds.csv" in (case_folder / "asked.html").read_text(encoding="utf-8")


def test_rows_beyond_the_limit_are_counted(accordant, run, monkeypatch):
    monkeypatch.setattr(limits, "SECTION_RADII", Limit(31, "radii", "a test"))
    done = accordant("certify", "asked")
    assert "sections/0001-certificates.json" in done.stdout
    section = section_of(run)
    assert len(section.decisions) == 10 and section.left_out == 38  # of three coalitions each
    assert "38 rows are counted and not listed" in section.words


@pytest.mark.parametrize("command", ["certify", "explain"])
def test_nothing_is_added_where_nobody_wants_it(accordant, run, command):
    assert accordant(command, "asked", "--no-add").returncode == 0
    assert not (run / "sections").exists()


@pytest.mark.parametrize("command", ["certify", "explain"])
def test_a_folder_that_cannot_be_written_is_refused_before_the_work(accordant, run, command, monkeypatch):
    monkeypatch.setattr("accordant.runs.chain.os.access", lambda place, mode: False)
    monkeypatch.setattr("accordant.runs.opened_run.read_run", lambda place: pytest.fail("the work has begun"))
    done = accordant(command, "asked")
    assert done.returncode == 2 and "no section can be added" in done.stderr and "--no-add adds none" in done.stderr


@pytest.mark.long
def test_the_run_of_a_case_is_made_first(accordant, case_folder, tmp_path):
    done = accordant("certify", str(case_folder / "beds.yaml"), "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "beds.yaml is a case: its run is made first, with seed 42, in accordant-runs/beds-1" in done.stderr
    run = read_run(tmp_path / "accordant-runs" / "beds-1")
    assert [link.envelope.section for link in run.links] == ["certificates"] and run.record.seed == 42
    assert json.loads(done.stdout)["certified"] == section_of(run.path).certified
    own = accordant("certify", "accordant-runs/beds-1", "--data", str(case_folder), "--json", folder=tmp_path)
    assert own.stdout == done.stdout
    rows = ("--data", str(case_folder), "--row", "1", "--json")
    explained = accordant(
        "explain", str(case_folder / "beds.yaml"), str(case_folder / "beds.csv"), *rows, folder=tmp_path
    )
    assert explained.returncode == 0, explained.stderr
    assert "its run with seed 42, of the same data and code, stands in accordant-runs/beds-1" in explained.stderr
    links = [link.envelope.section for link in read_run(tmp_path / "accordant-runs/beds-1").links]
    assert links == ["certificates", "certificates", "explanations"]
    assert not (tmp_path / "accordant-runs/beds-2").exists()


@pytest.mark.long
@pytest.mark.parametrize("changed", ["rows", "case", "folder", "code"])
def test_a_run_of_other_inputs_is_not_taken(accordant, case_folder, tmp_path, changed, monkeypatch):
    for name in ("beds.yaml", "beds.csv"):
        shutil.copy(case_folder / name, tmp_path / name)
    assert accordant("certify", "beds.yaml", "--json", folder=tmp_path).returncode == 0
    if changed == "rows":
        lines = (tmp_path / "beds.csv").read_text().splitlines(keepends=True)
        (tmp_path / "beds.csv").write_text("".join(lines[:-1]))
    elif changed == "case":
        text = (tmp_path / "beds.yaml").read_text()
        (tmp_path / "beds.yaml").write_text(
            text.replace("evaluation: {resamples: 100}", "evaluation: {resamples: 101}")
        )
    elif changed == "folder":
        (tmp_path / "accordant-runs/beds-1/leaderboard.csv").write_text("forged")
    else:
        monkeypatch.setattr("accordant.runs.inputs.code_hash", lambda: "another")
    again = accordant("certify", "beds.yaml", "--json", folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "its run is made first, with seed 42, in accordant-runs/beds-2" in again.stderr


def test_a_folder_comes_before_the_case_of_its_name(accordant, finished_run, tmp_path):
    shutil.copytree(finished_run, tmp_path / "lending")
    done = accordant("explain", "lending", "--row", "999", folder=tmp_path)
    assert done.returncode == 2 and "lending is a folder here: its run is taken" in done.stderr
    (tmp_path / "health").mkdir()
    done = accordant("explain", "health", folder=tmp_path)
    assert done.returncode == 2 and "a folder comes before the case of the same name" in done.stderr


@pytest.mark.parametrize("command", ["certify", "explain"])
def test_what_is_neither_run_nor_case_is_refused(accordant, command):
    done = accordant(command, "lendin")
    assert done.returncode == 2 and "unknown run folder or case 'lendin'" in done.stderr and "'lending'" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize(("command", "section"), [("deliberate", "decision_debate"), ("slate", "slates")])
def test_a_wing_makes_the_run_of_a_case_that_does_not_declare_its_part(
    accordant, case_folder, tmp_path, command, section
):
    options = ("--row", "3") if command == "deliberate" else ("--requests", "3", "--resamples", "100")
    done = accordant(command, str(case_folder / "beds.yaml"), *options, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "beds.yaml is a case: its run is made first, with seed 42" in done.stderr
    run = read_run(tmp_path / "accordant-runs" / "beds-1")
    assert [link.envelope.section for link in run.links] == [section]
    again = accordant(command, str(case_folder / "beds.yaml"), *options, "--seed", "0", folder=tmp_path)
    assert again.returncode == 0 and "its run is made first, with seed 0" in again.stderr


def test_a_case_that_declares_the_part_of_a_wing_stays_what_it_was(accordant, tmp_path):
    for command, idle in (("deliberate", "--row"), ("slate", "--no-add")):
        case = "triage" if command == "deliberate" else "tourism-city"
        done = accordant(command, case, *([idle, "1"] if idle == "--row" else [idle]), folder=tmp_path)
        assert done.returncode == 2 and f"{idle} has no effect on {case}, which is no finished run" in done.stderr
    done = accordant("deliberate", "lending", "--patients", "3", folder=tmp_path)
    assert "--patients has no effect on lending, whose run is made first" in done.stderr


def test_the_schema_of_the_paper_stands_beside_the_exact_certificate(accordant, run):
    options = ("certify", "asked", "--schema", "paper", "--strategy", "stakeholder:Ward", "--delta", "0.02")
    refused = accordant("certify", "asked", "--schema", "papre")
    assert refused.returncode == 2 and "unknown schema 'papre'; did you mean 'paper'?" in refused.stderr
    done = accordant("certify", "asked", "--schema", "paper", "--strategy", "maximin", "--delta", "0.02")
    assert done.returncode == 0, done.stderr
    assert "at τ* = " in done.stdout and "[paper, constants ours]" in " ".join(done.stdout.split())
    section = section_of(run)
    assert section.paper is not None and section.paper.delta == 0.02 and section.paper.substitute
    other = accordant(*options)
    assert other.returncode == 2 and "stakeholder:Ward" in other.stderr
