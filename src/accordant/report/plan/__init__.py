"""The page of a plan: what a job on a dataset will take, and the model behind it."""

from accordant.report.plan.render import render_plan

__all__ = ["render_plan"]
