# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What Sphinx is told about the pages: the anchors of headings, and the language of systems."""

from __future__ import annotations

import re

from myst_parser.slugs import github_slugify
from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Punctuation, String, Text

from camkes.resources import ROOT

_CODE = re.compile(r"([EWN]\d{4}) ")


def anchor(title: str) -> str:
    """The anchor of a heading: that of GitHub, or the code of a diagnostic."""
    code = _CODE.match(title)
    return github_slugify(title) if code is None else code[1].lower()


class SystemLexer(RegexLexer):
    """The colours of systems; the words are those of the grammar."""

    name = "CAmkES"
    aliases = ("camkes",)
    _grammar = (ROOT / "parser" / "camkes.lark").read_text("utf-8")
    _words = sorted({*re.findall(r'"([a-z_]{2,})"', _grammar)})
    tokens = {  # noqa: RUF012 - so it is in Pygments
        "root": [
            (r"//.*?$", Comment.Single),
            (r"/\*.*?\*/", Comment.Multiline),
            (r"^#.*?$", Comment.Preproc),
            (r'"[^"]*"', String),
            (r"<[\w./-]+>", String),
            (words(_words, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"\b(0x[0-9a-fA-F]+|\d+(\.\d+)?)\b", Number),
            (r"\w+", Name),
            (r"[{}()\[\];,.=:+*/<>!&|?~^%-]", Punctuation),
            (r"\s+", Text),
            (r".", Text),
        ]
    }
