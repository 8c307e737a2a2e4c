# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The pages about codes, found by number or by name.

`pages/NUMBER.md` describes what is wrong, and why, and shows an example that fails and the corrected example.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from camkes.diagnostics.core import Code, Severity
from camkes.documents import json_text

PAGES = Path(__file__).parent / "pages"


class CodePage(Struct, frozen=True):
    """A code of diagnostics; `page` is its text, in Markdown."""

    number: str
    name: str
    severity: Severity
    page: str


def all_codes() -> tuple[Code, ...]:
    """Every code there is, ordered by number, errors before warnings: the titles of the pages."""
    return tuple(Code(*_read(path)[0].split(" ", 1)) for path in sorted(PAGES.glob("*.md")))


def find(word: str) -> Code | None:
    """The code with this number or name, in any case."""
    wanted = word.strip().lower()
    return next((c for c in all_codes() if wanted in (c.number.lower(), c.name)), None)


def nearest(word: str) -> str | None:
    """The number or name that `word` is most likely a misspelling of."""
    from difflib import get_close_matches

    codes = all_codes()
    numbers, names = [c.number for c in codes], [c.name for c in codes]
    like_number = any(c.isdigit() for c in word)
    same = [n for n in numbers if n[1:3] == word.strip()[1:3]]  # codes of one subject, where there are some
    found = get_close_matches(word.strip().upper(), same or numbers, n=1) if like_number else []
    found = found or get_close_matches(word.strip().lower(), names, n=1, cutoff=0.5)
    return found[0] if found else None


def explanation(code: Code) -> str:
    """The text of the page of a code below its title, in Markdown."""
    return _read(PAGES / f"{code.number}.md")[1]


def page(code: Code) -> str:
    """The page of a code, with its number and name on top."""
    return f"{code.number} {code.name}\n\n{explanation(code)}"


def listing(codes: Sequence[Code]) -> str:
    """A line for each code."""
    return "\n".join(f"{code.number}  {code.name}" for code in codes)


def to_json(codes: Sequence[Code]) -> str:
    described = [CodePage(c.number, c.name, c.severity, explanation(c)) for c in codes]
    return json_text(described)


def _read(path: Path) -> tuple[str, str]:
    """The title of a page, without its mark, and the text below; comments with the license are left out."""
    text = path.read_text("utf-8")
    title, _, rest = text[text.index("\n# ") + 3 :].partition("\n")
    return title, rest.strip()
