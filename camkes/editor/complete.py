# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Completions at a position.

The grammar's tables determine which words fit; the tokens of the item under way, which kind of name.
Only the text before the place counts, so a broken text is as good as a whole one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from camkes.diagnostics import Sink, SourceFile
from camkes.editor.excerpts import Statements
from camkes.editor.hover import setting_named
from camkes.editor.index import Index, NamedSymbol, Scope
from camkes.editor.workspace import SystemSnapshot
from camkes.model.connectors import RPC_CALL
from camkes.model.overrun import OF_CPIS
from camkes.parser import ast
from camkes.parser.expected import expected_words
from camkes.parser.lexer import Tokens, tokenise
from camkes.parser.positions import ParsedText
from camkes.parser.tables import load
from camkes.resolve.files.library import BUILTIN
from camkes.resolve.values.clauses import PROTOCOLS
from camkes.resolve.words.known import candidates

_WORD = re.compile(r"\w*\Z")
_IMPORT = re.compile(r'\b(?:import)\s*(?P<quote>[<"])(?P<path>[^<>"\n]*)\Z')
_STRING = re.compile(r'(?P<name>\w+)\s*=\s*"\w*\Z')
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_FROM_KINDS = ("uses", "emits", "dataport")
_TO_KINDS = ("provides", "consumes", "dataport")
_CLAUSES = {
    "provides": ("priority_protocol", "requests", "monitor", "overrun", "threads"),
    "connection": ("threads",),
    "consumes": ("helpers", "within"),
    "has": ("helpers", "within"),
}
_CLAUSE_WORDS = frozenset(("priority_protocol", "requests", "monitor", "overrun", "helpers", "within"))


class Sort(Enum):
    """What an entry is; in the order in which they are offered."""

    NAME = 1
    SETTING = 2
    WORD = 3
    FILE = 4
    SNIPPET = 5


class Entry(NamedTuple):
    """A completion. `kind` is that of a symbol, or empty."""

    text: str
    sort: Sort
    kind: str = ""
    detail: str = ""
    rank: int = 0  # among those of one sort


class WritingPlace(NamedTuple):
    """Where something is to be written: the heads of the open blocks, and the item under way."""

    blocks: list[str]
    owner: str | None  # the component around
    item: list[str]


def place_in(path: Path, before: str) -> WritingPlace | None:
    """Where a text breaks off; None in a comment or in a string that is open."""
    tokens = tokenise(ParsedText.of(SourceFile(path, before)), load(), Sink())
    return None if tokens.cut_short or _in_comment(before, tokens) else _place(tokens)


def complete(analysis: SystemSnapshot, path: Path, text: str, offset: int) -> list[Entry]:
    """What can stand at an offset of the text of a file, before what is there of a word."""
    before = before_place(text, offset)
    before = before[: len(before) - len(_match(_WORD, before))]
    imported = _IMPORT.search(text[:offset].rpartition("\n")[2])
    if imported:
        return list(_files(analysis, path, imported["quote"] == "<"))
    string = _STRING.search(text[:offset].rpartition("\n")[2])
    if string and string["name"].endswith("priority_protocol"):
        return _names(PROTOCOLS, "protocol")
    tokens = tokenise(ParsedText.of(SourceFile(path, before)), load(), Sink())
    if tokens.cut_short or _in_comment(before, tokens):
        return []
    place = _place(tokens)
    found = list(_named(analysis.index, place))
    if place.item[-1:] != ["."]:
        found += [Entry(word, Sort.WORD) for word in _words(tokens, place)]
    found = list({entry.text: entry for entry in reversed(found)}.values())[::-1]
    return _by_use(analysis, text, found) + ([] if place.item else _snippets(place))


