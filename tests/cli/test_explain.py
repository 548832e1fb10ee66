"""`accordant explain`: text, JSON and a page for single decisions."""

from __future__ import annotations

import json

import pytest

from accordant.cli.explanation_text import HEADINGS


@pytest.fixture(scope="module")
def explained(accordant, finished_run):
    done = accordant("explain", "first", "beds.csv", "--row", "3,0", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.long
def test_explanations_agree_with_recommendations(accordant, explained):
    decided = json.loads(accordant("recommend", "first", "beds.csv", "--json").stdout)
    assert [each["row"] for each in explained["explanations"]] == [3, 0]
    for each in explained["explanations"]:
        row = decided[each["row"]]
        assert each["choice"]["action"] == row["action"]
        rewards = [list(of.values()) for of in row["expected_rewards"].values()]
        assert [[round(e, 12) for e in of] for of in each["expected"]] == [[round(e, 12) for e in of] for of in rewards]


def test_who_decides_over_the_whole_batch_is_there_too(explained):
    assert explained["influence"]["contexts"] == 240
    assert explained["pivotal"]["contexts"] == 240


def test_text_and_page_for_the_untouched_rows(accordant, case_folder, finished_run):
    done = accordant("explain", "first", "--row", "5", "--out", "explained.html")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("the 48 untouched rows of first")
    for heading in HEADINGS.values():
        assert f"\n{heading}\n" in done.stdout
    page = (case_folder / "explained.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Patient" in page
    assert page.count("<script") == 1  # the one of all pages


def test_a_page_names_the_run_and_the_file_without_their_folders(accordant, case_folder, finished_run):
    run, rows, page = case_folder / "first", case_folder / "beds.csv", case_folder / "named.html"
    for file, words in (((), "the 48 untouched rows of first"), ((str(rows),), "240 rows of beds.csv")):
        done = accordant("explain", str(run), *file, "--no-add", "--out", str(page))
        assert done.returncode == 0, done.stderr
        head = page.read_text(encoding="utf-8").partition("</header>")[0]
        assert words in head and str(case_folder) not in head


def test_a_constant_is_explained_as_one(accordant, finished_run):
    done = accordant("explain", "first", "--strategy", "constant:Wait", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["explanations"][0]["choice"]["action"] == "Wait"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--row", "x"], "--row is 'x'; allowed"),
        (["--row", "48"], "row 48 is to be explained; allowed: 0 to 47"),
        (["--row", "-1"], "row -1 is to be explained"),
        (["--row", "9" * 30], "is to be explained"),
        (["beds.csv", "--out", "beds.csv"], "is an input of this command"),
        (["--strategy", "maximim"], "did you mean 'maximin'"),
        (["nothing.csv"], "nothing.csv"),
        (["--out", "no/such/page.html"], "cannot be written"),
    ],
)
def test_wrong_input_ends_with_code_2(accordant, finished_run, arguments, message):
    done = accordant("explain", "first", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_data_that_are_elsewhere_are_asked_for(accordant, case_folder, finished_run, tmp_path):
    done = accordant("explain", str(finished_run), folder=tmp_path)
    assert done.returncode == 2
    assert "name it with --data" in done.stderr
    assert accordant("explain", "first", "--data", str(case_folder)).returncode == 0


PERSON = """
person_concerned: Patient
changeable:
  pulse: down
labels:
  de:
    title: Wer ein Bett bekommt
    actions: {Admit: aufnehmen, Wait: warten}
    outcomes: {Well: gesund, Unwell: krank}
    stakeholders: {Patient: den Patienten, Ward: die Station}
    columns: {age: Alter, pulse: Puls}
"""


@pytest.fixture(scope="module")
def run_for_persons(accordant, case_folder):
    """A run of the same case, with what letters need."""
    text = (case_folder / "beds.yaml").read_text(encoding="utf-8")
    (case_folder / "persons.yaml").write_text(text + PERSON, encoding="utf-8")
    done = accordant("run", "persons.yaml", "--out", "persons", "--seed", "5")
    assert done.returncode == 0, done.stderr
    return "persons"


def test_the_person_the_reason_and_what_would_change_it(accordant, run_for_persons):
    done = accordant("explain", run_for_persons, "beds.csv", "--row", "3,0", "--strategy", "utilitarian", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["format"] == 2
    for each in found["explanations"]:
        assert each["sentences"]["decides"][0].startswith(f"{each['choice']['action']}, because ")
        assert [trait["feature"] for trait in each["person"]["traits"]] == ["age", "pulse"]
        assert each["person"]["action"] == each["choice"]["action"]
        assert each["recourse"]["rows"] == 192
        assert each["measure"]["words"] == "the weighted mean of expected rewards"
        for change in each["recourse"]["changes"]:
            (difference,) = change["differences"]
            assert difference["feature"] == "pulse"
            assert difference["there"] < difference["here"]
        said = " ".join(sentence for part in each["sentences"].values() for sentence in part)
        assert "unit of the rule" not in said


def test_changes_are_looked_for_among_all_training_rows_of_the_data(accordant, run_for_persons, case_folder):
    rows = ["explain", run_for_persons, "beds.csv", "--row", "3", "--json", "--no-add"]
    kept, all_rows = (
        json.loads(accordant(*rows, *more).stdout)["explanations"][0] for more in ((), ("--data", str(case_folder)))
    )
    assert kept["context"]["observed"] == all_rows["context"]["observed"] == 192
    other = case_folder / "other"
    other.mkdir(exist_ok=True)
    (other / "beds.csv").write_text(
        "age,pulse,sex,Action,Outcome\n1,2,f,Admit,Well\n" * 1 + "3,4,m,Wait,Unwell\n", encoding="utf-8"
    )
    done = accordant(*rows, "--data", str(other))
    assert done.returncode == 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("language", "words"), [("en", "Why this was decided about you"), ("de", "Warum so über Sie entschieden wurde")]
)
def test_a_letter_for_the_person(accordant, run_for_persons, case_folder, language, words):
    done = accordant(
        "explain", run_for_persons, "--row", "5", "--for-person", "--language", language, "--out", f"{language}.html"
    )
    assert done.returncode == 0, done.stderr
    page = (case_folder / f"{language}.html").read_text(encoding="utf-8")
    assert words in page
    assert f'<html lang="{language}">' in page
    assert "<script" not in page
    shown = accordant("explain", run_for_persons, "--row", "5", "--for-person", "--language", language, "--json").stdout
    (letter,) = json.loads(shown)
    assert letter["language"] == language
    assert letter["title"] in page
    assert {"Patient"}.isdisjoint(each["who"] for each in letter["wishes"])


def test_languages_that_are_not_there(accordant, run_for_persons):
    done = accordant("explain", run_for_persons, "--for-person", "--language", "fr")
    assert done.returncode == 2
    assert "language" in done.stderr
    assert "de" in done.stderr
    idle = accordant("explain", run_for_persons, "--language", "de")
    assert idle.returncode == 2
    assert "has no effect without --for-person" in idle.stderr
