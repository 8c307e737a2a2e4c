# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The edits of CMakeLists.txt: removes sources, templates and connectors of the library, and
global-components if the tool provides all imports."""

from __future__ import annotations

import re

from camkes_migrate.declarations import CONNECTOR, SOURCES
from camkes_migrate.tokens import TextEdit, apply

_CONNECTORS = re.compile(
    r"^[ \t]*foreach[ \t]*\((?:(?!endforeach)[^#])*?DeclareCAmkESConnector[ \t]*\(\s*"
    + CONNECTOR
    + r"(?:(?!endforeach)[\s\S])*?endforeach[ \t]*\([^)]*\)[^\n]*\n?",
    re.MULTILINE | re.IGNORECASE,
)
_CONNECTOR = re.compile(
    r"^[ \t]*DeclareCAmkESConnector[ \t]*\(\s*" + CONNECTOR + r"[^)]*\)[^\n]*\n?",
    re.MULTILINE | re.IGNORECASE,
)
_TEMPLATES = re.compile(
    r"^[ \t]*CAmkESAddTemplatesPath[ \t]*\([^)]*priority-aware-camkes[^)]*\)[^\n]*\n?",
    re.MULTILINE | re.IGNORECASE,
)
_NAMES = "|".join(map(re.escape, SOURCES))
_SOURCE_LINE = re.compile(rf'^[ \t]*"?[^\s()#"]*(?:{_NAMES})"?[ \t]*(?:#[^\n]*)?\n', re.MULTILINE)
_SOURCE = re.compile(rf'[ \t]+"?[^\s()#"]*/?(?:{_NAMES})"?(?=[\s)])')

_COMPONENTS = re.compile(
    r"^[ \t]*includeGlobalComponents[ \t]*\([ \t]*\)[^\n]*\n?", re.MULTILINE | re.IGNORECASE
)


def components(text: str) -> re.Match[str] | None:
    """Where global-components are asked for."""
    return _COMPONENTS.search(text)


def edit(text: str, *, own_components: bool = False) -> str:
    """The text without what only the library needs; without global-components too if the tool has what the
    application imports of them (`own_components`)."""
    patterns = [_CONNECTORS, _CONNECTOR, _TEMPLATES, _SOURCE_LINE, _SOURCE]
    if own_components:
        patterns.append(_COMPONENTS)
    return apply(text, [TextEdit(m.start(), m.end(), "") for p in patterns for m in p.finditer(text)])
