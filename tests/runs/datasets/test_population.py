"""Rules for the whole policy on a dataset are those of the same rows in memory, the same bytes whoever reads them."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.optimize import linprog

from accordant import strategies
from accordant.compute.ledger import LINES
from accordant.errors import InputError
from accordant.runs import RunOptions, carry_out, read_run, write_run
from accordant.runs.datasets import population as fitting
from accordant.runs.datasets.parts import Job
from accordant.runs.datasets.plan import plan_dataset
from accordant.runs.datasets.population import FITTED, fit_population, read_population
from accordant.runs.datasets.recommendation import recommend_dataset
from accordant.runs.datasets.sample import measure
from accordant.runs.row_batches import row_contexts

pytestmark = pytest.mark.usefixtures("alone")

RULES = {
    "population_maximin": {}, "population_leximin": {}, "population_nash": {"disagreement": "context"},
    "population_by_group": {"attribute": "kind"},
}  # fmt: skip
LABELS = ("population_maximin", "population_leximin", "population_nash[context]", "population_maximin by kind")
ROWS = 90


@pytest.fixture(scope="module")
def ruled(cases, tmp_path_factory):
    """A run with rules for the whole policy; the applicants want nearly always the opposite of the bank."""
    folder = tmp_path_factory.mktemp("ruled")
    case = yaml.safe_load(cases["own"].read_text())
    wants = {"yes": {"good": 0.9, "bad": 0.6}, "no": {"good": 0.2, "bad": 0.35}}
    case["rewards"]["Applicant"] = {"table": wants}
    case["learning"]["reward_model"] = {"name": "stated"}
    case["learning"]["outcome_model"] = {"name": "LogisticRegression"}
    case["strategies"] = [{"name": "maximin"}, *({"name": name, "parameters": given} for name, given in RULES.items())]
    (folder / "own.yaml").write_text(yaml.safe_dump(case))
    (folder / "own.csv").write_bytes((cases["own"].parent / "own.csv").read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("accordant.runs.folder.render", lambda *content: "<html></html>")
        return read_run(write_run(carry_out(folder / "own.yaml", RunOptions(seed=7)), folder / "run"))


@pytest.fixture(scope="module")
def people():
    generator = np.random.default_rng(5)
    return pd.DataFrame({
        "x": generator.normal(0.4, 1.3, ROWS).round(3), "kind": generator.choice(["1", "x", "x", "new"], ROWS),
        "group": generator.integers(0, 2, ROWS),
    })  # fmt: skip


@pytest.fixture
def dataset(people, tmp_path):
    """A Parquet file of five row groups."""
    path = tmp_path / "rows.parquet"
    people.to_parquet(path, row_group_size=20, index=False)
    return path


def in_memory(run, label, path):
    """Return the rule as it is fitted on all rows in memory, E, and the rows."""
    contexts = row_contexts(run, path)
    expected = run.policy.expected_rewards(contexts)
    return run.policy.strategy(label).fit(expected, contexts), expected, contexts


def rule_of(found):
    return strategies.create(found.rule["name"], found.rule["parameters"])


def multipliers(rule):
    """Return the multipliers of all rows, and of each group where there are groups."""
    inner = getattr(rule, "inner", rule)
    groups = rule.multipliers if inner is not rule else {}
    return {None: inner.multipliers, **{name: tuple(each) for name, each in groups.items()}}


def contents(folder):
    return {each.name: each.read_bytes() for each in folder.iterdir()}


@pytest.mark.few(1)
@pytest.mark.parametrize("label", LABELS)
def test_one_part_is_the_fit_in_memory_to_the_last_bit(ruled, dataset, tmp_path, label):
    found = fit_population(Job(ruled, str(dataset), tmp_path / "out", "here"), label)
    own, expected, contexts = in_memory(ruled, label, dataset)
    assert multipliers(rule_of(found)) == multipliers(own)
    assert multipliers(own) != multipliers(ruled.policy.strategy(label))
    decided, own_decided = (each(expected, contexts=contexts).codes for each in (rule_of(found), own))
    assert (decided == own_decided).all() and 0 < decided.mean() < 1
    assert found == read_population(tmp_path / "out") and found.strategy == label == rule_of(found).label


@pytest.mark.long
@pytest.mark.parametrize("label", LABELS)
def test_many_parts_are_the_fit_in_memory_but_for_rounding(ruled, dataset, tmp_path, label):
    found = fit_population(Job(ruled, str(dataset), tmp_path / "out", "here", 1), label)
    own, expected, contexts = in_memory(ruled, label, dataset)
    assert len(found.inputs) == 5
    for name, each in multipliers(rule_of(found)).items():
        assert each == pytest.approx(multipliers(own)[name], abs=1e-7), name
    assert set(multipliers(rule_of(found))) == set(multipliers(own))
    decided = rule_of(found)(expected, contexts=contexts)
    assert (decided.codes == own(expected, contexts=contexts).codes).all()


def test_what_is_told_of_everybody_is_what_decisions_give(ruled, dataset, tmp_path):
    found = fit_population(Job(ruled, str(dataset), tmp_path / "out", "here", 1), "population_maximin")
    own, expected, _ = in_memory(ruled, "population_maximin", dataset)
    best = own.optimal_policy(expected)
    told = found.together

    def means(rule):
        return np.einsum("at,iat->i", rule(expected).probabilities(), expected.values) / ROWS

    assert told.rows == ROWS and told.passes == best.passes and told.gap <= 1e-9
    assert told.value == pytest.approx(best.value, abs=1e-12)
    assert [each.mean for each in told.stakeholders] == pytest.approx(means(own).tolist(), abs=1e-12)
    before = ruled.policy.strategy("population_maximin")
    assert [each.mean_of_run for each in told.stakeholders] == pytest.approx(means(before).tolist(), abs=1e-12)
    assert [each.best for each in told.stakeholders] == pytest.approx(best.means.tolist(), abs=1e-12)
    assert tuple(each.multiplier_of_run for each in told.stakeholders) == before.multipliers
    assert "an expected reward counts" in found.words and "Bank" in found.words


def test_groups_are_told_each_by_itself(ruled, people, dataset, tmp_path):
    found = fit_population(Job(ruled, str(dataset), tmp_path / "out", "here", 1), LABELS[3])
    counts = people["kind"].value_counts()
    assert {fit.group: fit.rows for fit in found.fits} == {None: ROWS, **counts.to_dict()}
    assert min(fit.value for fit in found.fits[1:]) <= found.together.value + 1e-9
    unseen = next(fit for fit in found.fits if fit.group == "new")  # the run has no such group
    inner = ruled.policy.strategy(LABELS[3]).inner
    assert tuple(each.multiplier_of_run for each in unseen.stakeholders) == inner.multipliers


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(4))
def test_brute_force_over_all_policies_of_a_small_world(ruled, tmp_path, seed):
    """Every deterministic policy is written down, and the best mixture of them all is one linear programme."""
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": generator.normal(0.3, 1, 7), "kind": "1", "group": 0})
    frame.to_parquet(tmp_path / "few.parquet", row_group_size=3, index=False)
    found = fit_population(Job(ruled, str(tmp_path / "few.parquet"), tmp_path / "out", "here", 1), "population_maximin")
    values = ruled.policy.expected_rewards(row_contexts(ruled, tmp_path / "few.parquet")).values
    policies = [values[:, list(chosen), range(7)].mean(axis=1) for chosen in itertools.product(range(2), repeat=7)]
    rows = np.column_stack([-np.array(policies).T, np.ones(2)])
    done = linprog(
        [0.0] * len(policies) + [-1.0], A_ub=rows, b_ub=[0.0, 0.0], A_eq=[[1.0] * len(policies) + [0.0]], b_eq=[1.0],
        bounds=[(0, None)] * len(policies) + [(None, None)],
    )  # fmt: skip
    assert found.together.value == pytest.approx(-done.fun, abs=1e-8)
    assert len(found.inputs) == 3


@pytest.mark.long
def test_folders_are_the_same_bytes_whoever_works(ruled, dataset, tmp_path):
    for address in ("here", "threads:2", "processes:1", "processes:2"):
        fit_population(Job(ruled, str(dataset), tmp_path / address, address, 60), LABELS[0])
    here = contents(tmp_path / "here")
    assert set(here) >= {FITTED, "part-00001.npy"}
    for other in ("threads:2", "processes:1", "processes:2"):
        assert contents(tmp_path / other) == here


@pytest.mark.long
def test_e_of_a_part_stands_in_its_file(ruled, dataset, people, tmp_path):
    fit_population(Job(ruled, str(dataset), tmp_path / "out", "here", 40), LABELS[3])
    written = np.hstack([np.load(file) for file in sorted((tmp_path / "out").glob("*.npy"))])
    _, expected, _ = in_memory(ruled, LABELS[3], dataset)
    assert (written[:4].reshape(2, 2, -1) == expected.values).all()
    lines = [json.loads(line) for line in (tmp_path / "out" / LINES).read_text().splitlines()]
    labels = [[name for name, _ in line["values"]] for line in lines]
    sizes = [line["rows"] for line in lines]
    numbers = np.split(written[4].astype(int), np.cumsum(sizes)[:-1])
    found = [names[code] for names, codes in zip(labels, numbers, strict=True) for code in codes]
    assert found == people["kind"].tolist()


@pytest.mark.long
def test_rows_of_all_batches_stand_in_the_file_of_their_part(ruled, people, tmp_path, monkeypatch):
    """A CSV is one part, however long: it is read batch by batch."""
    people.to_csv(tmp_path / "rows.csv", index=False)
    whole = fit_population(Job(ruled, str(tmp_path / "rows.csv"), tmp_path / "whole", "here"), LABELS[3])
    monkeypatch.setattr("accordant.runs.row_batches.ROWS_AT_ONCE", 13)
    monkeypatch.setattr(fitting, "ROWS_AT_ONCE", 13)
    found = fit_population(Job(ruled, str(tmp_path / "rows.csv"), tmp_path / "out", "here"), LABELS[3])
    assert found.rule == whole.rule and len(found.inputs) == 1
    assert found.together.stakeholders[0].mean == pytest.approx(whole.together.stakeholders[0].mean, abs=1e-12)


@pytest.mark.long
def test_work_is_carried_on_after_it_was_broken_off(ruled, dataset, tmp_path, monkeypatch):
    job = Job(ruled, str(dataset), tmp_path / "out", "here", 1)
    whole = fit_population(replace(job, out=tmp_path / "whole"), LABELS[0])
    best, calls = fitting.best_sums, itertools.count()

    def broken(*given):
        """Fail in the middle of a pass."""
        if next(calls) == 8:
            raise KeyboardInterrupt
        return best(*given)

    monkeypatch.setattr(fitting, "best_sums", broken)
    with pytest.raises(KeyboardInterrupt):
        fit_population(job, LABELS[0])
    assert len(list(job.out.glob("*.npy"))) == 5 and not (job.out / FITTED).exists()
    monkeypatch.setattr(fitting, "best_sums", best)
    (job.out / "part-00001.npy").unlink()
    (job.out / "part-00003.npy").write_bytes(b"cut off")
    kept = {file.name: file.stat().st_mtime_ns for file in job.out.glob("*.npy")}
    assert fit_population(job, LABELS[0]) == whole
    assert contents(job.out) == contents(tmp_path / "whole")
    made = {file.name for file in job.out.glob("*.npy") if file.stat().st_mtime_ns != kept.get(file.name)}
    assert made == {"part-00001.npy", "part-00003.npy"}


@pytest.mark.long
def test_rows_are_decided_by_what_was_fitted_on_them(ruled, dataset, tmp_path):
    for label in (LABELS[0], LABELS[3]):
        job = Job(ruled, str(dataset), tmp_path / label, "here", 1)
        found = fit_population(job, label)
        out = tmp_path / f"decided {label}"
        counts = recommend_dataset(replace(job, out=out, on="threads:2"), population=job.out)
        decided = [each for file in sorted(out.glob("*.parquet")) for each in pd.read_parquet(file)["action"]]
        own, expected, contexts = in_memory(ruled, label, dataset)
        assert counts.rows == ROWS and decided == own(expected, contexts=contexts).actions.tolist()
        before = ruled.policy.strategy(label)(expected, contexts=contexts).actions.tolist()
        assert decided != before
        codes = np.array([expected.actions.index(each) for each in decided])
        means = np.take_along_axis(expected.values, codes[None, None], axis=1).mean(axis=(1, 2))
        told = found.fits[:1] if len(found.fits) == 1 else found.fits[1:]
        summed = sum(fit.rows * np.array([each.mean for each in fit.stakeholders]) for fit in told)
        assert (summed / ROWS).tolist() == pytest.approx(means.tolist(), abs=1e-12)
        assert ruled.policy.strategy(label).parameters == read_run(ruled.path).policy.strategy(label).parameters


@pytest.mark.long
def test_decisions_of_another_fit_are_other_work(ruled, people, dataset, tmp_path):
    job = Job(ruled, str(dataset), tmp_path / "lam", "here", 1)
    fit_population(job, LABELS[0])
    asked = replace(job, out=tmp_path / "out")
    recommend_dataset(asked, population=job.out)
    with pytest.raises(InputError, match=r"holds parts of another job \(other population\)"):
        recommend_dataset(asked, LABELS[0])
    fit_population(replace(job, out=tmp_path / "nash"), LABELS[2])
    with pytest.raises(InputError, match=r"holds parts of another job"):
        recommend_dataset(asked, population=tmp_path / "nash")
    people.assign(x=-people["x"]).to_parquet(dataset, row_group_size=20, index=False)
    with pytest.raises(InputError, match=r"rows.parquet holds other rows than those that .*lam was fitted on"):
        recommend_dataset(replace(job, out=tmp_path / "changed"), population=job.out)


def test_a_folder_that_does_not_fit_is_refused(ruled, own, dataset, tmp_path):
    job = Job(ruled, str(dataset), tmp_path / "lam", "here", 1)
    fit_population(job, LABELS[0])
    out = tmp_path / "out"
    for wrong, asked, words in (
        (replace(job, run=own), {}, "lam was fitted for another run than"),
        (replace(job, part_rows=99), {}, "fitted on 5 parts, and .*rows.parquet has 1; allowed: the same dataset"),
        (job, {"strategy": "maximin"}, "holds population_maximin, and --strategy is maximin"),
        (job, {"population": tmp_path}, "has no population.json; `accordant population RUN DATASET --out"),
    ):
        with pytest.raises(InputError, match=words):
            recommend_dataset(replace(wrong, out=out), **({"population": job.out} | asked))
        assert not out.exists()
    with pytest.raises(InputError, match=r"holds parts of another job \(other strategy\)"):
        fit_population(job, LABELS[1])


@pytest.mark.parametrize(
    "change",
    [
        {"fits": 3}, {"rule": {"name": "maximin", "parameters": {}}}, {"strategy": "population_nash"}, {"rule": {}},
        {"rule": {"name": "population_maximin", "parameters": {"multipliers": None}}},
        {"rule": {"name": "population_maximin", "parameters": {"multipliers": [-1, 2]}}}, {"what": 1},
    ],
    ids=str,
)  # fmt: skip
def test_a_file_that_was_changed_is_refused(ruled, dataset, tmp_path, change):
    fit_population(Job(ruled, str(dataset), tmp_path / "lam", "here"), LABELS[0])
    told = json.loads((tmp_path / "lam" / FITTED).read_text())
    (tmp_path / "lam" / FITTED).write_text(json.dumps(told | change))
    with pytest.raises(InputError, match="population.json is not what `accordant population` writes"):
        read_population(tmp_path / "lam")


def test_strategies_for_single_rows_are_refused(ruled, own, dataset, people, tmp_path):
    job = Job(ruled, str(dataset), tmp_path / "out", "here")
    with pytest.raises(
        InputError, match=r"maximin decides each row by itself; allowed: --strategy population_maximin,"
    ):
        fit_population(job, "maximin")
    with pytest.raises(InputError, match="unknown strategy 'population_minimax'"):
        fit_population(job, "population_minimax")
    with pytest.raises(InputError, match=r"no strategy for the whole policy; a case lists one: population_maximin,"):
        fit_population(replace(job, run=own))
    assert not job.out.exists()
    people.drop(columns="kind").to_parquet(dataset, index=False)
    with pytest.raises(InputError, match="part 0: rows.parquet: column 'kind' is missing"):
        fit_population(job, LABELS[3])
    people.drop(columns="x").to_parquet(dataset, index=False)
    with pytest.raises(InputError, match=r"part 0: rows.parquet: column 'x' is missing"):
        fit_population(replace(job, out=tmp_path / "other"), LABELS[0])


def test_nobody_who_gains_is_told(ruled, tmp_path):
    """What a rule cannot do on these rows it says as in memory."""
    rule = strategies.create("population_nash", {"disagreement": 1.0})
    ruled.policy.strategies_[rule.label] = rule.for_problem(ruled.case.problem)
    pd.DataFrame({"x": [0.0], "kind": "1", "group": 0}).to_parquet(tmp_path / "one.parquet")
    job = Job(ruled, str(tmp_path / "one.parquet"), tmp_path / "out", "here")
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("accordant.runs.datasets.parts.opened", lambda options: ruled)
            with pytest.raises(InputError, match="nobody's mean can rise above the disagreement point"):
                fit_population(job, rule.label)
    finally:
        del ruled.policy.strategies_[rule.label]


@pytest.mark.long
def test_a_column_that_only_a_rule_reads_has_its_declared_type(cases, people, tmp_path):
    case = yaml.safe_load(cases["own"].read_text())
    case["data"]["types"] = {**case["data"].get("types", {}), "zone": "category"}
    case["strategies"] = [{"name": "population_by_group", "parameters": {"attribute": "zone"}}]
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(case))
    rows = pd.read_csv(cases["own"].parent / "own.csv", dtype=str)
    rows.assign(zone=np.resize(["01", "02"], len(rows))).to_csv(tmp_path / "own.csv", index=False)
    run = read_run(write_run(carry_out(tmp_path / "own.yaml", RunOptions(seed=7)), tmp_path / "run"))
    for zone in ("01", "02"):
        (tmp_path / "rows" / f"zone={zone}").mkdir(parents=True)
        people.to_csv(tmp_path / "rows" / f"zone={zone}" / "a.csv", index=False)
    job = Job(run, str(tmp_path / "rows"), tmp_path / "out", "here")
    recommend_dataset(job, "population_maximin by zone")
    found = pd.concat(pd.read_parquet(each) for each in sorted((tmp_path / "out").glob("part-*.parquet")))
    assert not found["group_unseen"].any() and len(found) == 2 * ROWS
    fitted = fit_population(replace(job, out=tmp_path / "fitted"), "population_maximin by zone")
    assert [each.group for each in fitted.fits] == [None, "01", "02"]


@pytest.mark.long
@pytest.mark.parametrize("label", ["population_maximin", "population_maximin by kind"])
def test_a_plan_counts_the_passes_of_the_fit(ruled, people, tmp_path, monkeypatch, label):
    monkeypatch.setattr("accordant.runs.datasets.sample.EMPTY", (1, 5))
    path = tmp_path / "rows.parquet"
    people.head(80).to_parquet(path, index=False)
    found = fit_population(Job(ruled, str(path), tmp_path / "out", "here"), label)
    sample = measure(ruled, "population", "here", str(path), 80, label)
    assert [rows for rows, _ in sample.passes.counts] == [20, 80] and sample.strategy == label
    assert sample.passes.counts[-1][1] == sum(each.passes + 2 for each in found.fits)  # and what both rules come to
    assert {each.rows for each in sample.passes.trials} == {20, 80}
    assert all(0 < each.seconds < 10 and each.memory > 20 for each in sample.passes.trials)
    plan = plan_dataset(ruled, "population", "here", rows=8_000, dataset=str(path), part_rows=80, strategy=label)
    assert plan.model.passes >= sample.passes.counts[0][1] / 2 and plan.strategy == label
    assert plan.output_bytes > 8_000 * 8 * 4 and plan.input_bytes > plan.output_bytes
