"""Loading: from files of all sorts to checked logs, and where files are looked for."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordant.cases import files
from accordant.cases.loaders import load_file
from accordant.tables.frames import read_chunks
from accordant.tables.whole_tables import read_frame
from accordant.cases.files import file_beside, find_file, find_reward_file, no_data
from accordant.tables.frames import Rows
from accordant.cases.spec import CaseSpec
from accordant.cases.data_spec import DataSpec
from accordant.cases.files import read_case
from accordant.errors import DataError, DataNotFoundError, InputError, UnknownNameError
from accordant.problem import DecisionProblem
from accordant.runs.execution import RunOptions, carry_out, case_data, split, subset

PROBLEM = DecisionProblem(
    stakeholders=["Bank"], actions=["yes", "no"], outcomes=["good", "bad"], sensitive_attributes=["group"]
)
SPEC = DataSpec(action="did", outcome="followed", features=("x",))
GOOD = "x,group,did,followed\n1,a,yes,good\n2,b,no,bad\n"


def load(folder, text, spec=SPEC, problem=PROBLEM, columns=None):
    path = folder / "own.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_file(path, spec, problem, columns or {})


def test_a_good_file(tmp_path):
    data = load(tmp_path, GOOD)
    assert data.log.actions.tolist() == [0, 1] and data.log.outcomes.tolist() == [0, 1]
    assert list(data.log.contexts) == ["x", "group"]
    assert data.source == "own.csv" and not data.simulated and len(data.sha256) == 64


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "own.csv is empty"),
        ("x,group,did,followed\n", "header but no rows"),
        (GOOD.replace("did", "didd"), r"own.csv: column 'did' is missing; did you mean it by 'didd'"),
        (GOOD.replace("group", "grup"), "did you mean it by 'grup'"),
        (GOOD.replace("no,bad", "noo,bad"), r"action in own.csv, line 3: 'noo'; did you mean 'no'"),
        (GOOD.replace("no,bad", "no,bda"), r"outcome in own.csv, line 3: 'bda'; did you mean 'bad'"),
        (GOOD.replace("no,bad", ",bad"), "own.csv, line 3: column 'did': found nothing; allowed: a name"),
        (GOOD.replace(",", ";"), "is missing"),
        ("x,group,did,followed\n1,a,yes,good\n2,b,no,bad,7,8\n", r"own.csv, line 3: 6 fields; allowed: 4, as in the"),
        (GOOD.replace("yes,good", '"yes,good'), "line 3: 3 fields; allowed: 4, .* a quotation mark is not closed"),
        (GOOD + "3,a,yes\n", "own.csv, line 4: 3 fields; allowed: 4, as in the header$"),
        (GOOD.replace("2,", "\n2\0,"), "own.csv, line 4 holds the character NUL; allowed: text without it"),
        (GOOD.replace("good\n", "good,\n").replace("bad\n", "bad,\n"), "line 2: 5 fields.*the header does not"),
        (
            GOOD.replace("good\n", "good,\n"),
            r"own.csv, line 2: 5 fields; allowed: 4, as in the header; the row ends with",
        ),
        (GOOD.replace("x,", "x,x,"), "own.csv, line 1: 2 columns are called 'x'"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        load(tmp_path, text)


@pytest.mark.parametrize("at_once", [1, 2, 3, 100])
@pytest.mark.parametrize("place", range(5))
def test_a_row_that_is_too_long_is_named_in_every_batch(tmp_path, place, at_once):
    """Wherever it stands, and from a file as from a stream: no column moves to the left, and no field is dropped."""
    rows = [f"{k},{k}" for k in range(5)]
    rows[place] += ","
    text = "\n".join(["a,b", *rows]) + "\n"
    (tmp_path / "own.csv").write_text(text)
    for source, name in ((tmp_path / "own.csv", "own.csv"), (io.StringIO(text), "standard input")):
        with pytest.raises(
            DataError, match=f"^{name}, line {place + 2}: 3 fields; allowed: 2, as in the header; the row"
        ):
            list(read_chunks(source, at_once))


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open)])
def test_packed_files_are_unpacked(tmp_path, suffix, opener):
    for text, separator in ((GOOD, ","), (GOOD.replace(",", ";"), ";")):
        path = tmp_path / f"own.csv{suffix}"
        with opener(path, "wt") as file:
            file.write(text)
        assert read_frame(path, separator)["group"].tolist() == ["a", "b"]


def test_rows_are_read_as_they_stand(tmp_path):
    """Quoted separators and ends of lines, blank lines, a mark of byte order, an empty last column."""
    text = '\ufeff\n "\n"a",b,\r\n1,"x,\r\ny",\r\n\r\n2,"say ""no""",7\r\n3,,\r\n'.replace(' "\n', "  \n")
    for at_once in (1, 2, 10):
        (tmp_path / "own.csv").write_bytes(text.encode())
        frame = pd.concat(read_chunks(tmp_path / "own.csv", at_once))
        assert [str(name) for name in frame.columns][:2] == ["a", "b"] and len(frame.columns) == 3
        assert frame["a"].tolist() == [1, 2, 3]
        assert frame["b"].tolist()[:2] == ["x,\r\ny", 'say "no"'] and pd.isna(frame["b"].tolist()[2])


