"""What users ask of an object that a room above gives: HTML for notebooks, pictures, a policy kept as a run.

E and decisions stand on the ground floor, the grammar of pages on the fifth. A user does not care: `E` in a cell of a
notebook shows a table, `leaderboard.plot()` draws. So an object below says only that it can be shown, and the room
above registers how::

    @representations.register("Leaderboard")
    def leaderboard(found: Leaderboard) -> str: ...

Nothing above is imported before somebody looks.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from accordant.registry import Registry

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "A policy fitted in Python"  # of a page that nobody named

representations: Registry[str] = Registry(
    "representation",
    group="accordant.representations",
    packages=("accordant.report.notebook", "accordant.slates.page.notebook"),
)
"""Name of a class to the function that makes HTML of an object of it, for a cell of a notebook."""

pictures: Registry[Any] = Registry("picture", group="accordant.pictures", packages=("accordant.report.plots",))
"""Name of a picture to the function that draws it, from what it shows, on the axes ``ax``."""

keepers: Registry[Path] = Registry(
    "way to keep a policy", group="accordant.keepers", packages=("accordant.runs.fitted_run",)
)
"""``save`` and ``report``: from a fitted policy to a run folder, or to its page."""


class Displayed:
    """A result that notebooks show as a report does."""

    def _repr_html_(self) -> str:
        """Return HTML for a cell: everything escaped, nothing loaded, long results with how much they leave out."""
        names = (kind.__name__ for kind in type(self).__mro__)
        shown: str = representations.factory(next(name for name in names if name in representations))(self)
        return shown


def drawn(name: str, subject: object, ax: Axes | None, **options: Any) -> Axes:
    """Return the axes on which a registered picture was drawn.

    Parameters
    ----------
    name
        Of the picture.
    subject
        What it shows.
    ax
        Where to draw; None for a figure of its own.
    options
        What the picture takes beside it.

    Raises
    ------
    InputError
        If matplotlib is not installed, or an option cannot be used.
    """
    axes: Axes = pictures.factory(name)(subject, ax=ax, **options)
    return axes


class Kept:
    """A fitted policy that can be written down as a run, and as the page of one."""

    def save(
        self, folder: str | Path, X: Any = None, *, actions: Any = None, outcomes: Any = None, rewards: Any = None,
        title: str = TITLE,
    ) -> Path:  # fmt: skip
        """Write the policy as a run folder, which every command on a RUN and `accordant.read_run` read.

        Figures of the run are about rows that took no part in `fit`, if they are given. Without them they are about the
        rows of `fit`, each judged by models that did not see it; the run says so first, because D* was chosen there.

        Parameters
        ----------
        folder
            A new folder; its last part names the case.
        X, actions, outcomes, rewards
            Untouched rows, as for `evaluate`; None for those of `fit`.
        title
            Heading of the page.

        Returns
        -------
        Path
            The folder.

        Raises
        ------
        InputError
            If the place is refused, or something in the policy cannot be kept: a reward that is a Python function and
            is not learned, a metric, a strategy or a model that is not registered or not on the trust list.
        """
        rows = {"X": X, "actions": actions, "outcomes": outcomes, "rewards": rewards}
        kept: Path = keepers.factory("save")(self, folder, rows, title)
        return kept

    def report(
        self, page: str | Path, X: Any = None, *, actions: Any = None, outcomes: Any = None, rewards: Any = None,
        title: str = TITLE,
    ) -> Path:  # fmt: skip
        """Write the page that the run of the policy has, and nothing else; arguments as for `save`.

        Parameters
        ----------
        page
            A file that ends with ``.html``.
        X, actions, outcomes, rewards, title
            As for `save`.

        Returns
        -------
        Path
            The file.
        """
        rows = {"X": X, "actions": actions, "outcomes": outcomes, "rewards": rewards}
        written: Path = keepers.factory("report")(self, page, rows, title)
        return written
