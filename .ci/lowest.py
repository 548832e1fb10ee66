"""Print the lowest versions that pyproject.toml allows, one pin per dependency, as constraints for pip.

Takes the names of extras; without any, prints the dependencies that every installation has.
"""

import re
import sys
import tomllib
from pathlib import Path

BOUND = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)(?:\[[^]]*\])?>=(?P<version>[0-9.]+)")


def lowest(requirement: str) -> str:
    """Return the pin of a requirement that states a lower bound."""
    bound = BOUND.match(requirement)
    if bound is None:
        sys.exit(f"pyproject.toml: {requirement!r} states no lower bound")
    return f"{bound['name']}=={bound['version']}"


project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = [each for name in sys.argv[1:] for each in project["optional-dependencies"][name]]
print("\n".join(map(lowest, [*project["dependencies"], *extras])))
