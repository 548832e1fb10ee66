"""``accordant strategies --axioms`` and ``--agreement``: what is printed, on sampled and on a run's E, and wrong input."""

from __future__ import annotations

import json
import re
import shutil

import pytest

WIDTH = 100


@pytest.fixture(scope="module")
def sampled(accordant):
    done = accordant("strategies", "--axioms", "--agreement", "--contexts", "120")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_first_line_says_that_nothing_is_real(sampled):
    assert sampled.startswith("SAMPLED E: 3 stakeholders, 4 actions, 120 contexts, drawn at random with seed 42;")


@pytest.mark.long
def test_table_fits_a_page_and_has_every_rule(sampled):
    lines = sampled.splitlines()
    assert max(map(len, lines)) <= WIDTH
    heads = [line for line in lines if line.startswith("rule ")]
    assert heads[0].split("  ")[0] == "rule"
    assert "weak Par" in heads[0] and "str.-pr." in heads[1]
    rows = {line.split()[0]: line.split()[1:] for line in lines[lines.index(heads[0]) + 1 : lines.index(heads[1]) - 1]}
    assert rows["utilitarian"] == ["always", "always", "fails", "always", "fails", "always", "always", "always"]
    assert rows["stakeholder:Ben"][-1] == "fails"
    assert {"borda", "kalai_smorodinsky", "constant:w"} <= set(rows)
    assert not {"logged", "random", "oracle"} & set(rows)


@pytest.mark.long
def test_every_axiom_is_explained_and_both_theorems_are_told(sampled):
    flat = " ".join(sampled.split())
    assert "the winners stay the same if stakeholders exchange their rewards (May 1952)" in flat
    assert "Arrow (1951): of 34 rules none has weak Pareto" in flat
    assert "Gibbard (1973) and Satterthwaite (1975): of 33 rules that chose every action none has" in flat


@pytest.mark.long
def test_every_violated_cell_has_a_witness_line(accordant):
    arguments = ("strategies", "--axioms", "--rules", "utilitarian, borda", "--contexts", "90")
    shown = accordant(*arguments).stdout
    found = json.loads(accordant(*arguments, "--json").stdout)
    violated = [
        (rule["rule"], cell) for rule in found["axioms"]["rules"] for cell in rule["cells"] if cell["violated"] > 0
    ]
    assert [line for line in shown.splitlines() if line.startswith("- ")].__len__() == len(violated) > 5
    for rule, cell in violated:
        assert cell["text"] == "fails"
        assert cell["claim"]["counterexample"]["before"]
        witness = cell["witness"]
        start = f"- {rule}, "
        count = f": {cell['violated']} of {cell['judged']}; context {witness['context']}:"
        assert any(line.startswith(start) and count in line for line in shown.splitlines())
        assert len(witness["before"]["expected_rewards"]) == 3


@pytest.mark.long
def test_agreement_prints_shares_and_reversals(sampled):
    lines = sampled.splitlines()
    assert "Disagreement: % of contexts in which two rules choose different actions." in lines
    reversals = {line.split()[0]: line for line in lines[lines.index("away: a dominated one, or any.") + 3 :]}
    assert " 0/120" in reversals["utilitarian"]
    assert "without" in reversals["kalai_smorodinsky"]
    for line in reversals.values():
        dominated, unchosen = re.findall(r"(\d+)/\d+", line)
        assert ("without" in line) == (int(dominated) + int(unchosen) > 0)  # an example wherever something changed


def test_agreement_as_json(accordant):
    done = accordant("strategies", "--agreement", "--rules", "maximin,leximin,borda", "--contexts", "60", "--json")
    found = json.loads(done.stdout)
    assert found["agreement"]["rules"] == ["maximin", "leximin", "borda"]
    assert found["agreement"]["contexts"] == 60
    assert [row["rule"] for row in found["rank_reversal"]] == ["maximin", "leximin", "borda"]
    assert "axioms" not in found


@pytest.mark.long
def test_same_seed_same_bytes_and_another_seed_another_sample(program):
    arguments = ("strategies", "--axioms", "--rules", "hurwicz", "--contexts", "50", "--json")
    first, again = (program(*arguments, PYTHONHASHSEED=seed).stdout for seed in ("0", "1"))
    assert first == again != program(*arguments, "--seed", "7").stdout


@pytest.mark.long
def test_a_run_is_judged_on_its_untouched_rows(accordant, finished_run):
    done = accordant("strategies", "--axioms", "--agreement", "--run", "first", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["origin"] == "E of the 48 untouched rows of first"
    assert (found["axioms"]["contexts"], found["axioms"]["actions"]) == (48, 2)
    rules = [rule["rule"] for rule in found["axioms"]["rules"]]
    assert {"stakeholder:Patient", "stakeholder:Ward", "constant:Admit", "utilitarian", "borda"} <= set(rules)
    assert found["axioms"]["theorems"][0] == "Arrow (1951) speaks about three or more actions; here are 2."
    decided = accordant("recommend", "first", "beds.csv", "--json")
    every = [row["expected_rewards"] for row in json.loads(decided.stdout)]
    witness = next(
        cell["witness"] for rule in found["axioms"]["rules"] for cell in rule["cells"] if cell["witness"] is not None
    )
    matrix = witness["before"]["expected_rewards"]
    assert any(
        [[round(row[who][what], 9) for what in ("Admit", "Wait")] for who in ("Patient", "Ward")]
        == [[round(value, 9) for value in values] for values in matrix]
        for row in every
    )


@pytest.mark.long
def test_some_rows_of_a_run(accordant, finished_run):
    done = accordant("strategies", "--axioms", "--rules", "borda", "--run", "first", "--contexts", "20")
    assert done.stdout.startswith("E of the 48 untouched rows of first, 20 of them drawn with seed 42")


def test_other_data_than_those_of_the_run_are_refused(accordant, case_folder, finished_run):
    other = case_folder / "other"
    other.mkdir(exist_ok=True)
    lines = (case_folder / "beds.csv").read_text(encoding="utf-8").splitlines()
    (other / "beds.csv").write_text("\n".join([*lines[:-1], lines[1]]) + "\n", encoding="utf-8")
    done = accordant("strategies", "--axioms", "--run", "first", "--data", "other/beds.csv")
    assert done.returncode == 2
    assert "not the same data" in done.stderr
    shutil.rmtree(other)


WRONG = [
    (("--axioms", "--rules", "utilitarain"), "did you mean 'utilitarian'"),
    (("--axioms", "--rules", "logged"), "reads something else than expected rewards, or draws"),
    (("--axioms", "--run", "nowhere"), "is not a folder"),
    (("--agreement", "--run", "first", "--data", "nowhere.csv"), "not found at nowhere.csv"),
    (("--rules", "borda"), "--rules has no effect without --axioms or --agreement"),
    (("--run", "first", "--contexts", "5"), "--run, --contexts has no effect"),
    (("--axioms", "--contexts", "0"), "contexts"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_input_says_what_is_wrong(accordant, finished_run, arguments, message):
    done = accordant("strategies", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
