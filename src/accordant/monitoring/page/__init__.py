"""The page of decisions in use, made from the result alone."""

from accordant.monitoring.page.render import render_monitored

__all__ = ["render_monitored"]