@pytest.mark.long
@given(
    table=st.lists(
        st.lists(st.text("ab,;\"' \n", min_size=1, max_size=4), min_size=3, max_size=3), min_size=1, max_size=8
    ),
    at_once=st.integers(1, 9),
    size=st.integers(1, 60),
)
def test_what_is_counted_is_what_is_parsed(table, at_once, size):
    """Python's reader and the parser agree on where rows end, whatever is quoted."""
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([["p", "q", "r"], *table])
    text = out.getvalue()
    found = pd.concat(read_chunks(io.StringIO(text), at_once, texts=("p", "q", "r")))
    assert found.to_numpy().tolist() == table
    rows, pieces = Rows(io.StringIO(text), ",", "it"), []
    while piece := rows.read(size):
        pieces.append(piece)
    assert "".join(pieces) == text and all(len(piece) >= size for piece in pieces[:-1])
    assert "".join(Rows(io.StringIO(text), ",", "it")) == text


@pytest.mark.parametrize("seed", range(6))
def test_binary_junk_is_a_readable_error(tmp_path, seed):
    junk = np.random.default_rng(seed).integers(0, 256, 4000, dtype=np.uint8).tobytes()
    for content in (junk, b"\x00" * 100, b"\xff\xfe" + junk, b"\x89PNG\r\n\x1a\n" + junk, GOOD.encode("utf-16")):
        with pytest.raises(InputError):
            load(tmp_path, content)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        load_file(tmp_path, SPEC, PROBLEM, {})
    with pytest.raises(DataError, match="cannot be read"):
        read_frame(tmp_path / "none.csv")


def test_names_that_pandas_takes_for_missing(tmp_path):
    """An action called None is an action; an empty cell is missing."""
    problem = PROBLEM.replace(actions=["Treat", "None"])
    data = load(tmp_path, "x,group,did,followed\n1,a,None,good\nNA,b,Treat,bad\n", problem=problem)
    assert data.log.actions.tolist() == [1, 0]
    assert np.isnan(data.log.contexts["x"][1])


def test_rewards_in_columns(tmp_path):
    text = "x,group,did,followed,said\n1,a,yes,good,0.25\n2,b,no,bad,1\n"
    data = load(tmp_path, text, columns={"Bank": "said"})
    assert data.log.rewards["Bank"].tolist() == [0.25, 1.0]
    assert "said" not in data.log.contexts


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1.5", "own.csv, line 3: column 'said': found 1.5; allowed: a number in"),
        ("", "own.csv, line 3: column 'said': found nothing; allowed: a number"),
        ("much", "own.csv, line 3: column 'said': found 'much'; allowed: a number"),
    ],
)
def test_rewards_in_columns_that_cannot_be(tmp_path, value, message):
    text = f"x,group,did,followed,said\n1,a,yes,good,0.25\n2,b,no,bad,{value}\n"
    with pytest.raises(InputError, match=message):
        load(tmp_path, text, columns={"Bank": "said"})


def test_renamed_values_and_dropped_columns(tmp_path):
    spec = DataSpec(action="did", outcome="followed", features=("x",), rename={"1": "yes", "0": "no"}, drop=("later",))
    data = load(tmp_path, "x,group,did,followed,later\n1,a,1,good,9\n2,b,0,bad,9\n", spec)
    assert data.log.actions.tolist() == [0, 1]
    assert "later" not in data.log.contexts


