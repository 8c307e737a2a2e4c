# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems made by hand, and random ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import strategies as st

from camkes.diagnostics import SourceFile, Span
from camkes.model.protocols import Protocol
from camkes.model.system import (
    ComponentType,
    Connection,
    ConnectionEnd,
    Connector,
    ConnectorEnd,
    Cpi,
    Instance,
    Interface,
    Procedure,
    System,
    Task,
)

FILE = SourceFile(Path("made.camkes"), "\n" * 100_000)


@dataclass
class Maker:
    """Puts a system together. Each thing gets a line of its own; interfaces of a CPI are called `p`."""

    tasks: list[Task] = field(default_factory=list)
    cpis: list[Cpi] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)
    connections: list[Connection] = field(default_factory=list)
    uses: dict[str, list[str]] = field(default_factory=dict)
    line: int = 0

    def span(self) -> Span:
        self.line += 1
        return Span(FILE, self.line, 1, self.line, 2)

    def task(self, name: str, priority: int | None = 10, stated_id: int | None = None) -> None:
        span = self.span()
        self.tasks.append(Task(name, stated_id, priority, None, None, None, None, 0, span, {}))
        self.uses[name] = []

    def cpi(
        self,
        instance: str,
        protocol: Protocol,
        priority: int | None = None,
        threads: int | None = None,
        interface: str = "p",
        requests: tuple[str, ...] | None = None,
    ) -> None:
        span = self.span()
        self.cpis.append(Cpi(instance, interface, protocol, priority, threads, requests, None, span, {}))
        self.uses.setdefault(instance, [])

    def connect(self, user: str, provider: str, connector: str = "seL4RPCCall", name: str = "") -> str:
        """From a new `uses` interface of an instance to a CPI; the name of that interface."""
        name = name or f"u{len(self.uses[user])}"
        if name not in self.uses[user]:
            self.uses[user].append(name)
        instance, _, interface = provider.partition(".")
        span = self.span()
        ends = ConnectorEnd(False, "Procedure", True, 0), ConnectorEnd(False, "Procedure", False, 1)
        self.connections.append(
            Connection(
                f"c{len(self.connections)}",
                (f"c{len(self.connections)}",),
                Connector(connector, *ends, (), span),
                (ConnectionEnd(user, name, span),),
                (ConnectionEnd(instance, interface or "p", span),),
                {},
                span,
            )
        )
        return name

    def system(self) -> System:
        procedure = Procedure("P", (), (), self.span())
        tasks = {task.instance for task in self.tasks}
        provided: dict[str, list[Cpi]] = {}
        for cpi in self.cpis:
            provided.setdefault(cpi.instance, []).append(cpi)
        instances = []
        for name, uses in self.uses.items():
            span = self.span()
            interfaces = [Interface("uses", u, procedure, False, self.span()) for u in uses]
            for cpi in provided.get(name, ()):
                interfaces.append(Interface("provides", cpi.interface, procedure, False, cpi.span))
            is_task = name in tasks
            type_ = ComponentType(
                f"T_{name}", is_task, False, tuple(interfaces), (), (), (), span, requestor=is_task
            )
            instances.append(Instance(name, type_, name, {}, span))
        return System(
            FILE,
            (FILE,),
            tuple(instances),
            tuple(self.connections),
            (),
            tuple(self.tasks),
            tuple(self.cpis),
            {},
        )


@st.composite
def makers(draw: st.DrawFn, cycles: bool = False, tasks: int = 5, cpis: int = 7) -> Maker:
    """Tasks t0.. and CPIs k0.p ..; without `cycles` a CPI calls only later ones."""
    maker = Maker()
    priorities = st.integers(0, 6)
    number_of_tasks = draw(st.integers(0, tasks))
    number_of_cpis = draw(st.integers(1, cpis))
    for i in range(number_of_tasks):
        maker.task(f"t{i}", draw(priorities))
    for i in range(number_of_cpis):
        maker.cpi(f"k{i}", draw(st.sampled_from(Protocol)))
    for i in range(number_of_tasks):
        for callee in draw(st.sets(st.integers(0, number_of_cpis - 1), max_size=3)):
            maker.connect(f"t{i}", f"k{callee}.p")
    for i in range(number_of_cpis):
        first = 0 if cycles else i + 1
        if first < number_of_cpis:
            for callee in draw(st.sets(st.integers(first, number_of_cpis - 1), max_size=3)):
                maker.connect(f"k{i}", f"k{callee}.p")
    return maker
