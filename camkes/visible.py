# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The one way in which text of others reaches a person: what a reader cannot see is spelled out.

Names, paths, messages of compilers and the output of components can have characters that control a terminal,
reverse the order in which text is read, or replace bytes that are not UTF-8. Streams, diagnostics, pages,
pictures and documents all use these functions.
"""

from __future__ import annotations

import re
from functools import lru_cache

#: Control characters but tab and newline; what changes the direction of text; other separators
#: of lines; marks and tags without a width; surrogates, as which Python keeps bytes that are not UTF-8.
_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f"
)
_IN_LINES = f"[{_HIDDEN}]"
_IN_A_LINE = f"[{_HIDDEN}\t\n]"
_OUTSIDE_COLOURS = rf"(\x1b\[(?:[01]|[39][0-7])(?:;(?:[01]|[39][0-7]))*m)|[{_HIDDEN}]"
_UNDECODED = range(0xDC80, 0xDD00)  # of the byte 0x80 to 0xFF
_SURROGATES = range(0xD800, 0xE000)


def visible(text: str) -> str:
    r"""The text with each hidden character as `\x1b`, `\u202e` or so on; newlines and tabs stay."""
    return text if text.isprintable() else _compiled(_IN_LINES).sub(_spelled, text)


def visible_line(text: str) -> str:
    r"""The same for text that is to stay on one line: newlines and tabs are spelled, too."""
    return text if text.isprintable() else _compiled(_IN_A_LINE).sub(_spelled, text)


def visible_colored(text: str) -> str:
    """The same for text that this tool has coloured: sequences that only choose a colour stay."""
    if text.isprintable():
        return text
    return _compiled(_OUTSIDE_COLOURS).sub(lambda found: found[1] or _spelled(found), text)


def visible_json(text: str) -> str:
    r"""JSON whose strings have the same contents, and no hidden character but as `\u202e`. Bytes that are not
    UTF-8, which JSON cannot have, are spelled as in other text."""
    plain = text.isascii() and "\x7f" not in text  # JSON has the other control characters escaped
    return text if plain else _compiled(_IN_LINES).sub(_json_escape, text)


@lru_cache(maxsize=3)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)  # most commands show plain text only


def _spelled(found: re.Match[str]) -> str:
    number = ord(found[0])
    if number in _UNDECODED:
        return f"\\x{number - _UNDECODED.start + 0x80:02x}"
    return found[0].encode("unicode_escape").decode()


def _json_escape(found: re.Match[str]) -> str:
    import json  # most commands write none

    return json.dumps(_spelled(found) if ord(found[0]) in _SURROGATES else found[0])[1:-1]
