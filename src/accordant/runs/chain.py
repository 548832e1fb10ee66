"""Sections that were added to a finished run: a chain of files, each of which holds the hash of the one before.

``sections/0001-NAME.json`` holds the hash of ``manifest.json``, ``0002-…`` that of ``0001-…``, and so on. Nothing in
the chain is ever replaced. A file that is changed, taken out of the middle or put in between breaks it; files that are
taken off its end do not, unless the hash of the last one was kept elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from jinja2 import TemplateError
from pydantic import StrictInt, ValidationError

from accordant import limits
from accordant.errors import DataError, InputError, RunFolderError, SpecError
from accordant.json_values import read_json_value
from accordant.runs.manifest import SECTION_FILE, SECTIONS, Manifest, regular_bytes
from accordant.sections import PagePart, Part, Section, page_parts, sections
from accordant.tables.output import add_to_run, one_writer

MOST_SECTIONS = 9_999  # the numbers of four digits


class Envelope(Part):
    """What a file of the chain holds.

    Attributes
    ----------
    section, version
        Name of the section, and number of its format.
    previous
        Hash of the file before it, or of the manifest (sha256, hexadecimal).
    result
        The section as JSON values.
    """

    section: str
    version: StrictInt
    previous: str
    result: dict[str, Any]


@dataclass(frozen=True)
class Link:
    """One section that was added to a run.

    Attributes
    ----------
    file
        Its file, relative to the run folder.
    sha256
        Hash of the bytes of this file: what the next one holds.
    envelope
        What the file holds.
    """

    file: str
    sha256: str
    envelope: Envelope

    def section(self) -> Section | None:
        """Return the typed section; None if this version of the program knows no such section.

        Raises
        ------
        RunFolderError
            If it is known, and the file holds something else.
        """
        name = self.envelope.section
        if name not in sections:
            return None
        kind = cast("type[Section]", sections.factory(name))
        if kind.version != self.envelope.version:
            return None
        try:
            return kind.read(self.envelope.result)
        except SpecError as error:
            raise RunFolderError(f"{self.file} is no section {name!r}: {error}") from None

    @property
    def number(self) -> str:
        """Its number as file names have it, such as ``0003``."""
        return self.file.removeprefix(f"{SECTIONS}/")[:4]

    @property
    def receipt(self) -> str:
        """What is said when it was added: its file and hash."""
        return f"added to the run: {self.file}, sha256 {self.sha256}"

    @property
    def words(self) -> str:
        """What the section found, in one sentence; raises as `section`."""
        section = self.section()
        if section is None:
            return "This version of accordant does not read it."
        with self._believed():
            return section.words

    def page_part(self) -> PagePart | None:
        """Return what the section puts on the page of the run; None if it puts nothing there. Raises as `section`."""
        section = self.section()
        if section is None or section.name not in page_parts:
            return None
        with self._believed():
            return page_parts.factory(section.name)(section)

    @contextmanager
    def _believed(self) -> Iterator[None]:
        """Turn what a section runs into that no command has written into an error that names its file."""
        try:
            yield
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, TemplateError) as error:
            name = self.envelope.section
            raise RunFolderError(f"{self.file} is not what a section {name!r} holds: {error!r:.200}") from None


def links_of(manifest: Manifest) -> tuple[Link, ...]:
    """Return the sections that were added to a run, in their order.

    Parameters
    ----------
    manifest
        Of the run.

    Raises
    ------
    RunFolderError
        If a number is missing or there twice, a file is too large or no section, or was changed, exchanged or put
        between others after it was added.
    """
    folder, links, previous = manifest.folder, [], manifest.sha256
    for number, file in enumerate(manifest.section_files(), 1):
        if not file.startswith(f"{SECTIONS}/{number:04d}-"):
            raise RunFolderError(f"{folder}: {file} is there where section {number:04d} is expected: one was taken out")
        link = _read(folder, file)
        if link.envelope.previous != previous:
            raise RunFolderError(f"{folder}: {file} does not follow what stands before it: one of them was changed")
        links.append(link)
        previous = link.sha256
    return tuple(links)


def add_section(manifest: Manifest, section: Section) -> Link:
    """Add a section to the end of the chain of a finished run, whole or not at all.

    Whoever adds at the same time waits. Where a file system knows no locks, a number that was taken meanwhile is given
    up for the next one.

    Parameters
    ----------
    manifest
        Of the run.
    section
        What is added.

    Raises
    ------
    RunFolderError
        If the run or its chain is not as it was written.
    InputError
        If nothing can be written there, the section is too large, or the chain is full.
    """
    manifest.check()
    folder = manifest.folder
    with one_writer(folder / SECTIONS):
        while True:
            links = links_of(manifest)
            if len(links) >= MOST_SECTIONS:
                raise InputError(f"{folder} has {len(links)} sections; allowed: at most {MOST_SECTIONS}")
            previous = links[-1].sha256 if links else manifest.sha256
            file, content = f"{SECTIONS}/{len(links) + 1:04d}-{section.name}.json", _written(section, previous)
            limits.SECTION_BYTES.check(len(content), file)
            try:
                add_to_run(folder, file, content)
            except InputError:
                if not os.path.lexists(folder / file):
                    raise
            else:
                return _read(folder, file)


def check_addable(folder: Path, without: str = "--no-add adds none") -> None:
    """Refuse a run folder that cannot be written to, before the work and not after it.

    `without`: how to do without, for the message.

    Raises
    ------
    InputError
        If nothing can be added there.
    """
    place = folder / SECTIONS if (folder / SECTIONS).is_dir() else folder
    if not os.access(place, os.W_OK | os.X_OK) or not os.access(folder.absolute().parent, os.W_OK | os.X_OK):
        raise InputError(f"{folder}: no section can be added, for the folder cannot be written to; {without}")


def _written(section: Section, previous: str) -> bytes:
    envelope = Envelope(section=section.name, version=section.version, previous=previous, result=section.to_json())
    text = json.dumps(envelope.model_dump(mode="json"), indent=1, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8", "backslashreplace")


def _read(folder: Path, file: str) -> Link:
    """Return one file of the chain, whose bytes are hashed before they are used."""
    try:
        content = regular_bytes(folder, file, limits.SECTION_BYTES)
        envelope = Envelope.model_validate(read_json_value(content.decode("utf-8")))
    except ValidationError as error:
        wrong = error.errors()[0]
        words = f"{'.'.join(map(str, wrong['loc'])) or 'the whole'}: {wrong['msg']}"
        raise RunFolderError(f"{folder}: {file} is no section: {words:.300}") from None
    except (ValueError, TypeError, DataError) as error:
        raise RunFolderError(f"{folder}: {file} cannot be read: {error!s:.300}") from None
    named = SECTION_FILE.fullmatch(file)
    if named is None or envelope.section != named["name"]:
        raise RunFolderError(f"{folder}: {file} holds the section {envelope.section!r:.60}; its name says another")
    return Link(file, hashlib.sha256(content).hexdigest(), envelope)
