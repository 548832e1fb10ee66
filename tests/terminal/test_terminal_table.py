"""Tables fit any width: no cell is cut, no name or number is broken, and what is left out is named."""

import io
import re

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from accordant.terminal import PlainConsole, print_records
from accordant.terminal_table import FittedTable

WORD = st.text(st.sampled_from("abcdefgxyz_:[]0123456789.%é字"), min_size=1, max_size=14)
TEXT = st.lists(WORD, max_size=9).map(" ".join)
KINDS = ("number", "name", "text", "optional")


@st.composite
def tables(draw):
    """Return kinds, heads and rows; cells of numbers are one word, of names up to three."""
    kinds = ["name", *draw(st.lists(st.sampled_from(KINDS), max_size=9))]
    heads = [f"{draw(TEXT)} h{place}".strip() for place in range(len(kinds))]
    cells = {
        "number": WORD,
        "optional": WORD,
        "name": st.lists(WORD, min_size=1, max_size=3).map(" ".join),
        "text": TEXT,
    }
    rows = [[draw(cells[kind]) for kind in kinds] for _ in range(draw(st.integers(1, 4)))]
    return kinds, heads, rows


WIDE_LETTERS = (
    ["name", "text", "name", "text"],
    ["13é451f0%ayy4g h0", "c86:2y.%f3][c: ze1[%%f79]2b[b x202]6 h1", "8%z[28z[zy_2zz xa83e8字[:z g%c ed:]31x h2", "h3"],
    [["6y 7.%dbg 88b", "", "y1b4_a58c44]", "8_.字 dd4字 f0a 83yxc eb_9x2b]x1aab]"],
     ["ze", "73 aea083e4byf1y8 xgc8字e", "f.3字 d字b32[2 _8z", "zy4 [bx417g:7b b1 4字 e 1:b%a[4z gxd5065a5ey[6c"]],
)  # fmt: skip


def printed(kinds, heads, rows, width, title="A title"):
    table = FittedTable(title)
    for kind, head in zip(kinds, heads, strict=True):
        table.add(head, number=kind in ("number", "optional"), name=kind == "name", optional=int(kind == "optional"))
    for row in rows:
        table.add_row(*row)
    stream = io.StringIO()
    PlainConsole(stream, width=width).print(table)
    return stream.getvalue()


