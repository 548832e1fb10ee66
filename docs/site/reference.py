"""Pages of the reference, made from what is there: registries, sections, and the public faces of rooms."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import pkgutil
import re
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from docs.site.docstrings import default, inline, markdown, meanings, parameter_texts, signature, summary

import accordant
from accordant import limits
from accordant.registry import Registry

FACT = re.compile(r"[a-z][a-z_]*")
NO_FACTS = {"name", "parameters"}


@dataclass(frozen=True)
class Listed:
    """A registry, where it is imported from, the module that makes it, and the annotation that says what it keeps."""

    registry: Registry[Any]
    place: str
    module: types.ModuleType
    kept: str

    @property
    def title(self) -> str:
        """What is registered, in the plural."""
        head, _, rest = self.registry.kind.partition(" of ")
        plural = head if head.endswith("s") else re.sub("y$", "ie", head) + "s"
        return (plural + (f" of {rest}" if rest else "")).capitalize()

    @property
    def slug(self) -> str:
        """Name of its page."""
        return self.title.lower().replace(" ", "-")

    @property
    def names(self) -> list[str]:
        """Names that the package itself registers."""
        return [
            name for name in self.registry if self.registry.factory(name).__module__.partition(".")[0] == "accordant"
        ]

    @property
    def declares(self) -> bool:
        """Whether what is registered are types with a JSON schema, which have a page each."""
        return self.kept.startswith("type[")


@functools.cache
def modules() -> tuple[types.ModuleType, ...]:
    """Return every module of the package that can be imported with the extras that are installed."""
    found = [accordant]
    for module in pkgutil.walk_packages(accordant.__path__, "accordant."):
        try:
            found.append(importlib.import_module(module.name))
        except ModuleNotFoundError as error:
            if (error.name or "accordant").partition(".")[0] == "accordant":
                raise
    return tuple(found)


@functools.cache
def registries() -> tuple[Listed, ...]:
    """Return all registries of the package in the order of their titles, each once."""
    found: dict[int, list[tuple[types.ModuleType, str]]] = {}
    for module in modules():
        for name, value in vars(module).items():
            if isinstance(value, Registry):
                found.setdefault(id(value), []).append((module, name))
    listed = []
    for places in found.values():
        module, name = next(each for each in places if "Registry" in str(inspect.get_annotations(each[0]).get(each[1])))
        exported = [f"{room.__name__}.{each}" for room, each in places if each in getattr(room, "__all__", ())]
        place = min([*exported, f"{module.__name__}.{name}"], key=lambda each: (each.count("."), each))
        kept = str(inspect.get_annotations(module)[name]).partition("[")[2].removesuffix("]")
        listed.append(Listed(getattr(module, name), place, module, kept))
    return tuple(sorted(listed, key=lambda each: each.title))


# Registries


def facts(factory: Callable[..., Any]) -> list[str]:
    """Return what a registered class declares about itself: words, and yes or no where that is not the usual answer."""
    if not inspect.isclass(factory):
        return []
    parameters = set(inspect.signature(factory).parameters)
    first: dict[str, Any] = {}  # what the class that declares it says, the most general one last
    for base in factory.__mro__:
        first |= dict.fromkeys(inspect.get_annotations(base)) | vars(base)
    shown = []
    for name in sorted(name for name in first.keys() - parameters - NO_FACTS if FACT.fullmatch(name)):
        value = getattr(factory, name, None)
        if isinstance(value, bool) and value != first[name]:
            shown.append(f"{name.replace('_', ' ')}: {'yes' if value else 'no'}")
        elif isinstance(value, str) and value:
            shown.append(f"{name.replace('_', ' ')}: {inline(value)}")
    return shown


def row(*cells: str) -> str:
    """Return a row of a table; bars within cells are text."""
    return "| " + " | ".join(" ".join(cell.split()).replace("\\|", "|").replace("|", "\\|") for cell in cells) + " |"


def parameter_table(factory: Callable[..., Any]) -> str:
    """Return the parameters of a factory with defaults and meanings; empty if it takes none."""
    rows, texts = [], parameter_texts(factory)
    for name, parameter in inspect.signature(factory).parameters.items():
        given = "required" if parameter.default is inspect.Parameter.empty else f"`{default(parameter)}`"
        typed = f"`{parameter.annotation}`" if isinstance(parameter.annotation, str) else ""
        rows.append(row(f"`{name}`", given, texts.get(name, typed)))
    return "\n".join(["| parameter | default | meaning |", "|---|---|---|", *rows]) if rows else ""


def entry(listed: Listed, name: str, modules_of: Counter[str]) -> str:
    """Return what a page says about one registered object."""
    registry, factory = listed.registry, listed.registry.factory(name)
    also = ", ".join(f"`{alias}`" for alias in registry.aliases(name))
    lines = [f"({listed.slug}-{name})=", f"## `{name}`", ""]
    said = [*facts(factory), *([f"also known as {also}"] if also else [])]
    if said:
        lines += [" · ".join(said) + "\n"]
    if modules_of[factory.__module__] == 1:  # then the first line of the module says the idea and its source
        first = (inspect.getdoc(inspect.getmodule(factory)) or "").partition("\n")[0]
        lines.append(f"*{inline(first.rstrip(':'))}*\n")
    lines += [markdown(inspect.getdoc(factory), leave_out=("Parameters", "Class attributes")), ""]
    lines += [parameter_table(factory), ""]
    maker = factory if hasattr(factory, "__qualname__") else type(factory)  # some factories are objects
    return "\n".join([*lines, f"Made by {{py:obj}}`{maker.__module__}.{maker.__qualname__}`.\n"])


def registry_page(listed: Listed) -> str:
    """Return the page of one registry."""
    module, _, name = listed.place.rpartition(".")
    factories = {each: listed.registry.factory(each) for each in listed.names}
    modules_of = Counter(factory.__module__ for factory in factories.values())
    kept = homes().get(id(getattr(listed.module, listed.kept, None)))
    said = f"{summary(listed.module)} Each entry is a {{py:obj}}`{kept}`." if kept else summary(listed.module)
    head = (
        f"# {listed.title}\n\n{said}\n\n"
        f"{len(factories)} registered in `{listed.place}`. In Python:\n\n"
        f"```python\nfrom {module} import {name}\n\n{name}.create(NAME, {{PARAMETER: VALUE}})\n```\n\n"
        f"Packages of others register by the entry point `{listed.registry.group}`.\n"
    )
    return "\n".join([head, *(entry(listed, each, modules_of) for each in factories)])


def registry_table() -> str:
    """Return all registries with their sizes and entry points, and the order of their pages."""
    chosen = [each for each in registries() if not each.declares]
    rows = [
        row(
            f"[{each.title}](registries/{each.slug}.md)",
            str(len(each.names)),
            f"`{each.place}`",
            f"`{each.registry.group}`",
        )
        for each in chosen
    ]
    tree = "\n".join(f"registries/{each.slug}" for each in chosen)
    return "\n".join(
        ["| registry | entries | imported from | entry point |", "|---|---|---|---|", *rows, "", toctree(tree)]
    )


# Limits


def limit_table() -> str:
    """Return every limit with its reason."""
    rows = [
        row(each.written, each.counted, each.reason) for each in vars(limits).values() if isinstance(each, limits.Limit)
    ]
    return "\n".join(["| at most | of what | because |", "|---:|---|---|", *rows])


# Sections


def sections_pages() -> Iterator[tuple[str, str]]:
    """Make a page and a schema for every registered type that declares its fields, and an index of them."""
    for listed in registries():
        if not (listed.declares and listed.names):
            continue
        lines = [f"# {listed.title}\n", f"Registered in `{listed.place}`; each has a JSON schema.\n"]
        for name in listed.names:
            model = listed.registry.factory(name)
            lines.append(f"- [{name}]({listed.slug}/{name}.md): {summary(model)}")
            yield f"reference/{listed.slug}/{name}.md", section_page(name, model)
            yield f"reference/{listed.slug}/{name}.json", json.dumps(schema_of(model), indent=2, ensure_ascii=False)
        tree = toctree("\n".join(f"{listed.slug}/{name}" for name in listed.names))
        yield f"reference/{listed.slug}.md", "\n".join([*lines, "", tree])


def schema_of(model: Any) -> dict[str, Any]:
    """Return the JSON schema of what a model writes."""
    return dict(model.model_json_schema(mode="serialization"))


def section_page(name: str, model: Any) -> str:
    """Return the page of one section: what it holds, field by field, and the types that it uses."""
    schema = schema_of(model)
    head = f"# `{name}`\n" + (f"\nVersion {model.version}.\n" if hasattr(model, "version") else "")
    parts = [head, markdown(inspect.getdoc(model), leave_out=("Attributes", "Parameters")) + "\n"]
    parts.append(field_table(schema, parameter_texts(model)) + "\n")
    for key, each in schema.get("$defs", {}).items():
        said = each.get("description", "")
        parts.append(f"({name}-{key})=\n## {key}\n\n{markdown(said, leave_out=('Attributes', 'Parameters'))}\n")
        parts.append(field_table(each, meanings(said)) + "\n")
    return "\n".join([*parts, f"The [JSON schema]({name}.json).\n"])


def field_table(schema: dict[str, Any], texts: dict[str, str]) -> str:
    """Return the fields of a JSON schema with type, default and meaning."""
    if "enum" in schema:
        return "One of " + ", ".join(f"`{value}`" for value in schema["enum"]) + "."
    rows = []
    for name, field in schema.get("properties", {}).items():
        given = f"`{json.dumps(field['default'], ensure_ascii=False)}`" if "default" in field else ""
        given = given or ("required" if name in schema.get("required", ()) else "")
        meaning = inline(field["description"]) if "description" in field else texts.get(name, "")
        rows.append(row(f"`{name}`", f"`{type_of(field)}`", given, meaning))
    return "\n".join(["| field | type | default | meaning |", "|---|---|---|---|", *rows]) if rows else ""


def type_of(field: dict[str, Any]) -> str:
    """Return the type of a field of a JSON schema in a few words."""
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[-1]
    if "const" in field:
        return json.dumps(field["const"])
    if "enum" in field:
        return " | ".join(json.dumps(value) for value in field["enum"])
    for key in ("anyOf", "oneOf", "allOf"):
        if key in field:
            return " | ".join(dict.fromkeys(map(type_of, field[key])))
    if field.get("type") == "array":
        items = field.get("prefixItems") or [field.get("items", {})]
        return "array of " + " | ".join(dict.fromkeys(map(type_of, items)))
    if field.get("type") == "object" and isinstance(field.get("additionalProperties"), dict):
        return f"object of {type_of(field['additionalProperties'])}"
    return str(field.get("type", "any"))


# The public faces of rooms


@dataclass(frozen=True)
class Face:
    """What one room offers: public name to object."""

    room: types.ModuleType
    offers: dict[str, Any]

    @property
    def short(self) -> str:
        """Name of the room below the package, for the navigation."""
        return self.room.__name__.removeprefix("accordant.")


@functools.cache
def faces() -> tuple[Face, ...]:
    """Return the public face of every room, the package itself first."""
    rooms = [module for module in modules() if hasattr(module, "__path__") and getattr(module, "__all__", None)]
    return tuple(Face(room, {name: getattr(room, name) for name in sorted(room.__all__)}) for room in rooms)


@functools.cache
def homes() -> dict[int, str]:
    """Return where each public object is described: under its shortest public name."""
    found: dict[int, str] = {}
    for face in sorted(faces(), key=lambda each: (each.room.__name__.count("."), each.room.__name__)):
        for name, thing in face.offers.items():
            if callable(thing):
                found.setdefault(id(thing), f"{face.room.__name__}.{name}")
    return found


def linked(annotation: str, thing: Any) -> str:
    """Return an annotation with the public classes of the package under their full names, so that each is a link."""
    function = inspect.unwrap(thing)
    scope = getattr(function, "__globals__", None) or vars(sys.modules[function.__module__])

    def full(match: re.Match[str]) -> str:
        return homes().get(id(scope.get(match[0])), match[0])

    return re.sub(r"(?<![\w.'\"])[A-Z]\w*(?![\w'\"])", full, annotation)


def directive(kind: str, head: str, body: str, options: tuple[str, ...] = ()) -> str:
    """Return a MyST directive around text, with a fence that is longer than those within."""
    longest = max(map(len, re.findall(r"^`{3,}", body, re.MULTILINE)), default=2)
    fence = "`" * (longest + 1)
    return "\n".join([f"{fence}{{{kind}}} {head}".rstrip(), *options, "", body, fence, ""])


def toctree(entries: str, caption: str = "") -> str:
    """Return a hidden table of contents: the order of pages in the navigation."""
    return directive("toctree", "", entries, (":hidden:", *((f":caption: {caption}",) if caption else ())))


def member(name: str, value: Any) -> str:
    """Return the entry of a method, property or class method."""
    kind, thing = "py:method", value
    options: tuple[str, ...] = ()
    if isinstance(value, property | functools.cached_property):
        function = value.fget if isinstance(value, property) else value.func
        returned = getattr(function, "__annotations__", {}).get("return", "")
        shown = returned if isinstance(returned, str) else getattr(returned, "__name__", str(returned))
        typed = (f":type: {linked(shown, function)}",) if shown else ()
        return directive("py:property", name, markdown(value.__doc__), typed)
    if isinstance(value, classmethod | staticmethod):
        thing, options = value.__func__, (f":{type(value).__name__}:",)
    head = name + re.sub(r"^\((?:self|cls)(?:, /)?(?:, )?", "(", signature(thing, linked))
    return directive(kind, head, markdown(thing.__doc__), options)


def _without_entry(base: type) -> bool:
    """Whether a base is ours and described nowhere, so that what it brings stands with the classes that have it."""
    return base.__module__.startswith("accordant.") and id(base) not in homes()


def described(name: str, thing: Any) -> str:
    """Return the entry of a public class or function."""
    if not inspect.isclass(thing):
        return directive("py:function", name + signature(thing, linked), markdown(inspect.getdoc(thing)))
    kind = "py:exception" if issubclass(thing, BaseException) else "py:class"
    described_kinds = (types.FunctionType, property, functools.cached_property, classmethod, staticmethod)
    own = [base for base in thing.__mro__ if base is thing or _without_entry(base)]
    brought = {each: value for base in reversed(own) for each, value in vars(base).items()}
    members = [
        member(each, brought[each])
        for each in dict.fromkeys(each for base in own for each in vars(base))
        if not each.startswith("_") and isinstance(brought[each], described_kinds) and not each.startswith("model_")
    ]
    bases = [homes().get(id(base)) for base in thing.__mro__[1:]]
    above = ", ".join(f"{{py:obj}}`{base}`" for base in bases if base)
    body = [f"Is also {above}." if above else "", markdown(thing.__doc__), *members]
    canonical = f"{thing.__module__}.{thing.__qualname__}"
    options = () if canonical == name else (f":canonical: {canonical}",)
    head = "" if kind == "py:exception" else signature(thing, linked).removesuffix(" -> None")
    return directive(kind, name + head, "\n\n".join(body), options)


def offer(room: str, name: str, thing: Any) -> tuple[str, str]:
    """Return the heading under which a room shows an object, and its entry there."""
    full = f"{room}.{name}"
    home = homes().get(id(thing), full)
    if isinstance(thing, types.ModuleType):
        return "Rooms", f"- [`{thing.__name__}`]({thing.__name__}.md): {summary(thing)}"
    if isinstance(thing, Registry):
        listed = next((each for each in registries() if each.registry is thing), None)
        page = "" if listed is None else f"../{'' if listed.declares else 'registries/'}{listed.slug}.md"
        return "Registries", f"- `{name}`: [{'' if listed is None else listed.title.lower()}]({page})"
    if home != full:
        return "From other rooms", f"- {{py:obj}}`{name} <{home}>`: {summary(thing)}"
    if inspect.isclass(thing) or inspect.isroutine(thing):
        return "Classes" if inspect.isclass(thing) else "Functions", described(full, thing)
    shown = repr(thing)
    shown = f" = `{shown}`" if " at 0x" not in shown and len(shown) < 200 and "`" not in shown else ""
    return "Constants and types", f"- `{name}`{shown}"


def room_page(face: Face) -> str:
    """Return the page of the public face of one room."""
    room = face.room.__name__
    groups: dict[str, list[str]] = {each: [] for each in ("Rooms", "Registries", "Classes", "Functions")}
    for name, thing in face.offers.items():
        heading, text = offer(room, name, thing)
        groups.setdefault(heading, []).append(text)
    lines = [f"# `{room}`\n", markdown(face.room.__doc__)]
    for heading, entries in groups.items():
        if entries:
            lines += [f"\n## {heading}\n", "\n".join(entries)]
    return "\n".join(lines) + "\n"


def python_index() -> str:
    """Return the index of the public faces."""
    rows = [row(f"[`{face.room.__name__}`](python/{face.room.__name__}.md)", summary(face.room)) for face in faces()]
    head = "# Python\n\nWhat each room offers by `__all__`; everything else may change without notice.\n"
    tree = toctree("\n".join(f"{face.short} <python/{face.room.__name__}>" for face in faces()))
    return "\n".join([head, "| room | what it is |", "|---|---|", *rows, "", tree])


def index() -> str:
    """Return the list of what is made beside the registries: sections, and Python."""
    declared = [each for each in registries() if each.declares and each.names]
    lines = [f"- [{each.title.lower()}]({each.slug}.md): types that are written as JSON" for each in declared]
    lines += ["- [Python](python.md): what each room offers"]
    return "\n".join([*lines, "", toctree("\n".join([*(each.slug for each in declared), "python"]))])


def pages() -> dict[str, str]:
    """Return all generated pages: place below ``docs`` to text."""
    found = {f"reference/registries/{each.slug}.md": registry_page(each) for each in registries() if not each.declares}
    found.update(sections_pages())
    found["reference/python.md"] = python_index()
    found.update({f"reference/python/{face.room.__name__}.md": room_page(face) for face in faces()})
    return found
