"""`Section`: one finished, typed part of a result; JSON, its schema and its page of the reference are made from it.

A module registers what it defines::

    @sections.register("slates")
    class SlateResult(Section): ...

What it puts on the page of a run that it was added to is registered beside its page, with `page_parts`. A page reads
the typed section, made just now or read from its JSON (`Section.read`); nothing reads dictionaries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from accordant.errors import spec_error
from accordant.json_values import json_value
from accordant.registry import Registry


def _number(value: Any) -> Any:
    """Let NaN and infinities stand for what is not defined."""
    return json_value(value)


Number = Annotated[float | None, BeforeValidator(_number)]
"""A number of a result; None where it is not defined."""


Figure = int | float
"""A number as it was written, whole or not: where JSON must stay the same to the byte."""


class Part(BaseModel):
    """A part of a result: immutable, and nothing unknown in it; read from JSON, or from what has its fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, from_attributes=True)


Chapter = Literal["talks", "lists", "person"]


@dataclass(frozen=True)
class PagePart:
    """What a section puts on the page of the run that it was added to.

    Attributes
    ----------
    chapter
        Where it stands: debates, lists, or decisions of one person.
    title
        Its heading.
    html
        Its content as HTML of its own: headings from h2 down, identifiers that are unique in it.
    style
        The sheet of styles that its content needs beside the one of all pages.
    """

    chapter: Chapter
    title: str
    html: str
    style: str = ""


class Section(Part):
    """A finished part of a result: immutable, with a name and a version that rises when keys change.

    Fields may be texts, numbers (`Number` where they may be undefined), other models, frozen dataclasses such as
    `accordant.statistics.Estimate`, and tuples and mappings of these.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1

    @property
    def words(self) -> str:
        """What it found, in one sentence for lists of sections; empty where it has none."""
        return ""

    def to_json(self) -> dict[str, Any]:
        """Return the section as JSON values; numbers that are not finite are None."""
        values: dict[str, Any] = json_value(self.model_dump(mode="json", by_alias=True))
        return values

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self:
        """Return the section that JSON values hold.

        Raises
        ------
        SpecError
            If a key is unknown, missing or of the wrong type; the message names it.
        """
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            raise spec_error(error, cls.__name__, cls.model_fields) from None


sections: Registry[type[Section]] = Registry(
    "section",
    group="accordant.sections",
    packages=(
        "accordant.runs",
        "accordant.studies.result",
        "accordant.studies.effects",
        "accordant.slates",
        "accordant.preferences.section",  # not the whole room, which holds modules that need PyTorch
        "accordant.preferences.answers_section",
        "accordant.deliberation",
        "accordant.monitoring.result",
    ),
)
"""Sections by name; `Registry.factory` returns the class."""

page_parts: Registry[PagePart] = Registry(
    "part of a page",
    group="accordant.page_parts",
    packages=("accordant.report.explanation", "accordant.slates.page", "accordant.deliberation.page"),
)
"""Name of a section to the function that makes its part of a page from it; others are listed by their words."""
