"""What a case and the header of its data tell is refused before anything is learned, with file and line."""

from __future__ import annotations

import pytest

from accordant.cases.files import read_case
from accordant.errors import SpecError
from accordant.runs import RunOptions, carry_out

CASE = """\
name: beds
title: Who gets a bed
problem:
  stakeholders: [Patient, Ward]
  actions: [Admit, Wait]
  outcomes: [Well, Unwell]
  favourable_actions: [Admit]
  sensitive_attributes:
    - sex
data:
  file: beds.csv
  features: {age: number, pulse: number}
  confounders: [nurse]
rewards:
  Patient:
    attribute: sex
    table:
      f: &table {Admit: {Well: 0.8, Unwell: 0.6}, Wait: {Well: 1.0, Unwell: 0.0}}
      m: *table
  Ward: {column: said}
learning:
  outcome_model: {name: LogisticRegression, grid: {C: [1.0]}}
  reward_model: {name: Ridge, parameters: {alpha: 1.0}}
strategies:
  - {name: maximin}
  - name: constrained
    parameters: {rule: maximin, parity: {attribute: sex, within: 0.1}}
metrics:
  Worst_Off: {metric: min_reward, weight: 1.0}
  Gap:
    metric: demographic_parity
    parameters: {attributes: [sex]}
"""
ROWS = "age,pulse,nurse,sex,said,Action,Outcome\n" + "40,80,a,f,0.5,Admit,Well\n50,90,b,m,0.4,Wait,Unwell\n" * 40

TYPOS = [
    ("features: {age: n", "features: {agee: n", 12, "column 'agee' is missing; did you mean it by 'age'"),
    ("confounders: [nurse]", "confounders: [nurs]", 13, "column 'nurs' is missing; did you mean it by 'nurse'"),
    ("    - sex", "    - sexx", 8, "column 'sexx' is missing; did you mean it by 'sex'"),
    ("attribute: sex\n", "attribute: sx\n", 15, "column 'sx' is missing; did you mean it by 'sex'"),
    ("column: said", "column: sad", 20, "column 'sad' is missing; did you mean it by 'said'"),
    ("file: beds.csv", "file: beds.csv\n  group: who", 12, "data.group: beds.csv: column 'who' is missing"),
    ("file: beds.csv", "file: beds.csv\n  time: when", 12, "data.time: beds.csv: column 'when' is missing"),
    ("{attribute: sex,", "{attribute: sez,", 26, "column 'sez' is missing; did you mean it by 'sex'"),
    ("attributes: [sex]", "attributes: [sxe]", 30, "column 'sxe' is missing; did you mean it by 'sex'"),
    ("grid: {C:", "grid: {D:", 22, "unknown parameter 'D'"),
    ("{alpha: 1.0}", "{alfa: 1.0}", 23, "unknown parameter 'alfa'; did you mean 'alpha'"),
    ("name: Ridge", "name: Rigde", 23, "unknown regressor 'Rigde'; did you mean 'Ridge'"),
    ("name: maximin", "name: maxmin", 25, "unknown strategy 'maxmin'; did you mean 'maximin'"),
    ("within: 0.1", "wihin: 0.1", 26, "unknown key 'wihin'; did you mean 'within'"),
    ("rule: maximin,", "rule: maximin, floors: {Patent: 0.1},", 26, "'Patent'; did you mean 'Patient'"),
    ("attributes: [sex]", "attributes: [{}]", 30, "{} is no column; allowed: names of columns"),
    ("metric: demographic_parity", "metric: demografic_parity", 30, "did you mean 'demographic_parity'"),
    ("attributes: [sex]", "atributes: [sex]", 30, "unknown parameter 'atributes'; did you mean 'attributes'"),
    ("weight: 1.0", "weight: 0.9", 28, "metric weights sum to 0.9"),
    ("features: {age: n", "features: {age: nn", 12, "unknown type of age: 'nnumber'; did you mean 'number'"),
    ("file: beds.csv", "file: beds.csv\n  types: {sx: category}", None, "unknown column in data.types"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), TYPOS, ids=[new for _, new, _, _ in TYPOS])
def test_a_typo_is_refused_before_the_fits(tmp_path, monkeypatch, old, new, line, message):
    assert old in CASE
    (tmp_path / "beds.yaml").write_text(CASE.replace(old, new, 1))
    (tmp_path / "beds.csv").write_text(ROWS)

    def learn(*_):
        raise AssertionError("something was learned")

    monkeypatch.setattr("accordant.policy.learn", learn)
    with pytest.raises(Exception, match=".") as caught:
        carry_out(tmp_path / "beds.yaml", RunOptions())
    assert message in str(caught.value)
    if line is not None:
        assert isinstance(caught.value, SpecError)
        assert str(caught.value).startswith(f"case file beds.yaml, line {line}: "), caught.value


def test_the_case_without_a_typo_reaches_learning(tmp_path, monkeypatch):
    (tmp_path / "beds.yaml").write_text(CASE)
    (tmp_path / "beds.csv").write_text(ROWS)

    def learn(*_):
        raise KeyError("learning")

    monkeypatch.setattr("accordant.policy.learn", learn)
    with pytest.raises(KeyError, match="learning"):
        carry_out(tmp_path / "beds.yaml", RunOptions())


def test_a_key_that_is_missing_names_the_line_of_what_holds_it(tmp_path):
    (tmp_path / "beds.yaml").write_text(CASE.replace("  actions: [Admit, Wait]\n", ""))
    with pytest.raises(SpecError, match="^case file beds.yaml, line 3: problem: key 'actions' is missing"):
        read_case(tmp_path / "beds.yaml")
