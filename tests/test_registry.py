"""The registry itself: names, aliases, parameters, entry points, and what happens when an import fails."""

from __future__ import annotations

import pickle
import sys
import textwrap

import pytest

from accordant.errors import InputError, UnknownNameError
from accordant.registry import Registry
from docs.site import reference


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that writes a package of modules into an importable place."""
    monkeypatch.syspath_prepend(str(tmp_path))
    written = []

    def write(name, **modules):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        for module, text in modules.items():
            (folder / f"{module}.py").write_text(textwrap.dedent(text))
        written.append(name)
        return (name,)

    yield write
    for name in [each for each in sys.modules if each.split(".")[0] in written]:
        del sys.modules[name]


@pytest.fixture
def shapes(package):
    return Registry("shape", group="accordant.tests.shapes", packages=package("no_shapes"))


def test_create_by_name_and_alias(shapes):
    @shapes.register("square", aliases=("quadrat", "box"))
    def square(side, *, unit="m"):
        return f"{side}{unit}"

    assert shapes.create("square", {"side": 2}) == "2m"
    assert shapes.create("box", {"side": 2, "unit": "cm"}) == "2cm"
    assert shapes.names() == ("square",)
    assert shapes.aliases("square") == ("box", "quadrat")
    assert shapes.factory("quadrat") is square
    assert "box" in shapes
    assert "circle" not in shapes
    assert list(shapes) == ["square"]


def test_names_are_sorted(shapes):
    for name in ("c", "a", "b"):
        shapes.register(name)(dict)
    assert shapes.names() == ("a", "b", "c")


@pytest.mark.parametrize("name", ["square", "box"])
def test_duplicates_are_refused(shapes, name):
    shapes.register("square", aliases=("box",))(dict)
    with pytest.raises(InputError, match=f"shape '{name}' is registered twice"):
        shapes.register(name)(list)
    with pytest.raises(InputError, match=f"shape '{name}' is registered twice"):
        shapes.register("other", aliases=(name,))(list)
    assert shapes.names() == ("square",)  # nothing of the refused registration stays behind


def test_unknown_name(shapes):
    shapes.register("square")(dict)
    with pytest.raises(UnknownNameError, match="unknown shape 'sqare'; did you mean 'square'. valid: square"):
        shapes.create("sqare")


def test_empty_registry(shapes):
    with pytest.raises(UnknownNameError, match="valid: none declared"):
        shapes.create("square")


def test_unknown_and_missing_parameters(shapes):
    shapes.register("square")(lambda side, unit="m": (side, unit))
    with pytest.raises(
        InputError, match="shape 'square': unknown parameter 'unti'; did you mean 'unit'. valid: side, unit"
    ):
        shapes.create("square", {"side": 1, "unti": "cm"})
    with pytest.raises(InputError, match="shape 'square': parameter 'side' is missing"):
        shapes.create("square", {})


def test_refused_values_are_input_errors(shapes):
    @shapes.register("square")
    def square(side):
        return 1.0 * len(side) + float(side)

    with pytest.raises(InputError, match="shape 'square' refuses {'side': 'x'}: could not convert"):
        shapes.create("square", {"side": "x"})
    with pytest.raises(InputError, match="shape 'square' refuses {'side': 3}: object of type 'int'"):
        shapes.create("square", {"side": 3})


def test_modules_register_on_first_use(package):
    names = package("kinds", one="import kinds_registry\nkinds_registry.kinds.register('one')(dict)\n")
    registry = Registry("kind", group="accordant.tests.kinds", packages=names)
    sys.modules["kinds_registry"] = type(sys)("kinds_registry")
    sys.modules["kinds_registry"].kinds = registry
    try:
        assert "kinds.one" not in sys.modules
        assert registry.names() == ("one",)
    finally:
        del sys.modules["kinds_registry"]


@pytest.mark.parametrize("asked", ["deep", "deep.inner.one"])
def test_a_name_imports_no_module_but_its_own(package, tmp_path, asked):
    package("deep", other="raise AssertionError('nobody asked for this')")
    inner = tmp_path / "deep" / "inner"
    inner.mkdir()
    (inner / "__init__.py").write_text("")
    (inner / "one.py").write_text('import deep_registry\ndeep_registry.kinds.register("one")(dict)\n')
    sys.modules["deep_registry"] = registry = type(sys)("deep_registry")
    registry.kinds = Registry("kind", group="accordant.tests.kinds", packages=(asked,))
    try:
        assert registry.kinds.factory("one") is dict
        assert "deep.other" not in sys.modules
    finally:
        del sys.modules["deep_registry"]


def test_several_packages(package):
    for name in ("left", "right"):
        package(f"kinds_{name}", module=f"from kinds_both import kinds\nkinds.register({name!r})(dict)\n")
    registry = Registry("kind", group="accordant.tests.kinds", packages=("kinds_left", "kinds_right"))
    sys.modules["kinds_both"] = type(sys)("kinds_both")
    sys.modules["kinds_both"].kinds = registry
    try:
        assert registry.names() == ("left", "right")
    finally:
        del sys.modules["kinds_both"]


def test_a_broken_module_is_reported_every_time(package):
    """The second question must not be answered from the half that was imported before the failure."""
    registry = Registry(
        "kind", group="accordant.tests.kinds", packages=package("broken", bad="import no_such_module\n")
    )
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="no_such_module"):
            registry.names()


def test_what_may_be_known_is_told_without_an_import(package):
    shapes = Registry(
        "shape", group="accordant.tests.shapes", packages=package("told_shapes", round="NAMES = 'x', \"circle\"")
    )
    assert shapes.may_know("circle") and not shapes.may_know("square")
    assert "told_shapes.round" not in sys.modules
    shapes.register("square")(dict)
    assert shapes.may_know("square")


def test_all_names_of_strategies_stand_in_sources():
    from accordant.strategies import strategies

    twin = Registry("twin", group="accordant.tests.none", packages=strategies.packages)
    names = [name for name in strategies.names() if name.isidentifier()]
    assert len(names) > 40
    assert [name for name in names if not twin.may_know(name)] == []
    assert not twin.may_know("xlogy")


@pytest.mark.long
def test_registered_classes_can_be_sent_to_another_process():
    factories = [each.registry.factory(name) for each in reference.registries() for name in each.registry.names()]
    classes = [factory for factory in factories if isinstance(factory, type)]
    assert len(classes) > 200
    for each in classes:
        assert pickle.loads(pickle.dumps(each)) is each
