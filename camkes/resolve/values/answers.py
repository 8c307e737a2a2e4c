# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Answers to queries: nodes of the device tree, pins of a list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import pairwise
from pathlib import Path

from camkes.diagnostics import Sink
from camkes.model.system import Value
from camkes.parser import ast
from camkes.resolve import codes
from camkes.resolve.options import LoadOptions, NoTreeError
from camkes.resolve.values.devicetree import BadTreeError, Cells, DeviceNode, read_tree
from camkes.resolve.values.expressions import fold, item_of, key_text, no_item
from camkes.resolve.words.nearest import suggestion

#: What a query of the device tree can be asked with.
_KEYS = ("path", "aliases", "chosen", "properties")


class _NoAnswerError(Exception):
    """Why a query has no answer."""


def answer(query: ast.Query, options: LoadOptions, sink: Sink) -> Value | None:
    """The answer to a `dtb` or `gpio` query; None, and an error, if there is none."""
    questions: list[dict[str, Value]] = []
    for argument in query.arguments:
        value = fold(argument, sink)
        if value is None:
            return None
        for item in value if isinstance(value, list) else [value]:
            assert isinstance(item, dict)  # by the grammar
            questions.append(item)
    keys = [key for node in query.lookup if (key := fold(node, sink)) is not None]
    if len(keys) < len(query.lookup):
        return None
    try:
        if not questions:
            raise _NoAnswerError("expected a dictionary with the keys of the query")
        result = _dtb(questions, options) if query.name.text == "dtb" else _gpio(questions, options.gpio_list)
        return _looked_up(result, keys)
    except _NoAnswerError as error:
        sink.report(codes.QUERY_FAILED, str(error), query.span)
        return None


def _looked_up(result: dict[str, Value], keys: Sequence[Value]) -> Value:
    """The whole answer under names that C can have, or what the keys lead to in each part of it."""
    parts = result["query"]
    if not isinstance(parts, list):
        return result
    if not keys:
        return _named({**result, "query": [_named(part) for part in parts if isinstance(part, dict)]})
    found: list[Value] = []
    for part in parts:
        for key in keys:
            inside = item_of(part, key)
            if inside is None:
                help = suggestion(key_text(key), part if isinstance(part, dict) else ())
                raise _NoAnswerError(no_item(part, key, "the answer") + (f"; {help}" if help else ""))
            part = inside
        found.append(part)
    return found


def _named(part: dict[str, Value]) -> dict[str, Value]:
    return {re.sub(r"\W", "_", key): value for key, value in part.items()}


# Pins --------------------------------------------------------------------------------------------


def _gpio(questions: Sequence[dict[str, Value]], path: Path | None) -> dict[str, Value]:
    if path is None:
        raise _NoAnswerError("a gpio query needs a list of pins: name one with --gpio-list FILE")
    match questions:
        case [{"pins": wanted}]:
            pass
        case _:
            raise _NoAnswerError('a gpio query expects one dictionary with the key "pins"')
    try:
        import yaml  # type: ignore[import-untyped, unused-ignore]
    except ImportError as error:
        raise _NoAnswerError("a gpio query needs the Python package pyyaml") from error
    try:
        pins = yaml.safe_load(path.read_bytes())["gpio_list"]
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise _NoAnswerError(f"`{path}` is not a valid list of pins: {error}") from error
    return {"query": [{"desired-pins": wanted}], "all-pins": pins}


# The device tree ---------------------------------------------------------------------------------


def _dtb(questions: Sequence[dict[str, Value]], options: LoadOptions) -> dict[str, Value]:
    blob = _tree(options)
    try:
        root = read_tree(blob)
    except BadTreeError as error:
        raise _NoAnswerError(f"`{options.dtb}` is not a flattened device tree") from error
    answers: list[Value] = []
    for question in questions:
        found = _match(root, question)
        answers.append({} if found is None else _described(found))
    return {"query": answers, "dtb-size": [len(blob)]}


def _tree(options: LoadOptions) -> bytes:
    """The device tree that is named, or else that of the platform."""
    path, ask = options.dtb, "name one with --dtb FILE"
    if path is not None:
        try:
            return path.read_bytes()
        except OSError as error:
            raise _NoAnswerError(f"cannot read the device tree `{path}`: {error.strerror}") from error
    if options.platform_tree is None:
        raise _NoAnswerError(f"a dtb query needs a device tree: {ask}")
    try:
        return options.platform_tree()
    except NoTreeError as error:
        raise _NoAnswerError(f"a dtb query needs a device tree, and {error}; {ask}") from error


