# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Requests about the form of a text and of a system: folding, links to files, signatures, calls."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lsprotocol import types as lsp

from camkes.diagnostics import Span
from camkes.editor import convert
from camkes.editor.code import sources_of
from camkes.editor.index import NameUse
from camkes.editor.session import SUFFIXES, Feature, Server, path_of
from camkes.editor.signatures import Signature, call_at, signature_at
from camkes.editor.workspace import SystemSnapshot
from camkes.model.system import ConnectionEnd, Instance, Interface, System
from camkes.parser import ast

# Folding -----------------------------------------------------------------------------------------

_MARK = re.compile(
    r"(?P<comment>/\*.*?(?:\*/|\Z)|(?://[^\n]*(?:\n[ \t]*(?=//))?)+)|\"[^\"]*\"?|[{}]", re.DOTALL
)
_IMPORTS = re.compile(r"^import\b[^\n]*(?:\n+import\b[^\n]*)+", re.MULTILINE)


async def folding(server: Server, params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
    """Blocks, comments of several lines, imports; of the text alone, so that mistakes do no harm."""
    text = server.files.buffers.get(os.path.realpath(path_of(params.text_document.uri)))
    if text is None:
        return []
    return [lsp.FoldingRange(first, last, kind=kind) for first, last, kind in _folds(text)]


def _folds(text: str) -> Iterator[tuple[int, int, lsp.FoldingRangeKind | None]]:
    """First and last line, counted from 0. The line with the closing brace stays in view."""

    def line(offset: int) -> int:
        return text.count("\n", 0, offset)

    opened: list[int] = []
    for match in _MARK.finditer(text):
        first, last = line(match.start()), line(match.end())
        if match["comment"]:
            if last > first:
                yield first, last, lsp.FoldingRangeKind.Comment
        elif match[0] == "{":
            opened.append(first)
        elif match[0] == "}" and opened:
            begin = opened.pop()
            if last - 1 > begin:
                yield begin, last - 1, None
    for match in _IMPORTS.finditer(text):
        yield line(match.start()), line(match.end()), lsp.FoldingRangeKind.Imports


# Links -------------------------------------------------------------------------------------------


async def links(server: Server, params: lsp.DocumentLinkParams) -> list[lsp.DocumentLink]:
    """From an import to the file, from the word `component` of a definition to its first C source."""
    found = await server.file(params.text_document.uri)
    if found is None:
        return []
    analysis, source = found
    result = []
    for line, start, end in analysis.imports(source):
        target = analysis.imported(source, line, start + 1)
        if target is not None:
            span = Span(source, line, start + 1, line, end + 1)
            result.append(lsp.DocumentLink(server.range(span), server.uri(target)))
    for symbol in analysis.index.tops["component"].values():
        node = symbol.node
        if isinstance(node, ast.ComponentDecl) and node.span.file is source:
            sources = [each for each in sources_of(analysis, symbol) if each.is_file()]
            span = Span(source, node.span.line, node.span.column, node.span.line, node.span.column + 9)
            if sources:
                names = ", ".join(each.name for each in sources)
                result.append(lsp.DocumentLink(server.range(span), server.uri(sources[0]), f"Open {names}"))
    return result


# Calls -------------------------------------------------------------------------------------------


class _Requester(NamedTuple):
    """A task (`interface` is empty), or an interface that serves requests."""

    instance: str
    interface: str = ""


class _Requests:
    """The requests of a system, along its connections."""

    def __init__(self, system: System) -> None:
        self.instances = {each.name: each for each in system.instances}
        self._to: dict[_Requester, list[ConnectionEnd]] = {}  # the requests that come to an interface
        self._from: dict[tuple[str, str], list[ConnectionEnd]] = {}
        for connection in system.connections:
            for end in connection.to_ends:
                interface = self.interface(end.instance, end.interface)
                if interface is not None and interface.kind == "provides":
                    self._to.setdefault(_Requester(end.instance, end.interface), []).extend(
                        connection.from_ends
                    )
                    for other in connection.from_ends:
                        self._from.setdefault((other.instance, other.interface), []).append(end)

    def interface(self, instance: str, name: str) -> Interface | None:
        found = self.instances.get(instance)
        return None if found is None else found.type.interface(name)

    def nodes(self, instance: Instance) -> list[_Requester]:
        """The task of an instance, if it has one, and the interfaces that it serves."""
        task = [_Requester(instance.name)] if instance.type.control else []
        served = [each for each in instance.type.interfaces if each.kind == "provides"]
        return task + [_Requester(instance.name, each.name) for each in served]

    def uses(self, node: _Requester) -> list[str]:
        """The interfaces that may be called: those that a `requests` clause names, if there is one."""
        kind = self.instances[node.instance].type
        every = [each.name for each in kind.interfaces if each.kind == "uses"]
        own = kind.interface(node.interface) if node.interface else None
        return every if own is None or own.requests is None else [n for n in every if n in own.requests]

    def incoming(self, node: _Requester) -> Iterator[tuple[_Requester, Span]]:
        """What requests it, and where that is connected."""
        for end in self._to.get(node, ()):
            for caller in self.nodes(self.instances[end.instance]):
                if end.interface in self.uses(caller):
                    yield caller, end.span

    def outgoing(self, node: _Requester) -> Iterator[tuple[_Requester, Span]]:
        """What is requested, and where that is connected."""
        for name in self.uses(node):
            for end in self._from.get((node.instance, name), ()):
                yield _Requester(end.instance, end.interface), end.span


async def prepare_calls(
    server: Server, params: lsp.CallHierarchyPrepareParams
) -> list[lsp.CallHierarchyItem] | None:
    """The task or the interfaces at a place: of an instance, or of all that a component has."""
    found = await server.use(params.text_document.uri, params.position)
    if found is None or found[0].system is None:
        return None
    analysis, use = found
    requests = _Requests(found[0].system)
    nodes = list(_meant(analysis, use, requests))
    return [_item(server, requests, node, params.text_document.uri) for node in nodes] or None


def _meant(analysis: SystemSnapshot, use: NameUse, requests: _Requests) -> Iterator[_Requester]:
    symbol = use.symbol
    if symbol.kind == "instance":
        paths = analysis.index.paths(symbol)
    elif symbol.kind == "component":
        paths = analysis.index.component_paths(symbol)
    elif symbol.kind == "interface" and symbol.owner is not None and symbol.interface is not None:
        instances = [use.instance] if use.instance else analysis.index.instances_of(symbol.owner)
        for instance in instances:
            for path in analysis.index.paths(instance):
                name = analysis.index.served(path, instance, symbol.name.text)
                owner, _, interface = name.rpartition(".")
                if owner in requests.instances:
                    served = symbol.interface.kind == "provides"
                    own = requests.nodes(requests.instances[owner])
                    yield from (
                        node
                        for node in own
                        if (node.interface == interface if served else interface in requests.uses(node))
                    )
        return
    else:
        return
    for path in paths:
        if path in requests.instances:
            yield from requests.nodes(requests.instances[path])


def _item(server: Server, requests: _Requests, node: _Requester, uri: str) -> lsp.CallHierarchyItem:
    instance = requests.instances[node.instance]
    interface = instance.type.interface(node.interface)
    span = instance.span if interface is None else interface.span
    name = ".".join(filter(None, node))
    detail = "task" if interface is None else f"provides {getattr(interface.type, 'name', '')}"
    if interface is not None and interface.protocol is not None:
        detail += f", {interface.protocol.value}"
    kind = lsp.SymbolKind.Object if interface is None else lsp.SymbolKind.Method
    place = server.range(span)
    return lsp.CallHierarchyItem(
        name,
        kind,
        server.uri(span.file.path),
        place,
        place,
        detail=detail,
        data={"node": list(node), "uri": uri},
    )


async def _node_of(server: Server, item: lsp.CallHierarchyItem) -> tuple[_Requests, _Requester, str] | None:
    """What an item of this server means; None if the system has no such thing any more."""
    data = item.data if isinstance(item.data, dict) else getattr(item.data, "_asdict", dict)()
    uri, names = str(data.get("uri", "")), data.get("node")
    found = await server.file(uri)
    if found is None or found[0].system is None or not isinstance(names, list | tuple) or len(names) != 2:
        return None
    requests, node = _Requests(found[0].system), _Requester(*map(str, names))
    if node.instance not in requests.instances:
        return None
    return requests, node, uri


async def incoming(
    server: Server, params: lsp.CallHierarchyIncomingCallsParams
) -> list[lsp.CallHierarchyIncomingCall]:
    found = await _node_of(server, params.item)
    if found is None:
        return []
    requests, node, uri = found
    calls: dict[_Requester, list[lsp.Range]] = {}
    for caller, span in requests.incoming(node):
        calls.setdefault(caller, []).append(server.range(span))
    return [
        lsp.CallHierarchyIncomingCall(
            _item(server, requests, caller, uri), _own(server, requests, caller, ranges)
        )
        for caller, ranges in calls.items()
    ]


def _own(server: Server, requests: _Requests, node: _Requester, ranges: list[lsp.Range]) -> list[lsp.Range]:
    """Ranges are of the file of the caller; a connection in another file has none there."""
    instance = requests.instances[node.instance]
    interface = instance.type.interface(node.interface)
    span = instance.span if interface is None else interface.span
    return ranges if span.file is instance.span.file else [server.range(span)]


async def outgoing(
    server: Server, params: lsp.CallHierarchyOutgoingCallsParams
) -> list[lsp.CallHierarchyOutgoingCall]:
    found = await _node_of(server, params.item)
    if found is None:
        return []
    requests, node, uri = found
    calls: dict[_Requester, list[lsp.Range]] = {}
    for called, span in requests.outgoing(node):
        calls.setdefault(called, []).append(server.range(span))
    return [
        lsp.CallHierarchyOutgoingCall(
            _item(server, requests, called, uri), _own(server, requests, node, ranges)
        )
        for called, ranges in calls.items()
    ]


# Signatures --------------------------------------------------------------------------------------


async def signatures(server: Server, params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
    """In a system: what a connection, a clause, a setting or a method expects. In C code: the parameters of a
    method that is called."""
    uri = params.text_document.uri
    path = Path(path_of(uri))
    if not str(path).endswith(SUFFIXES):
        text = server.text(path)
        if text is None:
            return None
        offset = convert.offset_of(params.position, text, server.encoding)
        for name in sorted(server.files.buffers):
            found = call_at(await server.at_hand(name), path, text, offset)
            if found is not None:
                return _help(found)
        return None
    buffer = server.files.buffers.get(os.path.realpath(path))
    if buffer is None:
        return None
    offset = convert.offset_of(params.position, buffer, server.encoding)
    found = signature_at(await server.at_hand(str(path)), path, buffer, offset)
    return None if found is None else _help(found)


def _help(found: Signature) -> lsp.SignatureHelp:
    about = lsp.MarkupContent(lsp.MarkupKind.Markdown, found.about) if found.about else None
    parameters = [lsp.ParameterInformation(label, text or None) for label, text in found.parameters]
    active = min(found.active, max(len(parameters) - 1, 0))
    signature = lsp.SignatureInformation(found.label, about, parameters, active)
    return lsp.SignatureHelp([signature], 0, active)


FEATURES = (
    Feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE, folding),
    Feature(lsp.TEXT_DOCUMENT_DOCUMENT_LINK, links),
    Feature(lsp.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, prepare_calls),
    Feature(lsp.CALL_HIERARCHY_INCOMING_CALLS, incoming),
    Feature(lsp.CALL_HIERARCHY_OUTGOING_CALLS, outgoing),
    Feature(
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP,
        signatures,
        lsp.SignatureHelpOptions(trigger_characters=["(", ",", "=", " "]),
    ),
)
