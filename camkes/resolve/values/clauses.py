# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The clauses after `with`: where each is allowed, and their values."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from camkes.diagnostics import Label, Sink, Span
from camkes.model.overrun import OF_CPIS, OverrunPolicy
from camkes.model.protocols import Protocol
from camkes.model.system import CalledMethod, Setting
from camkes.parser import ast
from camkes.resolve import codes
from camkes.resolve.values.expressions import fold, fold_integer
from camkes.resolve.words.nearest import nearest, suggestion

PROTOCOLS = tuple(protocol.value for protocol in Protocol)


def quoted(words: Sequence[str], quote: str) -> str:
    """Words for a message, each between two of `quote`."""
    each = [f"{quote}{word}{quote}" for word in words]
    return f"{', '.join(each[:-1])} and {each[-1]}"


#: The words of the clauses that each kind of interface can have.
_ALLOWED = {
    "provides": ("priority_protocol", "requests", "monitor", "overrun", "threads"),
    "consumes": ("helpers", "within"),
    "semaphore": ("helpers", "within"),
    "binary_semaphore": ("helpers", "within"),
    "condition": ("helpers", "within"),
}

#: How a clause is written.
_FORMS = {
    "priority_protocol": "priority_protocol inherited",
    "requests": "requests (interface, ...)",
    "monitor": "monitor NAME",
    "overrun": "overrun abort",
    "helpers": "helpers",
    "within": "within 500 us",
    "threads": "N threads",
}


class Clauses(Struct, eq=False, dict=True):
    """The contents of the clauses of one interface or connection; None: not written."""

    protocol: Protocol | None = None
    requests: tuple[str, ...] | None = None
    calls: tuple[CalledMethod, ...] = ()
    threads: int | None = None
    within: Setting | None = None
    monitor: ast.Identifier | None = None
    overrun: OverrunPolicy | None = None
    spans: dict[str, Span] = field(default_factory=dict)


def interface_clauses(node: ast.InterfaceDecl, sink: Sink) -> Clauses:
    """The clauses of an interface of a component."""
    article = "an" if node.kind == "emits" else "a"
    return _read(node.clauses, _ALLOWED.get(node.kind, ()), f"{article} `{node.kind}` interface", sink)


def sync_clauses(node: ast.SyncDecl, sink: Sink) -> Clauses:
    """The clauses of a semaphore, condition or mutex."""
    return _read(node.clauses, _ALLOWED.get(node.kind, ()), f"a {node.kind.replace('_', ' ')}", sink)


def connection_threads(node: ast.ConnectionDecl, sink: Sink) -> tuple[int | None, Span | None]:
    """The thread count that a connection states, and where."""
    clauses = _read(node.clauses, ("threads",), "a connection", sink)
    return clauses.threads, clauses.spans.get("threads")


def _read(nodes: Sequence[ast.InterfaceClause], allowed: Sequence[str], place: str, sink: Sink) -> Clauses:
    result = Clauses()
    for node in nodes:
        word = _word(node)
        if isinstance(node, ast.UnknownClause):
            sink.report(
                codes.UNKNOWN_CLAUSE,
                f"there is no clause `{word}`",
                node.word.span,
                help=_meant(word) or suggestion(word, _FORMS) or _forms(allowed, place),
            )
        elif isinstance(node, ast.HelpersClause) and node.listed and word in allowed:
            sink.report(
                codes.UNKNOWN_CLAUSE,
                "a `helpers` clause cannot name helpers",
                node.span,
                notes=["helpers are tasks, which are instances, and a component does not know them"],
                help="write `helpers`, and they are computed; or state them in a configuration: "
                '`INSTANCE.NAME_helpers = ["TASK"];`',
            )
        elif word not in allowed:
            sink.report(
                codes.MISPLACED_CLAUSE,
                f"{place} cannot have {'an' if word == 'overrun' else 'a'} `{word}` clause",
                node.span,
                help=f"it belongs to {_owners(word)}; {_forms(allowed, place)}"
                if allowed
                else _forms(allowed, place),
            )
        elif word in result.spans:
            sink.report(
                codes.REPEATED_CLAUSE,
                f"the clause `{word}` is given twice",
                node.span,
                related=[Label(result.spans[word], "first given here")],
            )
        else:
            result.spans[word] = node.span
            _take(node, result, sink)
    if "within" in result.spans and "helpers" not in result.spans:
        sink.report(
            codes.MISPLACED_CLAUSE,
            "a `within` clause needs a `helpers` clause",
            result.spans["within"],
            notes=["it says for how long helpers execute until the signal"],
            help=f"write `with helpers, {_FORMS['within']}`",
        )
    return result


