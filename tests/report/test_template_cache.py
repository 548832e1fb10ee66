"""Compiled templates: read again for the same text only, left out where nothing can be written, free of constants."""

from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader, Template, pass_context

from accordant.errors import InputError
from accordant.report.page import Page
from accordant.report.template_cache import TemplateCache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    (tmp_path / "kept").mkdir()
    (tmp_path / "page.html").write_text("{{ value }} of one")
    return tmp_path


def rendered(folder: Path, compiled: list[str]) -> str:
    """Return the page as a new process would make it, and note what is compiled."""

    class Compiler(Environment):
        def compile(self, source, *args, **kwargs):
            compiled.append(source)
            return super().compile(source, *args, **kwargs)

    environment = Compiler(
        loader=FileSystemLoader(folder), bytecode_cache=TemplateCache(folder / "kept"), autoescape=True
    )
    page: Template = environment.get_template("page.html")
    return page.render(value=1)


def entries(folder):
    return list((folder / "kept").iterdir())


def test_a_template_is_compiled_once_for_each_text(folder):
    compiled = []
    for text in ("of one", "of one", "of two", "of two"):
        (folder / "page.html").write_text("{{ value }} " + text)
        assert rendered(folder, compiled) == f"1 {text}"
    assert [text[-3:] for text in compiled] == ["one", "two"] and len(entries(folder)) == 1


@pytest.mark.parametrize("length", [0, 1, 20, 30, 60, 200])
def test_an_entry_that_was_cut_short_is_made_anew(folder, length):
    compiled = []
    rendered(folder, compiled)
    (entry,) = entries(folder)
    whole = entry.read_bytes()
    entry.write_bytes(whole[:length])
    assert rendered(folder, compiled) == "1 of one" and len(compiled) == 2
    assert entry.read_bytes() == whole and entries(folder) == [entry]


def test_nothing_is_kept_where_nothing_can_be_written(folder, monkeypatch):
    compiled = []
    (folder / "kept").rmdir()
    assert rendered(folder, compiled) == "1 of one" and not (folder / "kept").exists()
    (folder / "kept").write_text("no folder")
    assert rendered(folder, compiled) == "1 of one"
    (folder / "kept").unlink()
    (folder / "kept").mkdir()
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    assert rendered(folder, compiled) == "1 of one" and len(compiled) == 3 and not entries(folder)


def test_a_place_that_cannot_be_looked_at_hides_no_page(folder, monkeypatch):
    monkeypatch.setattr(Path, "is_dir", lambda _: (_ for _ in ()).throw(PermissionError))
    assert rendered(folder, []) == "1 of one" and not entries(folder)


@pytest.mark.parametrize("byte", [0, 10, 40, 70, 100, 200])
def test_a_damaged_entry_hides_no_page(folder, byte):
    rendered(folder, [])
    (entry,) = entries(folder)
    whole = bytearray(entry.read_bytes()[:-1])
    whole[byte] ^= 255
    entry.write_bytes(whole)
    assert rendered(folder, []) == "1 of one"


def test_other_options_another_jinja_and_other_filters_have_code_of_their_own(folder, monkeypatch):
    (folder / "page.html").write_text("{% if 1 %}\n<{{ value|told }}{% endif %}")

    @pass_context
    def told(_, value):
        return value + ">"

    found = []
    for options, each in (({}, str), ({"autoescape": True}, str), ({"trim_blocks": True}, str), ({}, told)):
        loader, cache = FileSystemLoader(folder), TemplateCache(folder / "kept")
        environment = Environment(loader=loader, bytecode_cache=cache, **options)  # noqa: S701
        environment.filters["told"] = each
        found.append(environment.get_template("page.html").render(value="<"))
    assert found == ["\n<<", "\n<&lt;", "<<", "\n<<>"]
    compiled = []
    (folder / "page.html").write_text("{{ value }} of one")
    rendered(folder, compiled)
    monkeypatch.setattr("accordant.report.template_cache.version", lambda _: "9")
    rendered(folder, compiled)
    assert len(compiled) == 2


def test_a_full_disk_hides_no_page(folder, monkeypatch):
    def full(*_):
        raise InputError("no space left on device")

    compiled = []
    monkeypatch.setattr("accordant.report.template_cache.write_output", full)
    assert rendered(folder, compiled) == "1 of one" and not entries(folder)


def test_no_constant_goes_into_the_code_of_a_page():
    calls = []
    page = Page("accordant.report", "", filters={"told": lambda value: calls.append(value) or value}, names={})
    template = page._environment.from_string('{{ "a\x00"|told }}{% if "b"|told %}{{ "c\x00" }}{% endif %}')
    assert not calls
    assert template.render() == "a\ufffdc\ufffd" and calls == ["a\x00", "b"]
