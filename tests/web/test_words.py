"""Every word can be translated: those of the templates and those of the scripts."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.utils import translation
from django.utils.translation import trans_real

from tests.web.conftest import People

pytestmark = pytest.mark.django_db
TEMPLATES = Path(django_settings.BASE_DIR) / "frontend" / "templates"


def catalogue(folder: Path, domain: str, words: dict[str, str]) -> None:
    """Write a compiled catalogue (gettext's .mo) for German."""
    entries = sorted({"": "Content-Type: text/plain; charset=UTF-8\n", **words}.items())
    ids, texts, index = b"", b"", []
    for key, value in entries:
        raw_key, raw_value = key.encode(), value.encode()
        index.append((len(raw_key), len(ids), len(raw_value), len(texts)))
        ids += raw_key + b"\0"
        texts += raw_value + b"\0"
    start = 7 * 4 + 16 * len(index)
    keys = [number for each in index for number in (each[0], each[1] + start)]
    values = [number for each in index for number in (each[2], each[3] + start + len(ids))]
    head = [0x950412DE, 0, len(index), 7 * 4, 7 * 4 + 8 * len(index), 0, 0]
    path = folder / "de" / "LC_MESSAGES"
    path.mkdir(parents=True, exist_ok=True)
    numbers = [*head, *keys, *values]
    (path / f"{domain}.mo").write_bytes(struct.pack(f"<{len(numbers)}I", *numbers) + ids + texts)


@pytest.fixture
def german(tmp_path: Path, settings: Any) -> Any:
    catalogue(tmp_path, "django", {"My submissions": "Meine Abgaben", "Correct, and on": "Richtig, weiter"})
    catalogue(tmp_path, "djangojs", {"Saved": "Gespeichert"})
    settings.LOCALE_PATHS = [tmp_path]
    settings.LANGUAGE_CODE = "de"
    trans_real._translations.clear()
    with translation.override("de"):
        yield
    trans_real._translations.clear()


def test_pages_speak_the_servers_language(people: People, german: None) -> None:
    page = people.annotator.get("/p/maths/mine/").content.decode()
    assert '<html lang="de"' in page
    assert "Meine Abgaben" in page
    assert "Richtig, weiter" in page


def test_scripts_read_their_words_from_a_catalogue_of_our_own(german: None) -> None:
    reply = Client().get("/words.js")
    assert "javascript" in reply["Content-Type"]
    assert "Gespeichert" in reply.content.decode()


def test_the_catalogue_comes_before_the_scripts_that_use_it(people: People) -> None:
    page = people.annotator.get("/").content.decode()
    assert page.index("/words.js") < page.index("app.js")


def test_the_catalogue_needs_no_signing_in_and_may_be_cached(people: People) -> None:
    reply = people.nobody.get("/words.js")
    assert (reply.status_code, "max-age=3600" in reply["Cache-Control"]) == (200, True)


#: What stands in a page and is no word of a language: names, keys, formats.
NO_WORDS = {"Stepmark", "Esc", "Enter", "Ctrl", "Shift", "UTC", "TRL", "Mon", "Mar", "Sun", "px", "Maths"}


@pytest.mark.parametrize(
    "path", sorted(path.relative_to(TEMPLATES).as_posix() for path in TEMPLATES.rglob("*.html"))
)
def test_no_word_of_a_template_is_out_of_reach(path: str) -> None:
    if path == "500.html":
        pytest.skip("served when nothing works any more, translation included")
    text = (TEMPLATES / path).read_text(encoding="utf-8")
    text = re.sub(r"{% (blocktranslate|comment).*?{% end\1 %}", "", text, flags=re.S)
    text = re.sub(r"{% block (?:body_class|main_class|skip_target) %}.*?{% endblock %}", "", text)
    text = re.sub(r"<(pre|code)\b.*?</\1>", "", text, flags=re.S)
    text = re.sub(r"{%.*?%}|{{.*?}}|{#.*?#}", "", text, flags=re.S)
    spoken = re.findall(r'(?:aria-label|title|alt|placeholder)="([^"]*)"', text)
    spoken += re.sub(r"<[^>]*>", "\n", text).split("\n")
    words = re.findall(r"[^\W\d_]{2,}", re.sub(r"&\w+;", " ", "\n".join(spoken)))
    assert [word for word in words if word not in NO_WORDS] == []