def _meant(word: str) -> str:
    """What to write for a protocol that stands alone."""
    protocol = word if word in PROTOCOLS else nearest(word, [*PROTOCOLS, *_FORMS])
    return f"write `priority_protocol {protocol}`" if protocol in PROTOCOLS else ""


def _owners(word: str) -> str:
    """What can have a clause."""
    return (
        "a `consumes` interface, a semaphore or a condition"
        if word in _ALLOWED["consumes"]
        else "the `provides` interface"
    )


def _forms(allowed: Sequence[str], place: str) -> str:
    if not allowed:
        can = "`provides` and `consumes` interfaces, semaphores, conditions and connections"
        return f"only {can} can have clauses"
    return f"{place} can have: {', '.join(f'`{_FORMS[word]}`' for word in allowed)}"


def _word(node: ast.InterfaceClause) -> str:
    match node:
        case ast.ProtocolClause():
            return "priority_protocol"
        case ast.RequestsClause():
            return "requests"
        case ast.HelpersClause():
            return "helpers"
        case ast.WithinClause():
            return "within"
        case ast.MonitorClause():
            return "monitor"
        case ast.OverrunClause():
            return "overrun"
        case ast.ThreadsClause():
            return "threads"
        case ast.UnknownClause():
            return node.word.text


def _take(node: ast.InterfaceClause, result: Clauses, sink: Sink) -> None:
    match node:
        case ast.ProtocolClause():
            result.protocol = protocol(node.protocol.text, node.protocol.span, sink)
        case ast.RequestsClause():
            result.requests = tuple(dict.fromkeys(name.text for name in node.interfaces))
            if any(call.method is not None or call.called is not None for call in node.calls):
                result.calls = tuple(dict.fromkeys(map(_called, node.calls)))
        case ast.WithinClause():
            time = node.time
            unit = time.unit.text if isinstance(time, ast.Quantity) else None
            value = fold(time.number if isinstance(time, ast.Quantity) else time, sink)
            result.within = None if value is None else Setting(value, time.span, unit)
        case ast.MonitorClause():
            result.monitor = node.monitor
        case ast.OverrunClause():
            result.overrun = policy(node.policy.text, OF_CPIS, node.policy.span, sink)
        case ast.ThreadsClause():
            result.threads = fold_integer(node.count, sink, "this thread count", 1)


def _called(call: ast.RequestedCall) -> CalledMethod:
    called, method = ("" if name is None else name.text for name in (call.called, call.method))
    return CalledMethod(call.interface.text, called, method)


def policy(word: str, possible: Sequence[OverrunPolicy], span: Span, sink: Sink) -> OverrunPolicy | None:
    """The policy of this name, of those that are possible here; None, and an error, if there is none."""
    words = [policy.value for policy in possible]
    if word in words:
        return OverrunPolicy(word)
    what = "a CPI" if possible is OF_CPIS else "a task"
    sink.report(
        codes.UNKNOWN_POLICY,
        f"`{word}` is not a valid overrun policy of {what}",
        span,
        notes=["the policies are " + quoted(words, "`")],
        help=suggestion(word, words),
    )
    return None


def protocol(word: str, span: Span, sink: Sink) -> Protocol | None:
    """The protocol of this name; None, and an error, if there is none."""
    if word in PROTOCOLS:
        return Protocol(word)
    sink.report(
        codes.UNKNOWN_PROTOCOL,
        f"there is no priority protocol `{word}`",
        span,
        notes=["the protocols are " + quoted(PROTOCOLS, "`")],
        help=suggestion(word, PROTOCOLS),
    )
    return None
