"""Case files: which come with the package, and how their YAML is read."""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from accordant.errors import SpecError, UnknownNameError


def text_of(name_or_path: str | Path, built_in: Mapping[str, Any]) -> tuple[str, str, Path | None]:
    """Return the text of a case file, what messages call it, and its folder (None for built-in ones)."""
    path = Path(name_or_path)
    if path.suffix in {".yaml", ".yml"} or path.is_file():
        if not path.is_file():
            raise SpecError(f"case file {name_or_path} does not exist")
        try:
            return path.read_text(encoding="utf-8"), f"case file {path.name}", path.parent
        except (OSError, UnicodeDecodeError) as error:
            raise SpecError(f"cannot be read: {error}", f"case file {path.name}") from None
    if str(name_or_path) not in built_in:
        raise UnknownNameError("case", str(name_or_path), (*sorted(built_in), "or a path to a .yaml file"))
    return read_text(built_in[str(name_or_path)]), f"case {name_or_path}", None


def read_text(file: Any) -> str:
    """Return the text of a file of the package."""
    return str(file.read_text(encoding="utf-8"))


def built_in_files(package: str = "accordant.cases") -> dict[str, Any]:
    """Return name to file of the case files in the folders of a package."""
    folders = [folder for folder in importlib.resources.files(package).iterdir() if folder.is_dir()]
    files = [file for folder in folders for file in folder.iterdir() if file.name.endswith(".yaml")]
    return {file.name.removesuffix(".yaml"): file for file in files}


class UniqueKeys(yaml.SafeLoader):
    """Refuses a key that is written twice, and reads yes, no, on and off as words, not as booleans."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML declares it so
        first: [
            (tag, re.compile("^(?:true|True|TRUE|false|False|FALSE)$") if tag.endswith(":bool") else pattern)
            for tag, pattern in resolvers
        ]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Build a mapping."""
        written = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        for key in written:
            if isinstance(key, str) and written.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is there twice", node.start_mark)
        return super().construct_mapping(node, deep)


def keys_of(text: str, where: str) -> dict[str, Any]:
    """Return the top level of a YAML file."""
    try:
        declared = yaml.load(text, UniqueKeys)  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        raise SpecError(f"{where} is not valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(declared, dict):
        raise SpecError(f"{where} must hold keys and values; found {type(declared).__name__}")
    return {str(key): value for key, value in declared.items()}
