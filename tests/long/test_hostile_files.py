"""Files that nobody should write, through every command that reads one: refused or accepted, never crashed or hung.

Each input is one file of a small world, damaged once or twice, and the command that reads it, in this process. What
would be fitted or served afterwards is not: `REACHED` says where a command stops, and a sample goes through to its end.
Every input has a seed of its own, so that one that fails can be looked at alone::

    python -m tests.long.test_hostile_files 20000            how many; prints a table, and the failures
    python -m tests.long.test_hostile_files 2000 vote-       of targets that begin so
    python -m tests.long.test_hostile_files vote-soc 17      one input, with the end of its traceback

`HOSTILE_INPUTS` says how many the test takes.
"""

from __future__ import annotations

import copy
import csv
import gzip
import hashlib
import importlib
import io
import json
import logging
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest
import yaml
from typer.testing import CliRunner

import accordant
from accordant.cli.app import app
from accordant.errors import InputError

INPUTS = int(os.environ.get("HOSTILE_INPUTS", "300"))
CPU_SECONDS = 10.0  # an input that takes longer has hung; most take hundredths
WHOLE_SECONDS = 100.0  # the same for what goes on to the fits
SECONDS = 300.0  # of the clock: for what waits and computes nothing
WHOLE = 100  # one of so many inputs goes on to the fits
EXAMPLES = Path(__file__).parents[2] / "examples"

# where commands stop once everything is read and checked
REACHED = (
    ("accordant.policy", "learn"),
    ("accordant.preferences.section", "_judge"),
    ("accordant.preferences.terminal", "converse"),
    ("accordant.slates.section", "serve"),
)


class ReachedError(Exception):
    """A command has read everything."""


class HungError(BaseException):
    """An input takes too long; no error that commands may catch."""


# a file that nobody damaged is accepted, but for a recording of other requests
EXPECTED = {"deliberate-recording"}


# The world


BEDS = """
name: beds
title: Who gets a bed
problem:
  stakeholders: [Patient, {name: Ward, role: deciding, weight: 2}]
  actions: [Admit, Wait]
  outcomes: [Well, Unwell]
  favourable_actions: [Admit]
  favourable_outcomes: [Well]
  outcome_to_action: {Well: Wait, Unwell: Admit}
  sensitive_attributes: [{name: sex, labels: {f: women, m: men}}]
data: {file: beds.csv, action: Action, outcome: Outcome, features: [age, pulse, ward], rename: {ok: Well}}
rewards:
  Patient: {table: {Admit: {Well: 0.8, Unwell: 0.6}, Wait: {Well: 1.0, Unwell: 0.0}}}
  Ward: {table: {Admit: {Well: 0.1, Unwell: 0.7}, Wait: {Well: 0.9, Unwell: 0.3}}}
learning:
  outcome_model: {name: LogisticRegression, parameters: {max_iter: 1000}, grid: {C: [0.1, 1.0]}}
  reward_model: {name: stated}
  folds: 3
strategies:
  - {name: utilitarian}
  - {name: kalai_smorodinsky, parameters: {disagreement: global, ideal: global}}
metrics:
  Accuracy: {metric: accuracy, weight: 0.5}
  Worst_Off: {metric: min_reward, weight: 0.5}
  Parity: {metric: demographic_parity, parameters: {attributes: [sex]}}
evaluation: {resamples: 100, test_size: 0.25}
scope:
  id: beds
  version: "1"
  title: Beds
  decision: Who gets a bed
  decision_unit: one patient
  deployment_context: none
  in_scope_uses: [examples]
  out_of_scope_uses: [wards]
  stakeholders: [{name: Patient, role: affected, consulted: false, how: invented}]
  populations: [nobody]
notes: [An invented ward.]
"""
WARD = """
name: ward
title: A ward
deliberation:
  file: patients.csv
  resources: [{name: ventilator, capacity: 2}, {name: nurse, capacity: 1.5, portion: 0.5}]
  protected: [sex]
  agents: [utilitarian, rawlsian]
"""
PATIENTS = """id,severity,p_with,p_without,sex,demand_nurse
a,0.9,0.5,0.2,f,1
b,0.4,0.9,0.6,m,0.5
c,0.7,0.8,0.2,f,1
d,0.8,0.4,0.3,m,0.5
"""
NAMES = "# ALTERNATIVE NAME 1: Ada\n# ALTERNATIVE NAME 2: Ben\n# ALTERNATIVE NAME 3: Cleo\n"
BALLOTS = {
    "soc": "3: 1,2,3\n2: 3,2,1\n", "soi": "3: 1,2\n2: 3\n", "toc": "3: 1,{2,3}\n2: {3,2},1\n", "toi": "3: {1,2}\n2: 3\n",
    "cat": "3: {1,2},3\n2: {},{1,2,3}\n",
}  # fmt: skip
BUDGET = """META
key;value
description;x
num_projects;3
num_votes;3
budget;120
vote_type;{kind}
PROJECTS
project_id;cost;name
a;100;Bench
b;20.5;Bus
c;0;Tree
VOTES
voter_id;age;vote{more}
1;20;{first}
2;30;{second}
3;40;c{third}
"""
TRL = [
    {"prompt": f"q{n % 4}", "chosen": f"good {n}", "rejected": f"bad {n}", "user_id": f"u{n % 4}", "weight": 1.5}
    for n in range(24)
]
HH = [
    {"chosen": f"\n\nHuman: q{n}\n\nAssistant: yes {n}", "rejected": f"\n\nHuman: q{n}\n\nAssistant: no {n}"}
    for n in range(24)
]
DSP = [{"query": f"q{n}", "responses": {"academy": f"a{n}", "normal": f"b{n}", "business": f"c{n}"}} for n in range(60)]


