"""`Declared`: the base of everything a person writes down in Python, YAML or JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from accordant.errors import SpecError, spec_error
from accordant.naming import path_name

PathName = Annotated[str, AfterValidator(path_name)]
"""A name that becomes part of a path."""
WEIGHT_TOLERANCE = 1e-9  # by which weights that divide one whole may miss it


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
            raise spec_error(error, type(self).__name__, self.valid_keys()) from None
        except TypeError as error:
            if "keywords must be strings" not in str(error):
                raise
            raise SpecError("a key is no text; allowed: names, between quotes if they look like numbers") from None

    def replace(self, **changes: Any) -> Self:
        """Return a validated copy with some fields changed."""
        kept = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**(kept | changes))

    @classmethod
    def valid_keys(cls) -> Iterable[str]:
        """Return the valid keys."""
        return cls.model_fields


class NamedSpec(Declared):
    """A registered object and its parameters; a bare name will do."""

    name: str
    parameters: dict[str, Any] = Field(default_factory=dict)


def _named(value: Any) -> Any:
    """Let a bare name stand for a declaration without parameters."""
    return {"name": value} if isinstance(value, str) else value


NamedOrName = Annotated[NamedSpec, BeforeValidator(_named)]
