"""What Jinja compiles of templates, kept where Python keeps what it compiled of modules: half of a page's time else."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from importlib.util import MAGIC_NUMBER
from pathlib import Path

from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket

from accordant.errors import InputError
from accordant.tables.output import write_output


@dataclass
class TemplateCache(BytecodeCache):
    """Code of templates in files of one folder; nothing is kept where nothing can be written.

    An entry counts for the text of its template, for this Jinja and this Python, and for the options by which an
    environment compiles. Nothing else may go into the code: no environment may compute constants while it compiles.

    Attributes
    ----------
    folder
        One that Python uses likewise: what lies in it is run.
    """

    folder: Path

    def get_bucket(self, environment: Environment, name: str, filename: str | None, source: str) -> Bucket:
        """Return the entry of a template, empty if there is none that counts."""
        return super().get_bucket(environment, name, filename, f"{source}\0{self._made_by}\0{_options(environment)}")

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read an entry; what is missing or damaged is compiled anew."""
        with suppress(Exception), self._entry(bucket).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write an entry whole, or not at all."""
        with suppress(OSError, InputError):
            if not sys.dont_write_bytecode and self.folder.is_dir():
                write_output(self._entry(bucket), bucket.bytecode_to_string())

    @cached_property
    def _made_by(self) -> tuple[object, ...]:
        return version("jinja2"), sys.implementation.cache_tag, MAGIC_NUMBER

    def _entry(self, bucket: Bucket) -> Path:
        return self.folder / f"{bucket.key}.{sys.implementation.cache_tag}.template"


def _options(environment: Environment) -> tuple[object, ...]:
    """Return what code depends on beside the text: how it is read and escaped, and which filters are handed what."""
    handed = sorted(
        (name, str(getattr(function, "jinja_pass_arg", None)))
        for functions in (environment.filters, environment.tests)
        for name, function in functions.items()
    )
    return (
        environment.autoescape, environment.trim_blocks, environment.lstrip_blocks, environment.optimized,
        getattr(environment.finalize, "jinja_pass_arg", None), *handed,
    )  # fmt: skip
