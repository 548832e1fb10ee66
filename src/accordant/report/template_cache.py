"""What Jinja compiles of templates, kept where Python keeps what it compiled of modules: half of a page's time else."""

from __future__ import annotations

import pickle
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

from accordant.errors import InputError
from accordant.tables.output import write_output


@dataclass
class TemplateCache(BytecodeCache):
    """Code of templates in files of one folder; nothing is kept where nothing can be written.

    An entry counts only for the very text of its template. So nothing else may go into the code: an environment must
    not compute constants while it compiles.

    Attributes
    ----------
    folder
        One that Python uses likewise: what lies in it is run.
    """

    folder: Path

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read an entry; what is missing or was cut short is compiled anew."""
        with suppress(OSError, EOFError, pickle.UnpicklingError), self._entry(bucket).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write an entry whole, or not at all."""
        if self.folder.is_dir() and not sys.dont_write_bytecode:
            with suppress(InputError):
                write_output(self._entry(bucket), bucket.bytecode_to_string())

    def _entry(self, bucket: Bucket) -> Path:
        return self.folder / f"{bucket.key}.template"
