"""Registries: an object is known by a name, and rebuilds itself from that name and its parameters.

A module registers what it defines; nothing else changes::

    @strategies.register("maximin")
    @dataclass(frozen=True)
    class Maximin(Compromise): ...

Third parties register through Python entry points in the group of the registry
(``accordant.strategies``, ``accordant.metrics``, ``accordant.rewards``, ``accordant.cases``, …);
the entry point's value is any module or object whose import registers.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar

from accordant.errors import InputError, UnknownNameError, allowed_names

Registered = TypeVar("Registered")
Factory = TypeVar("Factory", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


@cache
def installed() -> EntryPoints:
    """Return what installed packages add to this one; reading what all of them say takes as long as a small import."""
    every = entry_points()
    ours = [group for group in every.groups if group.startswith("accordant.")]
    return EntryPoints(entry for group in ours for entry in every.select(group=group))


class Registry(Generic[Registered]):
    """Names to factories.

    Parameters
    ----------
    kind
        What is registered, in the singular, for messages: ``"strategy"``.
    group
        The entry-point group that third parties use.
    packages
        Packages, or single modules, whose modules register the built-in entries; imported on first use: one of them
        where it registers the name that is asked for, all where names are listed.
    """

    def __init__(self, kind: str, *, group: str, packages: tuple[str, ...]) -> None:
        self.kind, self.group, self.packages = kind, group, packages
        self._factories: dict[str, Callable[..., Registered]] = {}
        self._aliases: dict[str, str] = {}
        self._loaded = False
        self._entered = False
        self._loading = threading.RLock()

    def register(self, name: str, *, aliases: tuple[str, ...] = ()) -> Callable[[Factory], Factory]:
        """Return a decorator that registers a factory under `name` and `aliases`.

        Raises
        ------
        InputError
            If a name is taken by another factory.
        """

        def decorate(factory: Factory) -> Factory:
            """Register one factory."""
            for label in (name, *aliases):
                if label in self._factories or label in self._aliases:
                    raise InputError(f"{self.kind} {label!r} is registered twice")
            self._factories[name] = factory
            self._aliases.update(dict.fromkeys(aliases, name))
            return factory

        return decorate

    def named(self, name: str, *, aliases: tuple[str, ...] = ()) -> Callable[[Class], Class]:
        """Return a class decorator that registers a class and keeps the name in its attribute ``name``.

        Raises
        ------
        InputError
            If a name is taken by another factory.
        """

        def decorate(described: Class) -> Class:
            """Register one class."""
            self.register(name, aliases=aliases)(described)
            type.__setattr__(described, "name", name)
            return described

        return decorate

    def define(self, name: str, title: str, base: type, module: str, **members: Any) -> None:
        """Register a class that a line of a table makes, as an attribute of its module, where pickle looks for it.

        Parameters
        ----------
        name
            What it is registered under.
        title
            Of the class; no other name of the module.
        base
            What it derives from.
        module
            ``__name__`` of the module with the table.
        **members
            Its attributes.
        """
        made = type(title, (base,), {**members, "__module__": module})
        setattr(sys.modules[module], title, self.named(name)(made))

    def factory(self, name: str) -> Callable[..., Registered]:
        """Return the factory registered under `name` or an alias of it."""
        factory = self._known(name) or self._loaded_for(name)
        if factory is None:
            raise UnknownNameError(self.kind, name, self.names())
        return factory

    def _known(self, name: str) -> Callable[..., Registered] | None:
        return self._factories.get(self._aliases.get(name, name))

    def _loaded_for(self, name: str) -> Callable[..., Registered] | None:
        """Import the built-in module that says it registers a name, and if that is not enough, all of them."""
        if not self._loaded and not self._entered and name.isidentifier():
            for module in self._modules_that_say(f'"{name}"'):
                importlib.import_module(module)
                if self._known(name) is not None:
                    return self._known(name)
        self._load()
        return self._known(name)

    def _modules_that_say(self, text: str) -> Iterator[str]:
        """Yield the built-in modules in whose source a text stands; source is read a hundred times faster than run."""
        return (module for module, file in self._sources() if text in file.read_text(encoding="utf-8"))

    def _sources(self) -> Iterator[tuple[str, Path]]:
        """Yield the built-in modules with their files: one package after the other, of each the least deep ones first.

        A package is looked for when its turn comes, because Python imports the one around it.
        """
        for package in self.packages:
            spec = importlib.util.find_spec(package)
            if spec is None or spec.origin is None:
                continue
            origin = Path(spec.origin)
            if spec.submodule_search_locations is None:
                yield package, origin
                continue
            for file in sorted(origin.parent.rglob("*.py"), key=lambda path: (len(path.parts), path)):
                inner = file.relative_to(origin.parent).with_suffix("").parts
                yield ".".join((package, *inner)).removesuffix(".__init__"), file

    def may_know(self, name: str) -> bool:
        """Return whether a name is registered, or may be once more is imported; nothing is imported for the answer.

        Only for registries whose built-in names stand as they are in the sources.
        """
        if self._known(name) is not None or self._loaded:
            return self._known(name) is not None
        return self._others or name in self._quoted

    @cached_property
    def _others(self) -> bool:
        """Whether third parties register names, which no source of ours has."""
        return bool(installed().select(group=self.group))

    @cached_property
    def _quoted(self) -> frozenset[str]:
        """Whatever stands between two quotation marks in the sources of all built-in modules."""
        texts = (file.read_text(encoding="utf-8") for _, file in self._sources())
        return frozenset(quoted for text in texts for quoted in text.split('"')[1:-1])

    def create(self, name: str, parameters: Mapping[str, Any] | None = None) -> Registered:
        """Build the registered object from its name and parameters.

        Raises
        ------
        UnknownNameError
            If the name is not registered.
        InputError
            If a parameter is unknown, missing or refused by the factory.
        """
        factory, parameters = self.factory(name), dict(parameters or {})
        accepted = inspect.signature(factory).parameters
        for key in parameters:
            if key not in accepted:
                raise InputError(f"{self.kind} {name!r}: unknown parameter {key!r}; {allowed_names(accepted, key)}")
        for key, parameter in accepted.items():
            if parameter.default is inspect.Parameter.empty and key not in parameters:
                raise InputError(f"{self.kind} {name!r}: parameter {key!r} is missing")
        try:
            return factory(**parameters)
        except InputError:
            raise
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.kind} {name!r} refuses {parameters}: {error}") from error

    def about(self, name: str) -> str:
        """Return the first line of what the factory `name` says of itself."""
        return (inspect.getdoc(self.factory(name)) or "").partition("\n")[0]

    def names(self) -> tuple[str, ...]:
        """Return the registered names, sorted; aliases are not repeated."""
        self._load()
        return tuple(sorted(self._factories))

    def aliases(self, name: str) -> tuple[str, ...]:
        """Return the other names under which the factory `name` is known, sorted."""
        self._load()
        return tuple(sorted(alias for alias, target in self._aliases.items() if target == name))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (self._known(name) or self._loaded_for(name)) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def _load(self) -> None:
        """Import the built-in modules and the installed entry points, once."""
        if self._loaded:
            return
        with self._loading:  # other threads wait; a module may ask its own registry while it is imported
            if self._loaded or self._entered:
                return
            self._entered = True
            try:
                for package in map(importlib.import_module, self.packages):
                    for module in pkgutil.walk_packages(
                        getattr(package, "__path__", ()), prefix=f"{package.__name__}."
                    ):
                        importlib.import_module(module.name)
                for entry in installed().select(group=self.group):
                    entry.load()
                self._loaded = True
            finally:
                self._entered = False  # after a failure the next question tries again: never answer from half