def _by_use(analysis: SystemSnapshot, text: str, entries: list[Entry]) -> list[Entry]:
    """With ranks by how often each is written in the text; settings by how often the system has them, then as
    `_FIRST` has them."""
    uses = Counter(_NAME.findall(text))
    settings = Counter(use.name.text.lstrip("_") for uses in analysis.index.settings.values() for use in uses)
    ranked = []
    for entry in entries:
        if entry.sort is Sort.SETTING:
            name = entry.text.lstrip("_")
            known = _FIRST.index(name) if name in _FIRST and entry.text.startswith("_") else len(_FIRST)
            rank = _RANKS - min(settings[name], _RANKS // 100 - 1) * 100 + known
        else:
            rank = _RANKS - min(uses[entry.text], _RANKS // 100 - 1) * 100 + min(entry.rank, 99)
        ranked.append(entry._replace(rank=rank + (0 if entry.rank == 0 else 50)))
    return ranked


#: Settings of a task that nearly every one has, where a system has none of them.
_FIRST = ("priority", "period", "wcet", "deadline", "offset", "budget")
_RANKS = 100_000
_NAME = re.compile(r"\w+")


def _snippets(place: WritingPlace) -> list[Entry]:
    """Statements to fill in, where one can begin."""
    block = place.blocks[-1] if place.blocks else ""
    return [Entry(name, Sort.SNIPPET, detail=body) for name, body in SNIPPETS.get(block, {}).items()]


_CHOICE = ",".join(PROTOCOLS)

#: Statements of each block: names, and texts in the syntax of the protocol. `$1`, `${1:text}`: places to fill
#: in, `$0`: where the cursor ends.
SNIPPETS: dict[str, dict[str, str]] = {
    "": {
        "component with a task": (
            "component ${1:Name} {\n\tcontrol;\n\trequestor;\n\tuses ${2:Methods} ${3:interface};\n\t$0\n}"
        ),
        "component with a lock": (
            "component ${1:Name} {\n\tprovides ${2:Methods} ${3:interface} with priority_protocol "
            f"${{4|{_CHOICE}|}};\n\t$0\n}}"
        ),
        "procedure": "procedure ${1:Name} {\n\t${2:int} ${3:method}(${4:in int value});$0\n}",
        "assembly": (
            "assembly {\n\tcomposition {\n\t\tcomponent ${1:Type} ${2:name};\n\t\t$0\n\t}\n"
            "\tconfiguration {\n\t}\n}"
        ),
    },
    "component": {
        "provides with a protocol": (
            "provides ${1:Methods} ${2:interface} with priority_protocol "
            f"${{3|{_CHOICE}|}}, requests ($4);$0"
        ),
        "attribute": "attribute ${1:int} ${2:name} = ${3:0};$0",
    },
    "composition": {
        "instance": "component ${1:Type} ${2:name};$0",
        "connection": (
            f"connection ${{1:{RPC_CALL.name}}} "
            "${2:name}(from ${3:caller}.${4:interface}, "
            "to ${5:server}.${6:interface});$0"
        ),
    },
    "configuration": {
        "task": (
            "${1:task}._priority = ${2:10};\n${1:task}._period = ${3:10} ms;\n${1:task}._wcet = ${4:1} ms;$0"
        ),
    },
    "procedure": {"method": "${1:int} ${2:method}(${3:in int value});$0"},
}


def before_place(text: str, offset: int) -> str:
    """What counts of a text before an offset: the heads of the open blocks, and the statement under way. Of a
    text with lines of the preprocessor, which can have braces, it is all."""
    if "#" in text:
        return text[:offset]
    statements = Statements(text)
    number = max(bisect_left(statements.starts, offset) - 1, 0)
    heads = "".join(f"{block} {{ " for block in statements.blocks(number))
    return heads + text[statements.starts[number] : offset]


def _match(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match.group() if match else ""


def _in_comment(text: str, tokens: Tokens) -> bool:
    """Whether the end of a text is in a comment, a line of the preprocessor or a string."""
    gap = _COMMENT.sub("", text[tokens.ends[-2] if len(tokens.ends) > 1 else 0 :])
    line = gap.rpartition("\n")[2]
    quoted = len(tokens.kinds) > 1 and tokens.kinds[-2] == "STRING" and not tokens.word(-2).endswith('"')
    return "//" in line or "#" in line or "/*" in gap or quoted or text.count('"') % 2 == 1


def _place(tokens: Tokens) -> WritingPlace:
    blocks: list[list[str]] = []
    item: list[str] = []
    for number in range(len(tokens.kinds) - 1):
        word = tokens.word(number)
        if word == "{":
            blocks.append(item)
            item = []
        elif word == "}":
            if blocks:
                blocks.pop()
            item = []
        elif word == ";":
            item = []
        else:
            item.append(word)
    heads = [block[0] if block else "" for block in blocks]
    owner = next((b[1] for b in reversed(blocks) if len(b) > 1 and b[0] == "component"), None)
    return WritingPlace(heads, owner, item)


# Words -------------------------------------------------------------------------------------------


def _words(tokens: Tokens, place: WritingPlace) -> Iterable[str]:
    """The words of the language that fit."""
    words = expected_words(tokens)
    if "with" in place.item:
        clauses = _CLAUSES.get(_kind(place.item), ())
        return [word for word in words if word not in _CLAUSE_WORDS or word in clauses]
    return words


def _kind(item: list[str]) -> str:
    words = [word for word in item if word != "maybe"]
    return words[0] if words else ""


# Names -------------------------------------------------------------------------------------------


def _named(index: Index, place: WritingPlace) -> Iterator[Entry]:
    """The names that fit."""
    blocks, item = place.blocks, place.item
    block = blocks[-1] if blocks else ""
    owner = index.tops["component"].get(place.owner) if place.owner else None
    within = owner is not None and "assembly" not in blocks
    scope = (owner.scope if within and owner else index.assembly) or Scope()
    last = item[-1] if item else ""
    head = _kind(item)
    if "with" in item and head in ("provides", "uses", "consumes"):
        yield from _clause_names(index, item, owner)
    elif head in ("uses", "provides") and last in ("uses", "provides"):
        yield from _tops(index, "procedure")
    elif head in ("emits", "consumes", "dataport") and last == head:
        yield from _data_types(index, head)
    elif head == "attribute" and last == "attribute":
        yield from _tops(index, "struct")
    elif head == "component" and last == "component" and block in ("composition", "group"):
        yield from _tops(index, "component")
    elif head == "connection" and last == "connection":
        yield from _tops(index, "connector")
    elif head in ("connection", "export") and block == "composition":
        yield from _ends(scope, owner if within else None, item)
    elif block == "configuration":
        yield from _settings(scope, owner if within else None, item)


def _tops(index: Index, kind: str) -> Iterator[Entry]:
    for rank, name in enumerate(reversed(index.tops[kind])):
        yield Entry(name, Sort.NAME, kind, rank=rank)


def _names(names: Iterable[str], kind: str) -> list[Entry]:
    return [Entry(name, Sort.NAME, kind) for name in names]


def _data_types(index: Index, kind: str) -> list[Entry]:
    """The types that other interfaces of the kind have: nothing declares them."""
    wanted = ("dataport",) if kind == "dataport" else ("emits", "consumes")
    interfaces = [
        symbol.interface
        for component in index.tops["component"].values()
        for symbol in component.members.values()
    ]
    types = [i.type.name for i in interfaces if i and i.kind in wanted and isinstance(i.type, ast.TypeName)]
    return _names(dict.fromkeys(types), "type")


def _clause_names(index: Index, item: list[str], owner: NamedSymbol | None) -> Iterator[Entry]:
    last = item[-1]
    opened = "".join(item).rpartition("(")[0]
    if last == "priority_protocol":
        yield from _names(PROTOCOLS, "protocol")
    elif last == "overrun":
        yield from _names((policy.value for policy in OF_CPIS), "protocol")
    elif last in ("(", ",") and opened.endswith("requests") and ")" not in item[_last(item, "(") :]:
        yield from _members(owner, ("uses",))


def _last(item: list[str], word: str) -> int:
    return len(item) - 1 - item[::-1].index(word) if word in item else 0


def _members(owner: NamedSymbol | None, kinds: tuple[str, ...]) -> Iterator[Entry]:
    for name, symbol in (owner.members if owner else {}).items():
        interface = symbol.interface
        if interface is not None and interface.kind in kinds:
            detail = interface.type.name if isinstance(interface.type, ast.TypeName) else "Buf"
            yield Entry(name, Sort.NAME, "interface", f"{interface.kind} {detail}")


def _ends(scope: Scope, owner: NamedSymbol | None, item: list[str]) -> Iterator[Entry]:
    """What can stand at the end of a connection or of an export."""
    last = item[-1]
    if item[0] == "export":
        kinds: tuple[str, ...] = (*_FROM_KINDS, *_TO_KINDS)
        if last == "->":
            yield from _members(owner, kinds)
            return
    else:
        side = next((word for word in reversed(item) if word in ("from", "to")), "")
        kinds = {"from": _FROM_KINDS, "to": _TO_KINDS}.get(side, ())
    if last == ".":
        instance = _instance(scope, item)
        yield from _members(instance.type if instance else None, kinds)
        yield from _names(scope.groups.get(item[-2], {}) if len(item) > 1 else (), "instance")
    elif last in ("from", "to", "export"):
        for name, instance in scope.instances.items():
            detail = instance.type.name.text if instance.type else ""
            yield Entry(name, Sort.NAME, "instance", detail)
        yield from _names(scope.groups, "group")
        if item[0] != "export":  # from outside to what is inside
            yield from _members(owner, (*_FROM_KINDS, *_TO_KINDS))


def _instance(scope: Scope, item: list[str]) -> NamedSymbol | None:
    """The instance before the last dot."""
    if len(item) < 2:
        return None
    if len(item) > 3 and item[-3] == "." and item[-4] in scope.groups:
        return scope.groups[item[-4]].get(item[-2])
    return scope.instances.get(item[-2])


def _settings(scope: Scope, owner: NamedSymbol | None, item: list[str]) -> Iterator[Entry]:
    if not item:
        yield from _names(scope.instances, "instance")
        yield from _names(scope.connections, "connection")
    elif item[-1] == "<-":
        yield from (
            Entry(name, Sort.NAME, "attribute")
            for name, symbol in (owner.members if owner else {}).items()
            if symbol.kind == "attribute"
        )
        yield from _names(scope.instances, "instance")
    elif len(item) == 2 and item[1] == ".":
        instance = scope.instances.get(item[0])
        if instance is not None and instance.type is not None:
            yield from _known_settings(instance.type)
    elif item[-1] == "." and "<-" in item:
        instance = scope.instances.get(item[-2])
        members = instance.type.members if instance and instance.type else {}
        yield from _names((n for n, s in members.items() if s.kind == "attribute"), "attribute")


def _known_settings(component: NamedSymbol) -> Iterator[Entry]:
    """The attributes of a component, then what the tool knows, then what its templates know."""
    members = component.members
    for name, symbol in members.items():
        if symbol.kind == "attribute":
            yield Entry(name, Sort.NAME, "attribute")
    parts = [name for name, symbol in members.items() if symbol.kind != "attribute"]
    for name in candidates(parts):
        known = setting_named(name, parts)
        yield Entry(name, Sort.SETTING, "setting", known.about if known else "", 0 if known else 1)


# Files -------------------------------------------------------------------------------------------


def _files(analysis: SystemSnapshot, path: Path, system: bool) -> Iterator[Entry]:
    """The files that an import can name."""
    folders = (*analysis.options.import_path, BUILTIN) if system else (path.parent,)
    for folder in folders:
        for suffix in ("camkes", "idl4"):
            found = sorted(folder.glob(f"*.{suffix}")) + (
                [] if system else sorted(folder.glob(f"*/*.{suffix}"))
            )
            for file in found:
                if file != path:
                    yield Entry(str(file.relative_to(folder)), Sort.FILE)
