"""`accordant preferences`: table, JSON, page, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from accordant.cli.app import app
from accordant.preferences.result import LearnerComparison
from accordant.preferences.terminal import methods_table, style_names
from accordant.errors import InputError


@pytest.fixture(scope="module")
def features(case_folder):
    """A file of two groups of users who want opposite things."""
    generator = np.random.default_rng(0)
    rows = []
    for user in range(12):
        sign = -1 if user > 8 else 1
        for _ in range(8):
            a, b = sorted(generator.normal(size=2).round(3), reverse=sign > 0)
            rows.append(f"u{user},{'few' if sign < 0 else 'most'},{a},{b}")
    path = case_folder / "tastes.csv"
    path.write_text("user_id,group_id,chosen_x,rejected_x\n" + "\n".join(rows) + "\n")
    return path.name


@pytest.mark.long
def test_json_is_alone_on_stdout_and_a_folder_is_written(accordant, case_folder, features):
    done = accordant("preferences", features, "--method", "mixture", "--json", "--resamples", "50", "--out", "compared")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [row["method"] for row in found["methods"]] == ["pooled", "balanced", "group_robust", "mixture"]
    assert "learning: pooled, balanced, group_robust, mixture" in done.stderr  # side by side
    assert json.loads((case_folder / "compared" / "comparison.json").read_text()) == found
    assert (case_folder / "compared" / "report.html").read_text().startswith("<!DOCTYPE html>")
    wrong = accordant("preferences", "tastes.cvs", "--method", "mixture", "--json")
    assert wrong.returncode == 2
    assert not wrong.stdout
    assert methods_table(LearnerComparison.read(found)).row_count == 4


@pytest.fixture
def run_here(case_folder, monkeypatch, capsys):
    """Run the command in this process and return what stands on stdout."""
    monkeypatch.chdir(case_folder)

    def run(*arguments):
        app(["preferences", *arguments], standalone_mode=False)
        return capsys.readouterr().out

    return run


@pytest.mark.long
def test_the_table_says_what_was_done_and_what_to_mind(run_here, features):
    found = run_here(
        features, "--method", "per_user[prior=2]", "--resamples", "50", "--test", "0.5", "--out", "page.html"
    )
    for words in (
        "tastes.csv (features): 96 comparisons of 12 users; 48 to learn from, 48 to judge by",
        "groups: the file says them; users: most 9, few 3",
        "> per_user[prior=2]",
        "group few has 3 measured users",
        "terms:",
        "page: page.html",
    ):
        assert words in found, words


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tastes.cvs", "--method", "mixture"], "tastes.cvs does not exist; did you mean 'tastes.csv'"),
        (["tastes.csv", "--method", "mixtur"], "unknown method 'mixtur'; did you mean 'mixture'"),
        (["tastes.csv"], "no method is named; allowed: --method NAME, or --compare"),
        (["tastes.csv", "--method", "mixture", "--styles", "a"], "allowed: two styles with a comma between"),
        (["tastes.csv", "--method", "mixture", "--test", "2"], "test is 2.0; allowed: above 0, below 1"),
        (["tastes.csv", "--method", "mixture", "--format", "hhrlhf"], "did you mean 'hh-rlhf'"),
    ],
)
def test_what_is_wrong_is_an_input_error(run_here, features, arguments, message):
    with pytest.raises(InputError) as error:
        run_here(*arguments)
    assert message in str(error.value)


def test_a_folder_that_exists_is_refused_before_the_work(run_here, features, case_folder, caplog):
    (case_folder / "there").mkdir()
    with pytest.raises(InputError, match="there exists; name another folder"):
        run_here(features, "--method", "mixture", "--out", "there")
    assert not caplog.records
    with pytest.raises(InputError, match="allowed: a file that ends with .html"):
        run_here(features, "--method", "mixture", "--out", features)


def test_styles_are_two_names():
    assert style_names(None) is None
    assert style_names("a, b") == ("a", "b")
    with pytest.raises(InputError, match="allowed: two styles"):
        style_names("a")
