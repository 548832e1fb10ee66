"""The site: every registered object and public class has its entry, docstrings become Markdown, links lead somewhere."""

import importlib
import inspect
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import ClassVar, Literal

import pytest
from docs.site import reference
from docs.site.__main__ import PARTS, site
from docs.site.docstrings import markdown, parameter_texts, signature
from pydantic import BaseModel, Field

import accordant
from accordant.registry import Registry

FENCED = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def whole():
    return site()


def test_every_registered_object_has_an_entry(whole):
    for listed in reference.registries():
        assert listed.names or listed.declares, listed.slug
        module, _, attribute = listed.place.rpartition(".")
        assert getattr(importlib.import_module(module), attribute) is listed.registry
        if listed.declares:
            assert {f"reference/{listed.slug}/{name}.md" for name in listed.names} <= set(whole.pages)
            continue
        assert f"(registries/{listed.slug}.md)" in whole.pages["reference/registries.md"]
        entries = re.split(r"^## `(.+)`$", whole.pages[f"reference/registries/{listed.slug}.md"], flags=re.MULTILINE)
        assert entries[1::2] == listed.names
        for name, text in zip(listed.names, entries[2::2], strict=True):
            factory = listed.registry.factory(name)
            for known in (*inspect.signature(factory).parameters, *listed.registry.aliases(name)):
                assert f"`{known}`" in text, f"{listed.slug}: {name}"


def test_registries_are_found_wherever_they_stand():
    kinds = {each.registry.kind for each in reference.registries()}
    assert {"strategy", "metric", "agent", "axiom", "budget rule", "slate rule", "preference learner"} <= kinds
    assert len({each.slug for each in reference.registries()}) == len(reference.registries())


def test_public_faces_are_described_once(whole):
    described = [
        name
        for page in whole.pages.values()
        for name in re.findall(r"^`+\{py:(?:class|function|exception)\} ([\w.]+)", page, re.MULTILINE)
    ]
    assert len(described) == len(set(described))
    assert not [name for name, page in whole.pages.items() if " at 0x" in page]  # places in memory
    for name in accordant.__all__:
        thing = getattr(accordant, name)
        assert f"accordant.{name}" in described or inspect.ismodule(thing), name
    rooms = {page for page in whole.pages if page.startswith("reference/python/")}
    assert {f"reference/python/accordant.{room}.md" for room in ("strategies", "slates", "preferences")} <= rooms


def test_links_of_the_site_lead_to_its_pages(whole):
    for name, text in whole.pages.items():
        for target in re.findall(r"\]\(([^)\s#:]+)(?:#[^)]*)?\)", FENCED.sub("", re.sub(r"`[^`\n]+`", "", text))):
            parts: list[str] = []
            for part in (*PurePosixPath(name).parent.parts, *target.split("/")):
                parts = parts[:-1] if part == ".." else [*parts, part]
            assert "/".join(parts) in whole.pages | whole.files, f"{name}: {target}"


def test_parts_hold_what_the_index_lists(whole):
    for page in PARTS.values():
        assert "{toctree}" in whole.pages[page]
    how_to = whole.pages["how-to/index.md"]
    assert ":caption: Vote\n\ncount-an-election.md\nspend-a-budget.md" in how_to
    assert "<!--" not in re.sub(r"`[^`\n]+`", "", whole.pages["tutorial.md"])


@dataclass(frozen=True)
class Rule:
    """Do it: Σ_i |x_i| * w_i <b>.

    See `accordant.Decisions` and ``decide``::

        rule(E)

    Parameters
    ----------
    weights, shares
        One per stakeholder.

        Or none.

    Raises
    ------
    ValueError
        If negative.
    """

    weights: tuple[float, ...] = ()
    shares: str | None = None
    kind: ClassVar[str] = "voting"

    def decide(self, rewards: "list[float]", rule=len, *, seed: int = 0) -> "dict[str, float]": ...


def test_docstrings_become_markdown():
    text = markdown(Rule.__doc__)
    assert text.startswith("Do it: Σ_i |x_i| \\* w_i &lt;b>.")
    assert "{py:obj}`accordant.Decisions`" in text and "`decide`:" in text
    assert "```text\nrule(E)\n```" in text
    assert "`weights, shares`\n:   One per stakeholder.\n    \n    Or none." in text
    assert parameter_texts(Rule)["shares"] == "One per stakeholder. Or none."
    assert reference.facts(Rule) == ["kind: voting"]


def test_signatures_show_annotations_and_defaults_as_written():
    shown = signature(Rule.decide, lambda annotation, _: annotation)
    assert shown == "(self, rewards: list[float], rule=len, *, seed: int = 0) -> dict[str, float]"


def test_a_class_lists_what_bases_without_an_entry_bring():
    entry = reference.described("accordant.ParticipatoryPolicy", accordant.ParticipatoryPolicy)
    listed = re.findall(r"\{py:method\} (\w+)\(", entry)
    assert {"fit", "score", "recommend", "explain"} <= set(listed) and len(listed) == len(set(listed))
    assert "get_params" not in listed  # of a base that is not ours


class Part(BaseModel):
    """A part.

    Attributes
    ----------
    value
        In [0, 1].
    """

    value: float


class Whole(BaseModel):
    """A whole of parts."""

    parts: tuple[Part, ...] = ()
    unit: Literal["share", "count"] = "share"
    note: str | None = Field(default=None, description="What to know.")


def test_types_with_a_schema_have_a_page_each(monkeypatch):
    registry = Registry("section", group="accordant.nothing", packages=())
    for model in (Part, Whole):
        registry.register(model.__name__.lower())(model)
    monkeypatch.setattr(reference.Listed, "names", property(lambda self: list(self.registry)))
    listed = reference.Listed(registry, "accordant.sections.sections", accordant, "type[Section]")
    monkeypatch.setattr(reference, "registries", lambda: (listed,))
    pages = dict(reference.sections_pages())
    assert {"reference/sections.md", "reference/sections/part.md", "reference/sections/whole.json"} <= set(pages)
    assert "| `value` | `number` | required | In [0, 1]. |" in pages["reference/sections/part.md"]
    page = pages["reference/sections/whole.md"]
    assert "| `parts` | `array of Part` | `[]` |" in page and "## Part" in page
    assert "| `value` | `number` | required | In [0, 1]. |" in page and "---\nvalue" not in page
    assert '| `unit` | `"share" \\| "count"` | `"share"` |' in page
    assert "| `note` | `string \\| null` | `null` | What to know. |" in page