def _match(root: DeviceNode, question: dict[str, Value]) -> DeviceNode | None:
    """The first node that answers a question."""
    for key in question:
        if key not in _KEYS:
            help = suggestion(key, _KEYS)
            raise _NoAnswerError(f'"{key}" is not a valid key of a dtb query' + (f"; {help}" if help else ""))
    for key in ("aliases", "chosen"):
        if question.get(key):
            return _named_node(root, key, str(question[key]))
    nodes: list[DeviceNode] = []
    if question.get("path"):
        try:
            wanted = re.compile(str(question["path"]), re.IGNORECASE)
        except re.error as error:
            raise _NoAnswerError(
                f'"{question["path"]}" is not a valid regular expression: {error}'
            ) from error
        nodes = [node for node in root.walk() if wanted.search(node.path)]
    properties = question.get("properties")
    if isinstance(properties, dict) and properties:
        # a path that nothing matches leaves the whole tree to search
        nodes = [node for node in nodes or root.walk() if _has(node, properties)]
    return nodes[0] if nodes else None


def _named_node(root: DeviceNode, where: str, name: str) -> DeviceNode:
    """The node that an entry of /aliases or /chosen names."""
    table = next((child for child in root.children if child.name == where), None)
    if table is None:
        raise _NoAnswerError(f"the device tree has no node /{where}")
    match table.properties.get(name):
        case [str() as path]:
            pass
        case _:
            help = suggestion(name, table.properties)
            raise _NoAnswerError(f'/{where} has no path under "{name}"' + (f"; {help}" if help else ""))
    if where == "chosen":
        path = path.split(":")[0]
        if not path.startswith("/"):
            return _named_node(root, "aliases", path)
    found = next((node for node in root.walk() if node.path == path), None)
    if found is None:
        raise _NoAnswerError(f'/{where} gives the path `{path}` for "{name}", but there is no such node')
    return found


def _has(node: DeviceNode, properties: dict[str, Value]) -> bool:
    return all(_has_property(node, key, value) for key, value in properties.items())


def _has_property(node: DeviceNode, key: str, value: Value) -> bool:
    """`name[2]` is one cell of a property, `name[*]` all of them, `name` the first."""
    match = re.fullmatch(r"([^\[\]]+)(?:\[(\*|0[xX][0-9a-fA-F]+|[0-9]+)\])?", key)
    if match is None:
        raise _NoAnswerError(f'"{key}" is not a valid property; expected `name`, `name[2]` or `name[*]`')
    cells = node.properties.get(match[1])
    if not cells:
        return cells is not None and value in ("", 0, [])
    if match[2] == "*":
        return value == cells
    index = int(match[2] or "0", 0)
    return index < len(cells) and cells[index] == value


def _described(node: DeviceNode) -> dict[str, Value]:
    """All properties of a node, and where it is; `reg` as the CPU sees it."""
    buses = _buses(node)
    result: dict[str, Value] = {name: list(cells) for name, cells in node.properties.items()}
    result["this-address-cells"] = [buses[0].address_cells]
    result["this-size-cells"] = [buses[0].size_cells]
    reg = _words(node.properties.get("reg", []))
    if reg:
        result["reg"] = list(_translated(reg, buses))
    result["this-node-path"] = node.path
    return result


def _words(cells: Cells) -> list[int]:
    return [cell for cell in cells if isinstance(cell, int)]


class _Bus:
    """How a node encodes the addresses of its children."""

    __slots__ = ("address_cells", "ranges", "size_cells")

    def __init__(self, node: DeviceNode) -> None:
        def count(name: str, default: int) -> int:
            cells = _words(node.properties.get(name, []))
            return next(iter(cells), default)

        # the defaults are those of the specification
        self.address_cells = count("#address-cells", 2)
        self.size_cells = count("#size-cells", 1)
        self.ranges = _words(node.properties.get("ranges", []))


def _buses(node: DeviceNode) -> list[_Bus]:
    """The buses from the one a node is on up to the root, which no query finds."""
    buses = []
    parent = node.parent
    while parent is not None:
        buses.append(_Bus(parent))
        parent = parent.parent
    return buses


def _groups(words: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Numbers of several words each, so many at a time."""
    step = sum(sizes)
    for start in range(0, len(words) - step + 1, step) if step else ():
        numbers = []
        at = start
        for size in sizes:
            numbers.append(reduce(lambda high, low: (high << 32) + low, words[at : at + size], 0))
            at += size
        yield numbers


def _translated(reg: Sequence[int], buses: Sequence[_Bus]) -> Iterable[int]:
    first = buses[0]
    for address, size in _groups(reg, (first.address_cells, first.size_cells)):
        for bus, outer in pairwise(buses):
            address = _through(bus, outer, address, size)
        yield from _split(address, first.address_cells)
        yield from _split(size, first.size_cells)


def _through(bus: _Bus, outer: _Bus, address: int, size: int) -> int:
    """An address of a bus as the bus around it sees it."""
    sizes = (bus.address_cells, outer.address_cells, bus.size_cells)
    for start, to, length in _groups(bus.ranges, sizes):
        if start <= address < start + length:
            if address + size > start + length:
                raise _NoAnswerError(f"the region at {address:#x} is not within the range of its bus")
            return address - start + to
    return address


def _split(number: int, count: int) -> list[int]:
    if number >> (32 * count):
        raise _NoAnswerError(f"the address {number:#x} does not fit in {count} cells")
    return [(number >> (32 * i)) & 0xFFFFFFFF for i in reversed(range(count))]