@pytest.mark.long
@settings(max_examples=150, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(tables(), st.integers(12, 150))
@example(WIDE_LETTERS, 97)
def test_nothing_is_cut_and_every_line_fits(table, width):
    kinds, heads, rows = table
    text = printed(*table, width)
    longest = max(cell_len(word) for part in (*heads, *(cell for row in rows for cell in row)) for word in part.split())
    assert max(cell_len(line.rstrip()) for line in text.split("\n")) <= max(width, 4 + longest)
    squeezed = " ".join(text.split())
    gone = squeezed.rpartition("no room for ")[2] if "no room for " in squeezed else ""
    for place, (kind, head) in enumerate(zip(kinds, heads, strict=True)):
        if kind == "optional" and re.search(rf"(^|\s){re.escape(head.split()[-1])}(,|$)", gone):
            continue
        for cell in (row[place] for row in rows):
            for word in cell.split():
                assert word in text, f"{word} is cut in\n{text}"
            if kind == "number":
                assert cell in squeezed
    if "no room for" in text:
        assert "optional" in kinds


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(tables())
def test_a_table_that_fits_is_as_rich_makes_it(table):
    from rich.table import Table

    kinds, heads, rows = table
    plain = Table(title="A title", title_justify="left", box=None, pad_edge=False)
    for kind, head in zip(kinds, heads, strict=True):
        plain.add_column(head, justify="right" if kind in ("number", "optional") else "left", no_wrap=kind == "name")
    for row in rows:
        plain.add_row(*row)
    stream = io.StringIO()
    PlainConsole(stream, width=2000).print(plain)
    assert printed(*table, 2000) == stream.getvalue()


ROWS = [["constrained[utilitarian within limits]", "0.578", "0.453–0.710", "yes", "12%", "0.576"],
        ["constant:Grant", "0.567", "0.346–0.986", "", "0%", "0.499"]]  # fmt: skip
HEADS = ["strategy", "score", "95% interval", "among best", "tied", "Worst Off Reward (0.5)"]
BOARD = ["name", "number", "number", "number", "optional", "optional"]


@pytest.mark.parametrize(("width", "gone"), [(140, ""), (81, ""), (78, "Worst Off Reward (0.5)"), (69, "Worst Off Reward (0.5), tied")])  # fmt: skip
def test_a_leaderboard_leaves_columns_out_before_anything_else(width, gone):
    text = printed(BOARD, HEADS, ROWS, width)
    assert all(row[0] in text and row[2] in text for row in ROWS)
    assert (f"no room for {gone}" in text) == bool(gone)
    assert max(map(len, text.split("\n"))) <= width


def test_numbers_stand_in_parts_below_each_other_and_texts_are_turned():
    numbers = printed(
        ["name"] + ["number"] * 12, ["rule", *(f"axiom{k}" for k in range(12))], [["maximin", *"0123456789ab"]], 40
    )
    assert numbers.count("maximin") > 1 and numbers.count("axiom11") == 1
    turned = printed(
        ["name", "text", "text"], ["rule", "kind", "what it does"], [["maximin" * 4, "a rule", "to serve the " * 9]], 40
    )
    assert "\n  what it does: to serve" in turned and "\n    serve the" in turned


def test_columns_of_the_environment_are_respected_in_pipes(monkeypatch, capsys):
    records = [{"case": f"case_{k}", "title": "word " * 30, "command": "accordant run case"} for k in range(3)]
    for columns in (60, 80):
        monkeypatch.setenv("COLUMNS", str(columns))
        print_records("Cases", records, as_json=False)
        assert 40 < max(map(len, capsys.readouterr().out.split("\n"))) <= columns
    for nonsense in ("", "0", "wide", "-3"):
        monkeypatch.setenv("COLUMNS", nonsense)
        print_records("Cases", records, as_json=False)
        assert 100 < max(map(len, capsys.readouterr().out.split("\n"))) <= 140


def test_a_path_is_printed_whole(monkeypatch):
    stream, path = io.StringIO(), "/a/" + "folder/" * 20 + "report.html"
    PlainConsole(stream, width=40).print(f"report: {path}")
    assert path in stream.getvalue()


TOLD = "      v641: severity 0.69, rank 1 of 12; v447: severity 0.28, rank 10 of 12 [rawlsian-3, rawlsian-1]"


@pytest.mark.parametrize("width", [30, 60, 200])
def test_a_transcript_breaks_between_words_under_its_own_indentation(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    stream = io.StringIO()
    console = PlainConsole(stream, soft_wrap=True)
    console.print("round 1")
    console.print()
    console.print(TOLD)
    console.print(f"\npage: /{'a' * 2 * width}/report.html")
    first, empty, *lines = stream.getvalue().splitlines()
    told, path = lines[: lines.index("")], lines[lines.index("") + 1 :]
    assert (first, empty) == ("round 1", "")
    assert " ".join(" ".join(told).split()) == TOLD.strip()
    assert all(cell_len(line) <= width for line in told) and told[0].startswith("      v641")
    assert all(line.startswith("            ") for line in told[1:]) and (len(told) == 1) == (width == 200)
    assert "/" + "a" * 2 * width + "/report.html" in " ".join(path)


def test_a_transcript_in_a_pipe_keeps_its_lines(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    stream = io.StringIO()
    PlainConsole(stream, soft_wrap=True).print(TOLD * 3)
    assert stream.getvalue() == f"{TOLD * 3}\n"
