"""`FrameSchema`: which library a data frame came from and what its columns were, so that frames go out as they came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from accordant.arrays import AnyArray, Codes, Values


@dataclass(frozen=True)
class FrameSchema:
    """Library and types of the columns of a data frame.

    Attributes
    ----------
    library
        ``pandas``, ``polars`` or ``pyarrow``; another that narwhals reads counts as pandas.
    types
        Column to its type in that library; for pyarrow the type that it has in pandas.
    index
        The index of a pandas frame, so that what is said of its rows can be joined to it; None for 0, 1, …
    """

    library: str = "pandas"
    types: Mapping[str, Any] = field(default_factory=dict)
    index: Any = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, frame: Any) -> FrameSchema:
        """Return the schema of a narwhals data frame."""
        library = str(frame.implementation).lower()
        if library == "polars":
            native = frame.to_native()
            return cls(library, dict(zip(native.columns, native.dtypes, strict=True)))
        native = frame.to_native() if library == "pandas" else frame.to_pandas()
        names = map(str, native.columns)
        return cls(library if library == "pyarrow" else "pandas", dict(zip(names, native.dtypes, strict=True)))

    @classmethod
    def of_rows(cls, given: Any) -> FrameSchema:
        """Return the library and the index of what a user gave, by which results about its rows go out."""
        module = type(given).__module__.partition(".")[0]
        if module == "pandas":
            return cls("pandas", index=given.index)
        schema = getattr(given, "schema", None)
        if isinstance(schema, cls):
            return cls(schema.library)
        return cls(module if module in {"polars", "pyarrow"} else "pandas")

    def table(self, columns: Mapping[str, Any]) -> Any:
        """Return columns that are new, such as decisions, as a frame of the library."""
        if self.library == "polars":
            import polars as pl

            return pl.DataFrame(dict(columns))
        if self.library == "pyarrow":
            import pyarrow as pa

            return pa.table(dict(columns))
        import pandas as pd

        return pd.DataFrame(dict(columns), index=self.index)

    def frame(self, columns: Mapping[str, AnyArray]) -> Any:
        """Return columns of `Contexts` as they came: a polars frame, or a pandas one for every other library.

        Missing numbers and empty texts are missing. A column whose type cannot hold what stands in it now, such as a
        fraction among integers, keeps the type that it has here.

        Parameters
        ----------
        columns
            Column to float64 or text, shape (context,).
        """
        if self.library == "polars":
            import polars as pl

            return pl.DataFrame(
                [_polars_series(name, values, self.types.get(name)) for name, values in columns.items()]
            )
        import pandas as pd

        return pd.DataFrame({name: _pandas_column(values, self.types.get(name)) for name, values in columns.items()})

    def category(self, codes: Codes, names: Sequence[str]) -> Any:
        """Return names by their positions, such as actions, as a column of categories."""
        if self.library == "polars":
            import polars as pl

            return pl.Series(np.array(names, dtype=str)[codes].tolist(), dtype=pl.Enum(list(names)))
        import pandas as pd

        return pd.Categorical.from_codes(codes, categories=pd.Index(list(names)))

    def with_columns(self, frame: Any, columns: Mapping[str, Any]) -> Any:
        """Return a frame of `frame` with more columns behind the others."""
        if self.library == "polars":
            import polars as pl

            return frame.with_columns([pl.Series(name, values) for name, values in columns.items()])
        return frame.assign(**columns)


def _pandas_column(values: AnyArray, dtype: Any) -> Any:
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype):
        numeric = pd.api.types.is_numeric_dtype(dtype.categories.dtype)
        position = {_key(category, numeric): code for code, category in enumerate(dtype.categories)}
        kinds, where = np.unique(values, return_inverse=True)
        codes = np.array([position.get(_key(kind, numeric), -1) for kind in kinds.tolist()], dtype=np.intp)
        return pd.Categorical.from_codes(codes[where.ravel()], dtype=dtype)
    if values.dtype == np.float64:
        return pd.Series(values) if dtype is None or not _holds(values, dtype) else pd.Series(values).astype(dtype)
    texts = values.astype(object)
    texts[values == ""] = np.nan
    column = pd.Series(texts, dtype=object)
    try:
        return column.infer_objects() if dtype is None else column.astype(dtype)
    except (TypeError, ValueError):
        return column


def _holds(values: Values, dtype: Any) -> bool:
    """Return whether numbers go into a type of pandas and come back as they were."""
    import pandas as pd

    missing = np.isnan(values)
    if missing.any() and not pd.api.types.is_extension_array_dtype(dtype) and np.dtype(dtype).kind not in "fO":
        return False
    if pd.api.types.is_bool_dtype(dtype):
        return bool(np.isin(values[~missing], (0.0, 1.0)).all())
    if pd.api.types.is_integer_dtype(dtype):
        return bool((values[~missing] % 1 == 0).all())
    return bool(pd.api.types.is_float_dtype(dtype))


def _polars_series(name: str, values: AnyArray, dtype: Any) -> Any:
    import polars as pl

    if values.dtype == np.float64:
        series = pl.Series(name, values, nan_to_null=True)
        whole = dtype is not None and (dtype.is_integer() or dtype == pl.Boolean)
        if dtype is None or not (dtype.is_float() or (whole and bool((values[~np.isnan(values)] % 1 == 0).all()))):
            return series
        return series.cast(dtype, strict=False)
    series = pl.Series(name, [text or None for text in values.tolist()], dtype=pl.String)
    if dtype is None or dtype == pl.String:
        return series
    if dtype.is_temporal():
        return series.str.to_datetime(strict=False).cast(dtype)
    named = isinstance(dtype, pl.Categorical | pl.Enum) or dtype.is_numeric()
    return series.cast(dtype, strict=False) if named else series


def _key(value: Any, numeric: bool) -> Any:
    """Return what a category is known by: its number, or its text."""
    try:
        return float(value) if numeric else str(value)
    except ValueError:
        return str(value)