def test_true_levels_never_reach_the_contexts(tmp_path):
    problem = PROBLEM.replace(outcomes={"name": "score"})
    spec = DataSpec(action="did", outcome="followed", features=("x",), true_levels={"yes": "m1", "no": "m0"})
    data = load(tmp_path, "x,group,did,followed,m0,m1\n1,a,yes,3,1,3\n2,b,no,2,2,5\n", spec, problem)
    assert data.true_levels.tolist() == [[3.0, 5.0], [1.0, 2.0]]
    assert list(data.log.contexts) == ["x", "group"]
    assert data.take(np.array([1])).true_levels.tolist() == [[5.0], [2.0]]


# --- places ----------------------------------------------------------------------------------------------------


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No variable, an empty cache, an empty working folder."""
    monkeypatch.delenv(files.VARIABLE, raising=False)
    monkeypatch.setattr(files, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(GOOD)
    return path


FILE = "lending/loans.csv"


def test_a_given_file_or_folder(nowhere):
    path = put(nowhere / "given" / "lending" / "loans.csv")
    flat = put(nowhere / "flat" / "loans.csv")
    other = put(nowhere / "other-name.csv")
    assert find_file(FILE, path) == path
    assert find_file(FILE, str(nowhere / "given")) == path
    assert find_file(FILE, nowhere / "flat") == flat
    assert find_file(FILE, other) == other  # a file may have any name


def test_variable_cache_and_beside(nowhere, monkeypatch):
    assert find_file(FILE, None) is None
    cached = put(nowhere / "cache" / "lending" / "loans.csv")
    assert find_file(FILE, None) == cached
    below = put(nowhere / "variable" / "lending" / "loans.csv")
    monkeypatch.setenv(files.VARIABLE, str(nowhere / "variable"))
    assert find_file(FILE, None) == below
    beside = put(nowhere / "case" / "lending" / "loans.csv")
    assert find_file(FILE, None, nowhere / "case") == beside
    assert find_file(FILE, cached, nowhere / "case") == cached  # what was given comes first


@pytest.mark.parametrize("where", ["given", "variable"])
def test_a_named_place_without_the_file_is_an_error_that_names_all(nowhere, monkeypatch, where):
    put(nowhere / "cache" / "lending" / "loans.csv")  # never a silent substitute
    given = nowhere / "empty" if where == "given" else None
    if where == "variable":
        monkeypatch.setenv(files.VARIABLE, str(nowhere / "empty"))
    with pytest.raises(DataNotFoundError) as caught:
        find_file(FILE, given)
    for part in (FILE, "--data", "$ACCORDANT_DATA", str(nowhere / "cache"), "simulator"):
        assert part in str(caught.value)


def test_nothing_at_all_names_every_place(nowhere):
    for part in (FILE, "--data", "$ACCORDANT_DATA", str(nowhere / "cache")):
        assert part in str(no_data(FILE))


def test_files_of_rewards_are_looked_for_beside_the_case_first(nowhere, monkeypatch):
    """Then in the folder that --data names or whose file it names, below the variable, and in the cache."""
    wanted = "answers/bank.csv"
    places_in_order = [nowhere / name for name in ("case", "given", "variable", "cache")]
    for folder in places_in_order:
        put(folder / wanted)
    monkeypatch.setenv(files.VARIABLE, str(nowhere / "variable"))
    data = put(nowhere / "given" / "loans.csv")
    for named in (nowhere / "given", data):
        for k, folder in enumerate(places_in_order):
            assert find_reward_file(wanted, named, nowhere / "case") == folder / wanted
            (folder / wanted).rename(nowhere / str(k))
        with pytest.raises(DataNotFoundError) as caught:
            find_reward_file(wanted, named, nowhere / "case")
        for part in (wanted, "beside the case file", "--data", files.VARIABLE, *map(str, places_in_order)):
            assert part in str(caught.value)
        for k, folder in enumerate(places_in_order):
            (nowhere / str(k)).rename(folder / wanted)
    assert find_reward_file(str(data), None) == data  # an absolute path needs no looking
    put(nowhere / wanted)
    (nowhere / "cache" / wanted).unlink()
    monkeypatch.delenv(files.VARIABLE)
    with pytest.raises(DataNotFoundError, match=r"beside the case file \(none named\)"):
        find_reward_file(wanted, None)  # the working folder is no such place


def test_a_case_without_data_or_simulator(nowhere):
    case, _ = read_case("lending")
    case = case.replace(simulator=None)
    with pytest.raises(DataNotFoundError, match="ACCORDANT_DATA"):
        case_data(case, None, RunOptions(), case.signals())


# --- subsets and the split -------------------------------------------------------------------------------------


@pytest.fixture
def sorted_data(tmp_path):
    """400 rows whose outcomes are in order, as in the published file."""
    frame = pd.DataFrame({"x": np.arange(400), "group": "a", "did": "yes", "followed": ["bad"] * 100 + ["good"] * 300})
    return load(tmp_path, frame.to_csv(index=False))


def test_subsets_are_nested_seeded_and_mixed(sorted_data):
    small, again, large, other = (
        subset(sorted_data, RunOptions(seed=seed, rows=rows)).log.contexts["x"]
        for rows, seed in ((100, 0), (100, 0), (200, 0), (100, 1))
    )
    assert np.array_equal(small, again) and not np.array_equal(small, other)
    assert set(small) < set(large)
    bad = subset(sorted_data, RunOptions(rows=200)).log.outcomes.mean()
    assert bad == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / 200))


@pytest.mark.parametrize("rows", [401, 0, -1])
def test_more_rows_than_there_are(sorted_data, rows):
    with pytest.raises(InputError, match=f"rows is {rows}; allowed: 1 to 400"):
        subset(sorted_data, RunOptions(rows=rows))


def test_the_split_is_scikit_learns(sorted_data):
    from sklearn.model_selection import train_test_split

    train, test = split(sorted_data, 0.2, 42)
    wanted = train_test_split(np.arange(400), test_size=0.2, random_state=42)
    assert np.array_equal(train.log.contexts["x"], wanted[0])
    assert np.array_equal(test.log.contexts["x"], wanted[1])


def test_too_few_rows_to_split(tmp_path):
    data = load(tmp_path, "x,group,did,followed\n1,a,yes,good\n")
    with pytest.raises(DataError, match="cannot be split"):
        split(data, 0.2, 42)


# --- real files ------------------------------------------------------------------------------------------------

LENDING = {
    "lending/lending_club_2015.csv": (2656, [2189, 28, 439]),
    "lending/lending_club_2007_2010.csv": (8725, [7192, 114, 1419]),
}


@pytest.mark.parametrize("file", LENDING)
def test_lending_files(real_data, file):
    path = real_data(file)
    case, _ = read_case("lending")
    log = load_file(path, case.data, case.problem, {}).log
    rows, outcomes = LENDING[file]
    assert len(log) == rows
    assert np.bincount(log.outcomes, minlength=3).tolist() == outcomes  # blanks in values became underscores
    assert set(np.unique(log.actions)) == {0}
    kind = (log.contexts["Income"] < 30_000) | (log.contexts["Credit_Score"] < 670)
    assert np.array_equal(log.contexts["Applicant_Type"], kind.astype(float))
    assert not [name for name in log.contexts if "reward" in name or name in ("Outcome", "Action", "Applicant_ID")]
    assert not [name for name in log.contexts if " " in name]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_health_files(real_data, number):
    path = real_data(f"ihdp/ihdp_npci_{number}.csv")
    case, _ = read_case("health")
    data = load_file(path, case.data, case.problem, {})
    assert len(data.log) == 747 and np.bincount(data.log.actions).tolist() == [139, 608]
    assert not {"mu0", "mu1", "Outcome_True", "Outcome", "Action"} & set(data.log.contexts)
    assert not {"mu0", "mu1", "Outcome_True"} & set(case.data.features)
    effect = (data.true_levels[0] - data.true_levels[1]).mean()
    assert effect == pytest.approx([4.021, 4.052, 4.111][number - 1], abs=5e-4)


@pytest.mark.long
def test_a_case_of_ones_own_from_file_to_leaderboard(tmp_path):
    """Table rewards by group, and a reward in a column."""
    generator = np.random.default_rng(0)
    n = 90
    x = generator.normal(size=n)
    frame = pd.DataFrame(
        {
            "x": x,
            "group": generator.integers(0, 2, n),
            "did": generator.choice(["yes", "no"], n),
            "followed": np.where(x + generator.normal(size=n) > 0, "good", "bad"),
            "said": generator.random(n).round(2),
        }
    )
    frame.to_csv(tmp_path / "own.csv", index=False)
    table = {"yes": {"good": 1.0, "bad": 0.0}, "no": {"good": 0.3, "bad": 0.9}}
    other = {"yes": {"good": 0.8, "bad": 0.4}, "no": {"good": 0.1, "bad": 0.5}}
    case = {
        "name": "own",
        "title": "An own case",
        "problem": {
            "stakeholders": ["Bank", "Applicant"],
            "actions": ["yes", "no"],
            "outcomes": ["good", "bad"],
            "outcome_to_action": {"good": "yes", "bad": "no"},
            "favourable_actions": ["yes"],
            "favourable_outcomes": ["good"],
            "sensitive_attributes": [{"name": "group"}],
        },
        "data": {"file": "own.csv", "action": "did", "outcome": "followed", "features": ["x"]},
        "rewards": {"Bank": {"table": {0: table, 1: other}, "attribute": "group"}, "Applicant": {"column": "said"}},
        "learning": {
            "outcome_model": {"name": "LogisticRegression"},
            "reward_model": {"name": "DecisionTreeRegressor", "parameters": {"max_depth": 3}},
            "folds": 3,
        },
        "metrics": {"Accuracy": {"metric": "accuracy", "weight": 1.0}},
        "evaluation": {"resamples": 100},
    }
    import yaml

    (tmp_path / "own.yaml").write_text(yaml.safe_dump(case))
    outcome = carry_out(tmp_path / "own.yaml", RunOptions())
    assert outcome.record.content["data"] | {"sha256": ""} == {
        "source": "own.csv", "simulated": False, "sha256": "", "rows": 90, "train": 72, "test": 18,
        "group": None, "time": None, "left_out": 0,
    }  # fmt: skip
    first = outcome.policy.signals_["Bank"](outcome.policy.evidence_.log.contexts, "yes", "bad")
    assert np.array_equal(first, np.where(outcome.policy.evidence_.log.contexts["group"] == 1, 0.4, 0.0))
    CaseSpec(**outcome.record.content["case"])


def test_a_metric_with_weight_that_does_not_suit_the_problem_fails_before_learning(tmp_path, monkeypatch):
    case, _ = read_case("lending")
    metrics = {name: each.model_dump() for name, each in case.metrics.items()}
    metrics["Mean"] = {"metric": "mean_outcome"}
    import yaml

    declared = case.model_dump(mode="json") | {"metrics": metrics}
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(declared))
    monkeypatch.delenv(files.VARIABLE, raising=False)
    monkeypatch.setattr(files, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr("accordant.policy.learn", lambda *_: pytest.fail("learning has started"))
    with pytest.raises(InputError, match="metric 'Mean'.*continuous"):
        carry_out(tmp_path / "own.yaml", RunOptions())


def test_unknown_loader(tmp_path):
    spec = DataSpec(loader="tabel", action="did", outcome="followed", features=("x",))
    with pytest.raises(UnknownNameError, match="did you mean 'table'"):
        load(tmp_path, GOOD, spec)


def test_names_that_no_file_can_have_are_not_found(tmp_path, monkeypatch):
    monkeypatch.delenv("ACCORDANT_DATA", raising=False)
    with pytest.raises(DataNotFoundError, match="not found"):
        find_file("x" * 5000, tmp_path)
    assert find_file("x" * 5000, None, tmp_path) is None


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../x", 0, {"": None}, ["books.csv"]])
def test_a_file_beside_another_one_is_named_plainly(name, tmp_path):
    assert file_beside(tmp_path / "loans.csv", "books.csv", "items") == tmp_path / "books.csv"
    with pytest.raises(InputError, match="items: .* cannot be part of a path"):
        file_beside(tmp_path / "loans.csv", name, "items")
