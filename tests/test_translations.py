"""Every string that is marked for translation has one in each language, in the catalogue that is read at run time.

The strings are found by Python itself, so that the tests need no gettext installed.
"""

import ast
import gettext
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
CATALOGUES = sorted((ROOT / "locale").glob("*/LC_MESSAGES/django.po"))
NOT_OURS = {"tests", "benchmarks", "node_modules", "staticfiles"}
TEXT = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
PLACEHOLDER = re.compile(r"%\(\w+\)[a-z]|%%|%[sd]|\{\w*\}")
# A context and a text, or a text and its plural.
Key = tuple[str | None, str, str | None]


def project_files(suffix: str) -> Iterator[Path]:
    for folder in ROOT.iterdir():
        if folder.is_dir() and not folder.name.startswith(".") and folder.name not in NOT_OURS:
            for path in folder.rglob(f"*{suffix}"):
                if "tests" not in path.parts:
                    yield path


def key_of(function: str, texts: list[str]) -> Key:
    context = texts.pop(0) if "p" in function.partition("gettext")[0] else None
    plural = texts[1] if "n" in function.partition("gettext")[0] else None
    return context, texts[0], plural


def marked_in_python(path: Path) -> Iterator[Key]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = "gettext" if node.func.id == "_" else node.func.id
            texts = [item.value for item in node.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
            if re.fullmatch(r"n?p?gettext(_lazy|_noop)?", name) and texts:
                yield key_of(name, texts)


def marked_in_template(path: Path) -> Iterator[Key]:
    for name, arguments in re.findall(rf"(\w*gettext)\(((?:u{TEXT}(?:, ?)?)+)", templatize(path.read_text())):
        yield key_of(name, [ast.literal_eval(text) for text in re.findall(TEXT, arguments)])


def marked() -> set[Key]:
    found = {key for path in project_files(".py") for key in marked_in_python(path)}
    return found | {key for path in project_files(".html") for key in marked_in_template(path)}


class Missing(gettext.NullTranslations):
    """Asked for what the catalogue lacks."""

    def gettext(self, message: str) -> str:
        return ""

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return ""

    def pgettext(self, context: str, message: str) -> str:
        return ""


@pytest.fixture(scope="module", params=CATALOGUES, ids=lambda path: path.parts[-3])
def catalogue(request) -> Path:
    return request.param


@pytest.fixture(scope="module")
def compiled(catalogue) -> gettext.GNUTranslations:
    with catalogue.with_suffix(".mo").open("rb") as file:
        translations = gettext.GNUTranslations(file)
    translations.add_fallback(Missing())
    return translations


def translated(compiled: gettext.GNUTranslations, key: Key) -> list[str]:
    """The translated forms of a string; empty texts for what is missing, unfinished or not compiled."""
    context, text, plural = key
    if plural is not None:
        return [compiled.ngettext(text, plural, number) for number in (1, 2)]
    return [compiled.gettext(text) if context is None else compiled.pgettext(context, text)]


def test_every_language_that_is_offered_has_a_catalogue():
    offered = {code for code, _ in settings.LANGUAGES} - {"en"}
    assert {path.parts[-3] for path in CATALOGUES} == offered


def test_strings_are_found_in_code_and_in_templates():
    found = marked()
    assert (None, "memories", None) in found
    assert ("to the clipboard", "Copied", None) in found
    assert (None, "%(n)d key was revoked.", "%(n)d keys were revoked.") in found
    assert (None, "%(percent)s %% in both", None) in found
    assert len(found) > 300


def test_every_string_is_translated(compiled):
    assert sorted(text for key in marked() if not all(translated(compiled, key)) for text in key if text) == []


def test_placeholders_are_the_same_in_translations(compiled):
    for key in marked():
        wanted = sorted(PLACEHOLDER.findall(key[1]))
        for text in translated(compiled, key):
            assert sorted(PLACEHOLDER.findall(text)) == wanted, key


def entries(catalogue: Path) -> Iterator[tuple[Key, list[str]]]:
    """What the catalogue in words holds."""
    for block in catalogue.read_text().split("\n\n")[1:]:
        parts: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            start = re.match(r"(msg\w+(?:\[\d\])?) ", line)
            if start:
                name = start[1]
            if not line.startswith("#"):
                parts[name] = parts.get(name, "") + ast.literal_eval(line.removeprefix(f"{name} "))
        forms = [text for part, text in parts.items() if part.startswith("msgstr")]
        yield (parts.get("msgctxt"), parts["msgid"], parts.get("msgid_plural")), forms


def test_the_compiled_catalogue_is_that_of_the_words(catalogue, compiled):
    for key, forms in entries(catalogue):
        assert translated(compiled, key) == forms, "compile it: docs/translations.md"


def test_nothing_is_guessed_or_left_over(catalogue):
    text = catalogue.read_text()
    assert "fuzzy" not in text
    assert "#~" not in text
    assert {key for key, _ in entries(catalogue)} - marked() == set()
