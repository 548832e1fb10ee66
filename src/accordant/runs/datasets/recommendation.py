"""Recommendations for a dataset: a Parquet file for each part."""

from __future__ import annotations

from functools import reduce
from operator import add
from pathlib import Path

from accordant.compute.tasks import Told, tasks
from accordant.errors import InputError
from accordant.runs.datasets.parts import Job, described, part_work
from accordant.runs.datasets.plan_tasks import PlanTask, plan_tasks
from accordant.runs.datasets.population import FITTED, population_of, with_population
from accordant.runs.folder import Run
from accordant.runs.recommendation import write_part_recommendations
from accordant.tables.text import file_hash
from accordant.unusual import UnusualCounts


def recommend_dataset(
    job: Job, strategy: str | None = None, row_id: str | None = None, population: Path | None = None
) -> UnusualCounts:
    """Write recommendations for every part, and return how many rows were unusual.

    Rows are those that `accordant.runs.recommendation.write_recommendations` writes for the same file.

    Parameters
    ----------
    job
        Run, dataset and where.
    strategy
        Label of another strategy than the selected one; one that decides each context by itself.
    row_id
        Column with what rows are called; None for their numbers in their file.
    population
        Folder of `accordant.runs.datasets.population.fit_population` on the same dataset, whose rule decides.

    Raises
    ------
    InputError, AccordantError
        See `Job.carry_out` and `accordant.runs.datasets.population.population_of`.
    """
    fitted = None if population is None else population_of(job, population, strategy)
    options = recommendation_options(job.run, strategy if fitted is None else fitted.strategy, row_id)
    places = dict[str, str]()
    if population is not None:
        options["population"] = file_hash(population / FITTED)
        places["fitted"] = str(population.absolute())
    lines = job.carry_out("recommend", "recommending for parts", options, places)
    return reduce(add, (UnusualCounts(**line["unusual"]) for line in lines), UnusualCounts())


def recommendation_options(run: Run, strategy: str | None = None, row_id: str | None = None) -> Told:
    """Return the options of the task.

    Raises
    ------
    InputError
        If the strategy decides about all rows together.
    """
    label = strategy or run.policy.selected_
    if run.policy.strategy(label).whole_batch:
        raise InputError(
            f"{label} decides about all rows together, and parts are decided one by one; allowed: another strategy, or "
            "one file without --on"
        )
    return {"strategy": label, "id": row_id}


@plan_tasks.register("recommend")
def recommend_plan() -> PlanTask:
    """Return how the task is planned."""
    return PlanTask(recommendation_options, "recommend", "Recommend for", "recommend for each part")


@tasks.register("recommend")
def recommend_part(options: Told, item: Told) -> Told:
    """Write the recommendations for one part, and return its line."""
    with part_work(options, item, ".parquet") as (part, run, output):
        if output.line is None:
            fitted = "population" in options
            decides = with_population(run, part, output.fingerprint, options) if fitted else run
            counts = write_part_recommendations(decides, part, options["strategy"], output.path, options["id"])
            output.told = described(part, counts.rows) | {"unusual": counts.to_json()}
    return output.finished()
