"""Outputs and figures of the documents are made by commands: excerpts, figures, statements, and the quick pages."""

import os
import re
import subprocess
import sys

import pytest
from docs.renewal import runs
from docs.renewal.__main__ import Renewal, settled, shown, unknown_names
from docs.renewal.excerpts import cell, excerpt, table_with
from docs.renewal.pages import EXEMPT, ROOT, blocks_of, documents, unmarked
from docs.renewal.runs import Record

PRINTED = """\
Which rule
12 requests

rule         kind       score (95%)  worst off   ndcg
> nash       welfare  0.882 [0, 1]       0.422  0.366
minimax      per item 0.879 [0, 1]       0.423  0.393
random_slate baseline 0.636 [0, 1]       0.320  0.143
more, fewer: a footer that is no row of the table

found: 3 rules
"""
QUICK = ["docs/tutorial.md", "docs/how-to/write-a-scope-card.md", "docs/how-to/write-an-objective.md",
         "docs/how-to/bring-your-own-corpus.md", "docs/how-to/elicit-preferences.md"]  # fmt: skip


def page(tmp_path, text, monkeypatch):
    """Write a page and let it be the only document."""
    for module in ("docs.renewal.__main__", "docs.renewal.pages"):
        monkeypatch.setattr(sys.modules[module], "ROOT", tmp_path)
    file = tmp_path / "page.md"
    file.write_text(text, encoding="utf-8")
    return file


def renew(tmp_path, text, monkeypatch):
    file = page(tmp_path, text, monkeypatch)
    renewal = Renewal(tmp_path / "scratch", None)
    renewal.carry_out(file, blocks_of(text))
    new = renewal.renewed(file, text)
    renewal.judge(file, text)
    return new, renewal.faults


def test_excerpt_keeps_lines_and_columns_and_says_what_it_left_out():
    kept = excerpt(PRINTED, "/^rule/+1, /^random_slate/", "rule | score (95%) | ndcg")
    assert [" ".join(line.split()) for line in kept.splitlines()] == [
        "…",
        "rule … score (95%) … ndcg",
        "> nash … 0.882 [0, 1] … 0.366",
        "…",
        "random_slate … 0.636 [0, 1] … 0.143",
        "…",
    ]
    assert excerpt(PRINTED, "", "") == PRINTED


def test_excerpt_of_an_output_that_changed_shape_is_an_error_not_an_empty_block():
    with pytest.raises(LookupError, match="no line for"):
        excerpt(PRINTED, "/^no such rule/", "")
    with pytest.raises(LookupError, match="no table with the columns rule, wins"):
        excerpt(PRINTED, "", "rule | wins")


def test_cells_are_found_by_row_and_column():
    assert len(table_with(PRINTED, ["rule"]).lines) == 4
    record = Record("accordant slate x", PRINTED, ROOT)
    assert record.cell("nash", "kind") == "welfare"
    assert record.number("minimax", "score (95%)") == 0.879
    assert record.first_row("ndcg") == "nash"
    assert record.found(r"found: (\d+)") == "3"
    with pytest.raises(LookupError, match="no row 'borda'"):
        cell(PRINTED, "borda", "ndcg")


def test_a_blank_within_a_cell_does_not_end_its_column():
    text = "rule   kind          score (95%)  ndcg\nnash   welfare  0.882 [0.8, 0.9]  0.36\n"
    assert cell(text, "nash", "score (95%)") == "0.882 [0.8, 0.9]"


@pytest.mark.parametrize(
    ("value", "old", "new"),
    [(0.7666, "0.812", "0.767"), (0.7666, ".8", ".8"), (0.7666, "12%", "77%"), (0.5, "12.3 %", "50.0 %"),
     (-0.5, "-.25", "-.50"), (12000, "1,000", "12,000"), (160, "159", "160"), ("26.6%", "1%", "26.6%")],
)  # fmt: skip
def test_figures_are_written_as_before(value, old, new):
    assert shown(value, old) == new


def test_durations_and_last_digits_are_no_differences():
    assert settled("took 12.9 s, 180 MB") == settled("took 3.1 s, 95 MB")
    assert settled("0.13965576619504927") == settled("0.13965576619504931")
    assert settled("0.139655") != settled("0.139656")


def test_blocks_are_made_anew(tmp_path, monkeypatch):
    text = (
        "<!-- first: printf '1\\n2\\n3\\n' > numbers -->\n<!-- lines: 1, 3 -->\n```console\n$ cat numbers\nold\n$ echo ignored\n"
        "$ echo end\nend\n```\n\n```python\nprint(1 + 1)  # 3\n```\n\n<!-- output of: python -->\n```\n3\n```\n"
    )
    new, faults = renew(tmp_path, text, monkeypatch)
    assert not faults
    assert "$ cat numbers\n1\n…\n3\n$ echo ignored\n$ echo end\nend\n```" in new
    assert "print(1 + 1)  # 2\n" in new and "\n```\n2\n```\n" in new


