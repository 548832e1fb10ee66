"""Pupils: the form of the file, quoted numbers, what leaks, what is refused, and counts of the public file."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from accordant.cases.education.pupils import LEAKAGE, simulate_known_pupils, tidy_pupils
from accordant.cases.loaders import load_file, tidiers
from accordant.tables.whole_tables import read_frame
from accordant.cases.loaders import simulated_table
from accordant.cases.files import read_case
from accordant.errors import DataError, InputError

HEADER = "school;sex;age;address;Medu;Fedu;traveltime;studytime;failures;schoolsup;famsup;absences;G1;G2;G3\n"
ROWS = (
    '"GP";"F";18;"U";4;1;2;2;0;"yes";"no";6;"5";"6";6\n'
    '"GP";"M";17;"R";1;2;1;2;2;"no";"yes";4;"15";"14";"15"\n'
    '"MS";"F";15;"U";0;0;1;;0;" no ";"yes";0;"7";"0";0\n'
)


@pytest.fixture
def file(tmp_path):
    """A small file in the same form."""
    path = tmp_path / "student-por.csv"
    path.write_text(HEADER + ROWS)
    return path


def loaded(file, **changes):
    case, _ = read_case("education-tutoring")
    return load_file(file, case.data.replace(**changes), case.problem, {})


def test_another_file_of_the_form(file):
    pupils = tidy_pupils(read_frame(file, ";"))
    assert pupils["Action"].tolist() == ["Tutoring", "No_tutoring", "No_tutoring"]
    assert pupils["Home_education"].tolist() == ["higher", "low", "low"]
    assert pupils["Failed_before"].tolist() == ["no", "yes", "no"]
    assert pupils["G3"].tolist() == [6.0, 15.0, 0.0]
    assert pupils["studytime"].isna().tolist() == [False, False, True]
    assert not set(LEAKAGE) & set(pupils.columns)


def test_a_tidy_table_stays_as_it_is(file):
    pupils = tidy_pupils(read_frame(file, ";"))
    pd.testing.assert_frame_equal(tidy_pupils(pupils), pupils)


@pytest.mark.parametrize("name", LEAKAGE)
def test_what_leaks_cannot_be_a_feature(file, name):
    case, _ = read_case("education-tutoring")
    assert name not in case.data.features
    with pytest.raises(DataError, match=f"column '{name}' is missing"):
        loaded(file, features=(*case.data.features, name))


def test_commas_between_columns(file):
    file.write_text((HEADER + ROWS).replace(";", ","))
    assert loaded(file).log.outcomes.tolist() == [6.0, 15.0, 0.0]


def test_grades_of_the_year_may_be_missing_altogether(file):
    read_frame(file, ";").drop(columns=["G1", "G2", "absences"]).to_csv(file, sep=";", index=False)
    assert loaded(file).log.actions.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"yes";"no"', '"maybe";"no"', "column 'schoolsup', row 0: found 'maybe'; allowed: yes, no"),
        ('"6";6\n', '"6";21\n', "column 'G3', row 0: found '21'; allowed: a number from 0 to 20"),
        ('"14";"15"', '"14";"good"', "column 'G3', row 1: found 'good'"),
        ('"14";"15"', '"14";', "column 'G3', row 1: found nothing"),
        (";4;1;", ";5;1;", "column 'Medu', row 0: found '5'; allowed: a number from 0 to 4"),
        (";4;1;", ";4;;", "column 'Fedu', row 0: found nothing"),
        (";18;", ";-1;", "column 'age', row 0: found '-1'; allowed: a number from 0 on"),
        (";18;", ";inf;", "column 'age', row 0: found 'inf'"),
        (";failures;", ";fails;", "column 'failures' is missing"),
        (";G3\n", ";G4\n", "column 'G3' is missing"),
    ],
)
def test_errors_name_the_column_and_the_row(file, old, new, message):
    file.write_text((HEADER + ROWS).replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        loaded(file)


def test_new_pupils_have_neither_grade_nor_support_yet(file):
    tidy = tidiers.create("uci_student")(read_frame(file, ";").drop(columns=["G3", "schoolsup"]))
    case, _ = read_case("education-tutoring")
    assert {*case.data.features, "Home_education", "Failed_before"} <= set(tidy.columns)


def test_a_simulated_file_can_be_read_again(tmp_path):
    case, _ = read_case("education-tutoring")
    table = simulated_table(case, 0, 80)
    table.to_csv(tmp_path / "simulated.csv", index=False)
    again = loaded(tmp_path / "simulated.csv")
    assert again.log.outcomes.tolist() == table["G3"].tolist()
    assert again.log.contexts["Home_education"].tolist() == table["Home_education"].tolist()


def test_pupils_are_drawn_as_their_simulator_states():
    """Grades and ages around their means, shares and odds, written out."""
    pupils = simulate_known_pupils(30_000, np.random.default_rng(0))
    without, failures = pupils["True_not_tutored"], pupils["failures"]
    schooling = pupils[["Medu", "Fedu"]].max(axis=1)
    points = 10.6 + 0.7 * (schooling - 2.7) - 1.9 * failures + 0.5 * (pupils["studytime"] - 2)
    assert without.to_numpy() == pytest.approx(points.clip(0, 18).to_numpy())
    assert (pupils["True_tutored"] - without).to_numpy() == pytest.approx(np.where(failures > 0, 2.0, 1.0))
    for column, shares in {
        "failures": {0: 0.79, 1: 0.12, 2: 0.05, 3: 0.04}, "studytime": {1: 0.27, 2: 0.5, 3: 0.16, 4: 0.07},
        "Medu": {0: 0.01, 1: 0.17, 2: 0.27, 3: 0.25, 4: 0.3}, "school": {"GP": 0.88, "MS": 0.12},
        "traveltime": {1: 0.65, 2: 0.27, 3: 0.06, 4: 0.02}, "famsup": {"yes": 0.6, "no": 0.4},
        "address": {"U": 0.78, "R": 0.22}, "sex": {"F": 0.5, "M": 0.5},
    }.items():  # fmt: skip
        assert pupils[column].value_counts(normalize=True).to_dict() == pytest.approx(shares, abs=0.012)
    assert (pupils["Medu"] == pupils["Fedu"]).mean() == pytest.approx(0.702, abs=0.01)  # 0.6, and 0.4 · Σ p² by chance
    for failed, mean in {0: 16.7, 1: 17.1, 3: 17.9}.items():
        ages = pupils["age"][failures == failed]
        for age in (15, 17, 19):  # rounded and not below 15
            assert (ages <= age).mean() == pytest.approx(stats.norm.cdf(age + 0.5, mean, 1.2), abs=0.03)
        assert ages.between(15, 22).all()
    tutored = pupils["Action"] == "Tutoring"
    noise = pupils["G3"] - pupils["True_tutored"].where(tutored, without)
    for low, high in ((4, 8), (8, 9.5), (10, 11)):
        for age in (15, 17):
            here = without.between(low, high) & (pupils["age"] == age)
            chance = 1 / (1 + np.exp(2.9 + 0.8 * (without[here] - 10.5) + 0.4 * (age - 17)))
            assert tutored[here].mean() == pytest.approx(chance.mean(), abs=0.05)
    inside = without.between(9, 11)
    assert noise[inside & tutored].mean() == pytest.approx(0, abs=0.25)
    assert noise[inside].std() == pytest.approx(np.sqrt(2.5**2 + 1 / 12), abs=0.06)


def test_counts_of_the_public_file(real_data):
    path = real_data("education/uci_student-mat.csv")
    raw = read_frame(path, ";")
    pupils = tidy_pupils(raw)
    assert len(pupils) == 395 and (pupils["G3"] == 0).sum() == 38
    assert Counter(pupils["Action"]) == {"No_tutoring": 344, "Tutoring": 51}
    assert Counter(pupils["Home_education"]) == {"higher": 260, "low": 135}
    assert Counter(pupils["Failed_before"]) == {"no": 312, "yes": 83}
    assert raw["absences"][pupils["G3"] == 0].max() == 0  # whoever left was not absent: absences tell the outcome
    assert not (pupils["school"][pupils["Action"] == "Tutoring"] == "MS").any()
    means = pupils.groupby("Action")["G3"].mean()
    assert means["Tutoring"] - means["No_tutoring"] == pytest.approx(-1.13, abs=0.005)  # by indication
    data = loaded(path)
    assert data.log.actions.sum() == 344 and np.isfinite(data.log.outcomes).all()
    assert not {*LEAKAGE, "schoolsup", "G3"} & set(data.log.contexts)
