"""Certificates part by part are those of the same rows at once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from accordant.errors import InputError
from accordant.runs.datasets.certification import certify_dataset
from accordant.runs.datasets.parts import Job
from accordant.runs.sections.certification import DELTAS, certify_rows

pytestmark = pytest.mark.usefixtures("alone")


def parts_of(folder):
    """Return the tables of all parts as one."""
    return pd.concat([pd.read_parquet(each) for each in sorted(folder.glob("part-*.parquet"))], ignore_index=True)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "asked",
    [
        {"delta": 0.1}, {"delta": 0.07, "coalition": ["Bank"]}, {"delta": 0.05, "strategy": "utilitarian"},
        {"delta": 0.05, "strategy": "kalai_smorodinsky[global]", "frozen": True},
    ],
    ids=lambda asked: "-".join(map(str, asked)),
)  # fmt: skip
def test_rows_and_shares_are_those_of_the_whole_file(own, dataset, tmp_path, asked):
    found = certify_dataset(Job(own, str(dataset), tmp_path / "out", "here", 20), **asked)
    expected = certify_rows(own, dataset, **asked)
    table = pd.DataFrame(expected.rows(), columns=expected.header)
    parts = parts_of(tmp_path / "out")
    assert list(parts) == list(table) and len(parts) == 50
    for name in table:
        values = table[name].to_numpy()
        values = values.astype(float) if name.startswith("radius[") else values
        np.testing.assert_array_equal(parts[name].to_numpy(), values, err_msg=name)
    assert (found.rows, found.certified) == (50, int(expected.certificate.certified.sum()))
    assert found.deltas == tuple(sorted({*DELTAS, asked["delta"]}))
    assert list(found.shares) == list(expected.survey.coalitions)
    for k, delta in enumerate(found.deltas):
        shares = [each[k] for each in found.shares.values()]
        np.testing.assert_allclose(shares, expected.survey.certified(delta), rtol=0, atol=1e-12)
    assert found.unusual == expected.counts


def test_one_part_is_told_as_many_are(own, dataset, tmp_path):
    one, many = (
        certify_dataset(Job(own, str(dataset), tmp_path / str(size), "here", size), delta=0.1) for size in (50, 20)
    )
    assert one.rows == many.rows == 50 and one.certified == many.certified
    for members, shares in one.shares.items():
        assert shares == pytest.approx(many.shares[members], rel=0, abs=1e-12)


@pytest.mark.long
def test_what_is_told_is_the_same_whoever_works_and_when_it_is_carried_on(own, dataset, tmp_path):
    told = []
    for address in ("here", "threads:2", "processes:2"):
        told.append(certify_dataset(Job(own, str(dataset), tmp_path / address, address, 20), delta=0.1).to_json())
    (tmp_path / "here" / "part-00001.parquet").unlink()
    told.append(certify_dataset(Job(own, str(dataset), tmp_path / "here", "here", 20), delta=0.1).to_json())
    assert told[0] == told[1] == told[2] == told[3]
    folders = [{each.name: each.read_bytes() for each in (tmp_path / name).iterdir()} for name in
               ("here", "threads:2", "processes:2")]  # fmt: skip
    assert folders[0] == folders[1] == folders[2] and len(folders[0]) == 5
    assert (told[0]["rows"], told[0]["delta"], told[0]["coalition"]) == (50, 0.1, None)
    everybody = told[0]["coalitions"][-1]
    assert (
        everybody["members"] == ["Bank", "Applicant"] and everybody["certified"] == sorted(everybody["certified"])[::-1]
    )
    assert everybody["certified"][told[0]["deltas"].index(0.1)] == told[0]["certified"] / 50


def test_another_threat_is_other_work_and_a_wrong_one_is_refused(own, dataset, tmp_path):
    job = Job(own, str(dataset), tmp_path / "out", "here", 20)
    certify_dataset(job, delta=0.1)
    with pytest.raises(InputError, match=r"another job \(other delta\)"):
        certify_dataset(job, delta=0.2)
    with pytest.raises(InputError, match=r"another job \(other coalition and frozen\)"):
        certify_dataset(job, delta=0.1, coalition=["Bank"], frozen=True)
    for wrong, words in (
        ({"delta": -1.0}, "delta"),
        ({"delta": 0.1, "strategy": "utilitarain"}, "did you mean 'utilitarian'"),
        ({"delta": 0.1, "coalition": ["Bnak"]}, "did you mean 'Bank'"),
    ):
        with pytest.raises(InputError, match=words):
            certify_dataset(Job(own, str(dataset), tmp_path / "new", "here", 20), **wrong)
    assert not (tmp_path / "new").exists()