STANDS_ALONE = "```python\n{}print(1 + 1)  # 3\n```\n"
WROTE, READS = "```console\n$ echo 1 | tee numbers\n1\n```\n", "open('numbers').close()\n"


def test_python_that_stands_alone_needs_no_data(tmp_path, monkeypatch):
    new, faults = renew(tmp_path, "```console\n$ cat DATA/numbers\n1\n```\n" + STANDS_ALONE.format(""), monkeypatch)
    assert not faults and "# 2" in new


def test_python_that_stands_alone_finds_nothing_that_commands_wrote(tmp_path, monkeypatch):
    _, faults = renew(tmp_path, WROTE + STANDS_ALONE.format(READS), monkeypatch)
    assert len(faults) == 1 and "FileNotFoundError" in faults[0]


def test_python_that_is_not_tested_finds_what_commands_wrote(tmp_path, monkeypatch):
    shows = f"```python notest\n{READS}print(1 + 1)\n```\n<!-- output of: python -->\n```\n3\n```\n"
    new, faults = renew(tmp_path, WROTE + shows, monkeypatch)
    assert not faults and "\n2\n```" in new


def test_a_warning_of_python_that_stands_alone_is_a_fault(tmp_path, monkeypatch):
    _, faults = renew(tmp_path, STANDS_ALONE.format("import warnings\nwarnings.warn('old')\n"), monkeypatch)
    assert len(faults) == 1 and "UserWarning: old" in faults[0]


def test_a_command_that_fails_and_a_statement_that_is_false_are_faults(tmp_path, monkeypatch):
    _, faults = renew(tmp_path, "```console\n$ exit 1\nfine\n```\n", monkeypatch)
    assert len(faults) == 1 and "page.md:1: $ exit 1" in faults[0]
    file = page(tmp_path, "<!-- holds: one.number('minimax', 'ndcg') > 0.5 -->\n", monkeypatch)
    renewal = Renewal(tmp_path, None, runs={"one": Record("", PRINTED, tmp_path)})
    renewal.judge(file, file.read_text(encoding="utf-8"))
    assert "holds no longer" in renewal.faults[0]


def test_an_unmarked_output_is_noticed(tmp_path, monkeypatch):
    file = page(
        tmp_path,
        "```text\n0.5\n```\n\n<!-- lins: 1 -->\n```console\n$ true\n```\n<!-- = x -->1<!-- / -->\n",
        monkeypatch,
    )
    found = unmarked(file)
    assert len(found) == 3
    assert "begins a line" in found[0] and "output of" in found[1] and "unknown marker 'lins'" in found[2]


@pytest.mark.parametrize("file", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_output_says_what_makes_it(file):
    assert unmarked(file) == []


@pytest.mark.long
def test_figures_name_runs_that_a_page_declares():
    texts = {file: file.read_text(encoding="utf-8") for file in documents()}
    assert unknown_names(texts) == []
    assert set(EXEMPT) <= {str(file.relative_to(ROOT)) for file in texts}


@pytest.mark.long
def test_quick_pages_print_what_their_commands_print():
    command = [sys.executable, "-m", "docs.renewal", "--check", "--quick", *QUICK]
    environment = {name: value for name, value in os.environ.items() if name != "ACCORDANT_DATA"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_run_that_two_pages_ask_for_is_made_once_and_copied(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "FROM_CASE", re.compile(r"mkdir (?P<out>\w+); .*"))
    kept, command = runs.KeptRuns(tmp_path / "kept"), "mkdir town; echo $RANDOM$RANDOM$RANDOM | tee town/told"
    one, other = (runs.Shell(tmp_path / name, None, kept) for name in ("one", "other"))
    one.prepare(), other.prepare()
    first = one.run(command)
    (one.scratch / "town" / "told").write_text("what the page adds to its run")
    other.run("(exit 2)")
    second = other.run(command)
    assert other.run("echo $?").text == "0\n"
    assert second.text == first.text == (other.scratch / "town" / "told").read_text()
    assert (first.scratch, second.scratch) == (one.scratch, other.scratch)


@pytest.mark.parametrize(
    ("command", "out"),
    [
        ("accordant run story --quick --out town", "town"),
        ("accordant run examples/own_case/apprenticeships.yaml --out apprenticeships", "apprenticeships"),
        ("accordant run misspelt.yaml --out town", None),
        ("accordant run lending --preferences Applicant=answers.csv --out answered", None),
        ("accordant run lending --data DATA --out loans", None),
        ("accordant report town --out page.html", None),
    ],
)
def test_what_reads_files_of_its_page_is_made_on_each_page(command, out):
    found = runs.FROM_CASE.fullmatch(command)
    assert out == (found and found["out"])