def table(header: list[str], rows: list[list[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()


def beds(n: int, draw: random.Random) -> str:
    rows = []
    for _ in range(n):
        age, pulse = draw.randint(20, 90), round(draw.gauss(80, 12), 1)
        ill = draw.random() < (0.8 if pulse > 80 else 0.3)
        rows.append(
            [
                age,
                pulse,
                draw.choice(["A", "B", "C"]),
                draw.choice("fm"),
                draw.choice(["Admit", "Wait"]),
                ["Well", "Unwell"][ill],
            ]
        )
    return table(["age", "pulse", "ward", "sex", "Action", "Outcome"], rows)


def recording() -> str:
    from accordant.agents.language.provider import Fault, Message, Recorder, Reply, Request

    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder) / "talk.jsonl")
        for n, outcome in enumerate((Reply("{}"), Reply("no", tokens_in=3), Fault("timeout", "slow"))):
            request = Request("m", (Message("user", f"hello {n}"),), {"type": "object"}, "prompted", None, n, 100)
            recorder.write(request, outcome)
        return (Path(folder) / "talk.jsonl").read_text()


def world(folder: Path) -> None:
    """Write every undamaged file, and make a run."""
    draw = random.Random(1)
    files = {
        "beds.yaml": BEDS, "beds.csv": beds(240, draw), "new.csv": beds(12, draw), "ward.yaml": WARD,
        "patients.csv": PATIENTS, "answers.txt": "1\n2\n=\n1\nq\n", "talk.jsonl": recording(),
        "trl.jsonl": "".join(json.dumps(each) + "\n" for each in TRL), "dsp.json": json.dumps(DSP),
        "trl.csv": table(list(TRL[0]), [list(each.values()) for each in TRL]),
        "hh.jsonl": "".join(json.dumps(each) + "\n" for each in HH),
        "choices.csv": "".join((EXAMPLES / "preferences" / "choices.csv").read_text().splitlines(True)[:120]),
        "ratings/ratings.csv": table(
            ["userId", "movieId", "rating", "timestamp"],
            [[u, m, draw.choice([1.0, 2.5, 4.0, 5.0]), 100 * u + m] for u in range(1, 31) for m in range(1, 21)],
        ),
        "ratings/movies.csv": table(["movieId", "title", "genres"], [[m, f"Film {m}", "Drama|War"] for m in range(1, 21)]),
        "given.csv": "user_id,chosen_action,chosen_outcome,rejected_action,rejected_outcome,weight\n"
        "Patient,Admit,Well,Wait,Unwell,1\nPatient,Wait,Well,Admit,Unwell,2\n",
        "loans.yaml": (Path(accordant.__file__).parent / "cases" / "lending" / "lending.yaml").read_text(),
        **{f"votes.{kind}": ballots(kind) for kind in BALLOTS},
        "votes.pb": BUDGET.format(kind="approval", more="", first="a,b", second="b", third=""),
        "points.pb": BUDGET.format(kind="cumulative", more=";points", first="a,b;7,3", second="b;10", third=";5"),
    }  # fmt: skip
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    shutil.copytree(EXAMPLES / "own_slates", folder / "slates")
    shutil.copytree(EXAMPLES / "from_comparisons", folder / "comparisons")
    done = CliRunner().invoke(app, ["run", str(folder / "beds.yaml"), "--out", str(folder / "run"), "--jobs", "1"])
    assert done.exit_code == 0, (done.output, done.exception)
    done = CliRunner().invoke(app, ["deliberate", str(folder / "run"), "--row", "0", "--data", str(folder)])
    assert done.exit_code == 0, (done.output, done.exception)
    shutil.copytree(folder / "run", folder / "intact")


def ballots(kind: str) -> str:
    categories = "# NUMBER CATEGORIES: 2\n# CATEGORY NAME 1: Yes\n# CATEGORY NAME 2: No\n" if kind == "cat" else ""
    head = f"# DATA TYPE: {kind}\n# NUMBER ALTERNATIVES: 3\n# NUMBER VOTERS: 5\n# NUMBER UNIQUE ORDERS: 2\n"
    return head + categories + NAMES + BALLOTS[kind]


@dataclass(frozen=True)
class Target:
    """A file that is damaged, and the commands that read it; `{}` in a command stands for the file.

    `numbers` are columns of numbers, for damage of one cell. `share`: how often, beside others.
    """

    file: str
    commands: tuple[tuple[str, ...], ...]
    form: str  # yaml, json, lines (of JSON), table, text
    numbers: tuple[str, ...] = ()
    share: int = 2
    separator: str = ","
    prepare: Callable[[Path], None] | None = None


SECTION = "run/sections/0001-decision_debate.json"


def with_hashes(folder: Path) -> None:
    """Make a forged run folder consistent, and the section that was added to it."""
    path = folder / "run" / "manifest.json"
    manifest = json.loads(path.read_text())
    for name in manifest["sha256"]:
        if (folder / "run" / name).is_file():
            manifest["sha256"][name] = hashlib.sha256((folder / "run" / name).read_bytes()).hexdigest()
    path.write_text(json.dumps(manifest))
    section = json.loads((folder / SECTION).read_text())
    section["previous"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / SECTION).write_text(json.dumps(section))


NEW = (
    ("recommend", "run", "{}"), ("recommend", "run", "{}", "--json"), ("recommend", "run", "-"),
    ("certify", "run", "{}", "--no-add"), ("explain", "run", "{}", "--no-add"), ("recommend", "run", "{}", "--strategy", "kalai_smorodinsky[global]"),
)  # fmt: skip
FORGED = (
    ("report", "run", "--out", "page.html"),
    ("recommend", "run", "new.csv"),
    ("certify", "run", "new.csv", "--no-add"),
)
ADDED = (
    ("verify", "run"),
    ("report", "run", "--out", "page.html"),
    ("deliberate", "run", "new.csv", "--row", "0", "--no-add"),
)
SPEAKS = ("--replay", "{}", "--model", "m", "--speaks-for", "rawlsian")
VOTE = (("vote", "{}", "--json"), ("vote", "{}", "--rules", "borda,ranked_pairs,instant_runoff"))
TARGETS = {
    "run-case": Target("beds.yaml", (("run", "{}", "--out", "made", "--jobs", "1"),), "yaml", share=8),
    "run-data": Target("beds.csv", (("run", "beds.yaml", "--out", "made", "--jobs", "1"),), "table", ("age", "pulse"), 5),
    "simulate-case": Target("loans.yaml", (("simulate", "{}", "--rows", "50"), ("run", "{}", "--out", "made")), "yaml"),
    "recommend-rows": Target("new.csv", NEW, "table", ("age", "pulse"), 4),
    "run-record": Target("run/run.json", FORGED, "json", share=4, prepare=with_hashes),
    "run-policy": Target("run/models/policy.json", FORGED[1:], "json", share=4, prepare=with_hashes),
    "run-manifest": Target("run/manifest.json", FORGED, "json"),
    "run-section": Target(SECTION, ADDED, "json", share=3),
    "run-preferences": Target("given.csv", (("run", "beds.yaml", "--preferences", "Patient={}", "--out", "made", "--jobs", "1"),), "table",
                              ("weight",)),
    "run-axioms": Target("run/run.json", (("strategies", "--agreement", "--run", "run", "--contexts", "4"),), "json",
                         share=1, prepare=with_hashes),
    **{f"vote-{kind}": Target(f"votes.{kind}", VOTE, "text", share=3) for kind in BALLOTS},
    "vote-pb": Target("votes.pb", (("vote", "{}"), ("vote", "{}", "--json")), "table", ("cost",), 4, ";"),
    "vote-points": Target("points.pb", (("vote", "{}"), ("vote", "{}", "--json")), "table", ("cost", "points"), 4, ";"),
    "preferences-trl": Target("trl.jsonl", (("preferences", "{}", "--method", "pooled", "--encoder", "length"),), "lines", share=3),
    "preferences-csv": Target("trl.csv", (("preferences", "{}", "--method", "pooled", "--encoder", "length"),), "table", ("weight",), 2),
    "preferences-hh": Target("hh.jsonl", (("preferences", "{}", "--method", "pooled", "--encoder", "length"),), "lines"),
    "preferences-dsp": Target("dsp.json", (("preferences", "{}", "--method", "pooled", "--encoder", "length", "--records", "5"),), "json"),
    "preferences-features": Target("choices.csv", (("preferences", "{}", "--method", "pooled"),), "table", ("chosen_price", "rejected_speed"), 3),
    "preferences-ratings": Target("ratings/ratings.csv", (("preferences", "ratings", "--method", "pooled"),), "table", ("rating", "timestamp")),
    "preferences-movies": Target("ratings/movies.csv", (("preferences", "ratings", "--method", "pooled"),), "table"),
    "rewards-case": Target("comparisons/tutoring.yaml", (("run", "{}", "--out", "made", "--jobs", "1"),), "yaml", share=3),
    "rewards-answers": Target("comparisons/pupils.csv", (("run", "comparisons/tutoring.yaml", "--out", "made", "--jobs", "1"),),
                              "table", ("minutes",), 1),
    "elicit-answers": Target("answers.txt", (("elicit", "beds.yaml", "--stakeholder", "Patient", "--answers", "{}"),), "text"),
    "elicit-earlier": Target("given.csv", (("elicit", "beds.yaml", "--stakeholder", "Patient", "--out", "{}", "--answers", "answers.txt"),),
                             "table", ("weight",)),
    "slate-case": Target("slates/library.yaml", (("slate", "{}", "--resamples", "100", "--out", "made"),), "yaml", share=4),
    "slate-loans": Target("slates/loans.csv", (("slate", "slates/library.yaml", "--out", "made"),), "table", (), 1),
    "slate-books": Target("slates/books.csv", (("slate", "slates/library.yaml", "--out", "made"),), "table", ("copies",), 2),
    "deliberate-case": Target("ward.yaml", (("deliberate", "{}"), ("deliberate", "{}", "--json")), "yaml", share=4),
    "deliberate-patients": Target("patients.csv", (("deliberate", "ward.yaml"), ("deliberate", "ward.yaml", "--protocol", "vote")),
                                  "table", ("severity", "p_with", "p_without", "demand_nurse"), 4),
    "deliberate-rows": Target("new.csv", (("deliberate", "run", "{}", "--row", "1", "--no-add"),
                                          ("deliberate", "run", "{}", "--rows", "0,1", "--grant", "Admit", "--capacity", "1", "--no-add")),
                              "table", ("age", "pulse")),
    "deliberate-recording": Target("talk.jsonl", (("deliberate", "ward.yaml", *SPEAKS),), "lines", share=3),
}  # fmt: skip


# Damage


TOKENS = [
    "", " ", "abc", "-1", "0", "1e308", "-1e308", "1e999", "nan", "inf", "-inf", "NaN", "null", "true", "9" * 400, "9" * 5000,
    "0.1e-320", "2,5", "50%", "#DIV/0!", "2024-02-30", "\0", "\x1b[31m", "\u202e", "\ufeff", "é", "😀", "=1+1", "../../x",
    "/dev/zero", "x" * 3000, "{", "}", "[", "]", '"', "'", ";", ",", "\n", "\r", "\t", "#", "&a", "*a", "<<: *a", "!!binary x",
    "!!int x", "? ", "- ", ": ", "|", "%s", "None", "1_000", "٣", "１", "1e5", "0x10", "1:30", "- - - - ",
]  # fmt: skip
VALUES = [
    None, True, False, 0, -1, 1, 2, 10**30, 10**400, 1e308, -1e308, float("nan"), float("inf"), 1e-320, "", " ", "abc", "1", "nan",
    "x" * 3000, "\0", "\x1b[2J", "../../x", "/dev/zero", "=1+1", "é", "\ud800", [], {}, [[]], [None], {"": None}, {"name": "x"},
    [1, 2, 3], ["a", "a"], {"a": {"b": {"c": 1}}}, 0.5, 1.5, "sex", "age", "Admit", "utilitarian", "borda", "auto", 10**6,
]  # fmt: skip
NO_NUMBERS = ["abc", "2,5", "50%", "#DIV/0!", "2024-01-02", "1O", "--3", "\0", "1 2", "12e", "true", "$5", "x1"]


def nested(draw: random.Random, depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value] if draw.random() < 0.5 else {"a": value}
    return value


def places(value: object) -> list[tuple[object, object]]:
    """Return every container with each of its keys."""
    found: list[tuple[object, object]] = []
    stack = [value]
    while stack:
        inner = stack.pop()
        keys = list(inner) if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else []
        for key in keys:
            found.append((inner, key))
            stack.append(inner[key])
    return found


def damaged_tree(value: object, draw: random.Random) -> object:
    """Return a value of YAML or JSON with one part changed, taken away, renamed, doubled, or nested deeply."""
    value = copy.deepcopy(value)
    spots = places(value)
    if not spots:
        return draw.choice(VALUES)
    inside, key = draw.choice(spots)
    kind = draw.randrange(7)
    if kind == 0:
        del inside[key]
    elif kind == 1 and isinstance(inside, dict):
        inside[draw.choice(["", "abc", "name", 1, None, f"{key}s", "\x1b", "x" * 500])] = inside.pop(key)
    elif kind == 2:
        other, there = draw.choice(spots)
        inside[key] = copy.deepcopy(other[there])
    elif kind == 3:
        inside[key] = nested(draw, draw.choice([3, 60, 70, 300]))
    elif kind == 4 and isinstance(inside, list):
        inside += [copy.deepcopy(inside[key])] * draw.choice([1, 50])
    else:
        inside[key] = copy.deepcopy(draw.choice(VALUES))
    return value


def damaged_bytes(content: bytes, draw: random.Random) -> bytes:
    """Return bytes with some flipped, cut, doubled, moved, inserted, or encoded otherwise."""
    lines = content.splitlines(True) or [b""]
    at, length = draw.randrange(len(content) + 1), draw.choice([1, 4, 20, 200])
    kind = draw.randrange(15)
    if kind == 0:
        changed = bytearray(content)
        for _ in range(draw.choice([1, 1, 3, 20])):
            if changed:
                changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
        return bytes(changed)
    if kind == 1:
        return content[:at] + content[at + length :]
    if kind == 2:
        return content[: at + length] + content[at:]
    if kind == 3:
        return content[:at]
    if kind == 4:
        draw.shuffle(lines)
        return b"".join(lines)
    if kind == 5:
        line = draw.randrange(len(lines))
        return b"".join([*lines[:line], *[lines[line]] * draw.choice([2, 3, 200]), *lines[line + 1 :]])
    if kind == 6:
        del lines[draw.randrange(len(lines))]
        return b"".join(lines)
    if kind == 7:
        text = content.decode("utf-8", "replace")
        return text.encode(draw.choice(["utf-16", "utf-16-le", "utf-8-sig", "cp1252", "latin-1", "utf-32"]), "replace")
    if kind == 8:
        return draw.choice(
            [
                gzip.compress(content, mtime=0),
                gzip.compress(content, mtime=0)[:40],
                b"",
                b"\0" * 50,
                b"\xff\xfe",
                b"\x1f\x8b",
            ]
        )
    if kind == 9:
        return (
            content[:at]
            + draw.choice([b"[", b"{", b"(", b'{"a":', b"- ", b'"', b"a: {"]) * draw.choice([70, 5000])
            + content[at:]
        )
    if kind == 10:
        return content.replace(b"\n", draw.choice([b"\r", b"\r\n", b"\n\n", b" \n"]))
    if kind == 11:
        return (
            lines[0].rstrip()
            + b"".join(b"%sc%d" % (draw.choice([b",", b";"]), n) for n in range(draw.choice([30, 11_000])))
            + b"\n"
            + b"".join(lines[1:])
        )
    token = draw.choice(TOKENS).encode("utf-8", "replace")
    return content[:at] + token + content[at + draw.choice([0, 1, len(token)]) :]


def damaged_cell(content: bytes, target: Target, draw: random.Random) -> tuple[bytes, str] | None:
    """Return a table with one cell of a column of numbers that is none, and the column; None if there is no such row."""
    lines = content.decode().splitlines()
    rows = list(csv.reader(lines, delimiter=target.separator))
    places = [
        (number, rows[head].index(column), column)
        for column in target.numbers
        for head in range(len(rows))
        if column in rows[head]
        for number in range(head + 1, len(rows))
        if len(rows[number]) == len(rows[head]) and rows[number][0] not in ("META", "PROJECTS", "VOTES")
    ]
    places = [
        each for each in places if rows[each[0]][each[1]].replace(".", "").replace("-", "").replace(",", "").isdigit()
    ]
    if not places:
        return None
    number, at, column = draw.choice(places)
    rows[number][at] = draw.choice(NO_NUMBERS)
    text = io.StringIO()
    csv.writer(text, delimiter=target.separator, lineterminator="\n").writerows(rows)
    return text.getvalue().encode(), column


def damaged(content: bytes, target: Target, draw: random.Random) -> tuple[bytes, str]:
    """Return a damaged file, and the column if one cell of it is wrong (otherwise an empty text)."""
    if target.numbers and draw.random() < 0.4:
        cell = damaged_cell(content, target, draw)
        if cell is not None:
            return cell
    if target.form in ("yaml", "json") and draw.random() < 0.65:
        tree = damaged_tree((yaml.safe_load if target.form == "yaml" else json.loads)(content), draw)
        if draw.random() < 0.2:
            tree = damaged_tree(tree, draw)
        try:
            text = yaml.safe_dump(tree, sort_keys=False) if target.form == "yaml" else json.dumps(tree)
            return text.encode("utf-8", "surrogatepass"), ""
        except (RecursionError, ValueError, TypeError):
            return b"x" * 10, ""
    if target.form == "lines" and draw.random() < 0.6:
        lines = content.splitlines(True)
        line = draw.randrange(len(lines))
        try:
            lines[line] = json.dumps(damaged_tree(json.loads(lines[line]), draw)).encode() + b"\n"
        except (RecursionError, ValueError, TypeError):
            lines[line] = b"{}\n"
        return b"".join(lines), ""
    for _ in range(draw.choice([1, 1, 1, 2])):
        content = damaged_bytes(content, draw)
    return content, ""


# Carrying out


@dataclass(frozen=True)
class Ended:
    """How a command ended: refused, accepted, crashed, hung or silent; and what there is to say of it."""

    how: str
    words: str = ""


class Warned(logging.Handler):
    """Remembers what was logged."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def _hung(*_: object) -> None:
    raise HungError


@contextmanager
def limited_time(cpu_seconds: float):
    """Interrupt what computes or waits for too long."""
    kinds = ((signal.SIGPROF, signal.ITIMER_PROF, cpu_seconds), (signal.SIGALRM, signal.ITIMER_REAL, SECONDS))
    before = [signal.signal(number, _hung) for number, *_ in kinds]
    for _, timer, seconds in kinds:
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for (number, timer, _), handler in zip(kinds, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


def ended(arguments: list[str], stdin: bytes | None, column: str, cpu_seconds: float) -> Ended:
    """Carry a command out and say how it ended."""
    logger, warned = logging.getLogger("accordant"), Warned()
    logger.addHandler(warned)
    try:
        with limited_time(cpu_seconds):
            result = CliRunner().invoke(app, arguments, input=stdin)
    except HungError:
        return Ended("hung", "".join(traceback.format_exc().splitlines(True)[-8:]))
    finally:
        logger.removeHandler(warned)
    error = result.exception
    if isinstance(error, HungError):
        return Ended("hung", "".join(traceback.format_tb(error.__traceback__)[-4:]))
    if isinstance(error, InputError) or (isinstance(error, SystemExit) and result.exit_code == 2):
        return Ended("refused", str(error))
    accepted = isinstance(error, ReachedError) or (result.exit_code == 0 and error is None)
    if not accepted:
        at = "".join(traceback.format_tb(error.__traceback__)[-3:]) if error else result.output[-300:]
        return Ended("crashed", f"{type(error).__name__}: {error}\n{at}"[:2000])
    said = "\n".join([result.output, *warned.messages])
    return Ended("silent", f"column {column}") if column and column not in said else Ended("accepted")


class Fuzzer:
    """Damages files of a world and carries out commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        world(folder)
        self.intact = {target.file: (folder / target.file).read_bytes() for target in TARGETS.values()}

    def input(self, name: str, number: int) -> Ended:
        """Make one input, and say how it ended."""
        target, draw = TARGETS[name], random.Random(f"{name}/{number}")
        content, column = damaged(self.intact[target.file], target, draw)
        return self.carried_out(target, draw.choice(target.commands), content, column, whole=draw.randrange(WHOLE) == 0)

    def undamaged(self) -> dict[str, Ended]:
        """Return how each command ends with the files as they were."""
        return {
            f"{name}: {' '.join(command)}": self.carried_out(target, command, self.intact[target.file])
            for name, target in TARGETS.items()
            for command in target.commands
        }

    def carried_out(
        self, target: Target, command: tuple[str, ...], content: bytes, column: str = "", *, whole: bool = False
    ) -> Ended:
        """Carry a command out with a file that holds something else, to its end or until everything is read."""
        path = self.folder / target.file
        path.write_bytes(content)
        if target.prepare is not None:
            target.prepare(self.folder)
        try:
            with ExitStack() as stack:
                if not whole:
                    for module, function in REACHED:
                        stack.enter_context(
                            mock.patch.object(importlib.import_module(module), function, side_effect=ReachedError)
                        )
                stdin = content if "-" in command else b""
                words = [part.replace("{}", target.file) for part in command]
                return ended(words, stdin, column, WHOLE_SECONDS if whole else CPU_SECONDS)
        finally:
            self._restore(target)

    def _restore(self, target: Target) -> None:
        (self.folder / target.file).write_bytes(self.intact[target.file])
        shutil.rmtree(self.folder / "made", ignore_errors=True)
        if target.file.startswith("run/"):
            for name in ("run/manifest.json", SECTION):
                shutil.copy(self.folder / name.replace("run", "intact", 1), self.folder / name)

    def inputs(self, total: int, prefix: str = "") -> tuple[dict[str, Counter[str]], list[str]]:
        """Make that many inputs, divided by shares; return how they ended by target, and the failures in words."""
        shares = {name: target.share for name, target in TARGETS.items() if name.startswith(prefix)}
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        failures = []
        for name, share in shares.items():
            for number in range(max(1, round(total * share / sum(shares.values())))):
                found = self.input(name, number)
                counts[name][found.how] += 1
                if found.how not in ("refused", "accepted"):
                    failures.append(f"{name} {number} {found.how}: {found.words}")
        return counts, failures


@pytest.mark.filterwarnings("ignore")
def test_no_file_crashes_hangs_or_is_taken_for_what_it_is_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ACCORDANT_DATA", raising=False)
    fuzzer = Fuzzer(tmp_path)
    undamaged = fuzzer.undamaged()
    assert {name.partition(":")[0] for name, found in undamaged.items() if found.how != "accepted"} == EXPECTED, (
        undamaged
    )
    counts, failures = fuzzer.inputs(INPUTS)
    assert not failures, "\n".join(failures[:20])
    for name, found in counts.items():
        assert found["refused"], f"{name}: damage is never noticed"


def main(arguments: list[str]) -> int:
    """Make inputs and print how they ended, or one of them."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.pop("ACCORDANT_DATA", None)
        os.chdir(folder)
        fuzzer = Fuzzer(Path(folder))
        if arguments and arguments[0] in TARGETS:
            print(fuzzer.input(arguments[0], int(arguments[1])))
            return 0
        counts, failures = fuzzer.inputs(int(arguments[0]) if arguments else INPUTS, *arguments[1:])
        kinds = ("refused", "accepted", "crashed", "hung", "silent")
        print(f"{'':24}" + "".join(f"{kind:>10}" for kind in kinds))
        for name, found in counts.items():
            print(f"{name:24}" + "".join(f"{found[kind]:>10}" for kind in kinds))
        total = sum(counts.values(), Counter())
        print(f"{'all':24}" + "".join(f"{total[kind]:>10}" for kind in kinds))
        print("\n".join(failures))
        return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
