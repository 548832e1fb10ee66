"""`Declared`: the base of everything a person writes down in Python, YAML or JSON."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from accordant.errors import spec_error


class Declared(BaseModel):
    """An immutable declaration: unknown keys are errors, and errors are one readable line.

    Raises
    ------
    SpecError
        If a key is unknown, missing or of the wrong type; the message names the nearest valid key.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    def __init__(self, /, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise spec_error(error, type(self).__name__, type(self).model_fields) from None

    def replace(self, **changes: Any) -> Self:
        """Return a validated copy with some fields changed."""
        kept = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**(kept | changes))
