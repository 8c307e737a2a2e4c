# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Small systems from text, built for the host kernel and run there."""

from __future__ import annotations

import subprocess
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path

from camkes import pipeline
from camkes.backends.host.host import HostImage
from camkes.capdl.model import CapabilityModel
from camkes.diagnostics import Sink
from camkes.model.system import System
from camkes.project.application import KERNEL_IS_MCS
from camkes.protocols.plan import Plan
from camkes.resources import RUNTIME
from camkes.running.demands import Violation
from camkes.running.events import Event, read_records
from camkes.running.kinds import Binding, Kind
from camkes.running.names import TraceNames, trace_names
from tests.report.checking import check_trace

HEAD = "import <std_connector.camkes>;\n"


@dataclass(frozen=True, slots=True)
class Run:
    """What a run printed and recorded."""

    status: int
    output: str
    errors: str
    events: tuple[Event, ...]
    names: TraceNames
    plan: Plan
    system: System

    @property
    def complaints(self) -> str:
        """What the kernel printed besides remarks on capabilities that a client cannot send."""
        remark = "capabilities are not transferred without the right to grant"
        return "".join(line for line in self.errors.splitlines(True) if remark not in line)

    def violations(self) -> list[Violation]:
        """Where the trace is not what the protocols promise."""
        return check_trace(self.events, self.names, self.plan, system=self.system)

    def without_own_time(self) -> list[str]:
        """The threads that began with a scheduling context and do not have it in the end."""
        homes: dict[int, int | None] = {}
        holders: dict[int, int | None] = {}
        for event in self.of(Kind.BIND):
            context, how = event.args
            holders[context] = None if how == Binding.UNBOUND else event.thread
            if event.other is None and how == Binding.BOUND:
                homes[context] = event.thread
        away = (home for context, home in homes.items() if holders[context] != home)
        return [self.names.thread_name(thread) for thread in away if thread is not None]

    def of(self, kind: Kind, thread: str | None = None) -> list[Event]:
        """The events of a kind, of one thread if it is named."""
        number = None if thread is None else self.number(thread)
        return [e for e in self.events if e.kind is kind and number in (None, e.thread)]

    def number(self, thread: str) -> int:
        return next(t.number for t in self.names.threads if t.name == thread)

    def choices(self) -> list[tuple[int, int]]:
        """Options and the one chosen, of every choice that was open."""
        return [(e.args[1], e.args[2]) for e in self.of(Kind.CHOICE)]


@dataclass(frozen=True, slots=True)
class Built:
    """A system that can run."""

    image: HostImage
    system: System
    plan: Plan
    model: CapabilityModel

    def run(
        self, *options: str, duration: int = 1_000_000_000, kinds: Container[Kind] = frozenset(Kind)
    ) -> Run:
        """With the events of these kinds."""
        trace = self.image.folder / "test.trace"
        trace.unlink(missing_ok=True)
        process = subprocess.run(
            [
                str(self.image.kernel),
                self.image.table.name,
                *("--for", str(duration)),
                *("--trace", str(trace)),
                *options,
            ],
            cwd=self.image.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        sink = Sink()
        data = trace.read_bytes() if trace.exists() else b""
        records = read_records(
            data, "trace", sink, lambda kind, *threads: (kind, *threads) if kind in kinds else None
        )
        events = tuple(Event(time, *about, args, text) for time, about, args, text in records)
        assert not sink.has_errors, sink.diagnostics
        names = trace_names(self.model, self.plan, self.system)
        return Run(process.returncode, process.stdout, process.stderr, events, names, self.plan, self.system)


def checked(folder: Path, text: str, sink: Sink, *, mcs: bool = False) -> pipeline.Checked:
    """Read, plan and check a system; `text` is the whole .camkes file but the import of the
    standard connectors. `mcs`: for an MCS kernel."""
    folder.mkdir(parents=True, exist_ok=True)
    root = folder / "system.camkes"
    root.write_text(HEAD + text)
    definitions = ((KERNEL_IS_MCS, "ON"),) if mcs else ()
    found = pipeline.check(pipeline.Input(root, preprocess=False, definitions=definitions), sink)
    assert found is not None, describe(sink)
    return found


def plan_of(folder: Path, text: str, sink: Sink) -> tuple[System, Plan, CapabilityModel]:
    """A system, its plan and its capabilities; `text` as for `checked`."""
    found = checked(folder, text, sink)
    return found.system, found.plan, model_of(found, sink)


def model_of(found: pipeline.Checked, sink: Sink) -> CapabilityModel:
    """The capabilities of a system."""
    model = pipeline.capabilities(found, sink)
    assert not sink.has_errors, describe(sink)
    return model


def build(
    folder: Path, text: str, sources: Mapping[str, str], *, sanitize: bool = False, mcs: bool = False
) -> Built:
    """Build a system; `sources` is the C code of each component type, without the include of camkes.h."""
    return build_found(folder, checked(folder, text, Sink(), mcs=mcs), sources, sanitize=sanitize)


def build_found(
    folder: Path, found: pipeline.Checked, sources: Mapping[str, str], *, sanitize: bool = False
) -> Built:
    """The same of one that was read and planned in this folder."""
    sink = Sink()
    for name, source in sources.items():
        (folder / f"{name}.c").write_text("#include <camkes.h>\n#include <stdio.h>\n" + source)
    image = pipeline.build_checked(found, folder / "out", sink, lambda _: None, sanitize=sanitize)
    assert image is not None, describe(sink)
    return Built(image, found.system, found.plan, image.capabilities)


def describe(sink: Sink) -> str:
    return "\n".join(f"{d.code.number} {d.message} {d.notes}" for d in sink.diagnostics)


def place(file: str) -> Path:
    """Where a file of the runtime is in it."""
    if (RUNTIME / file).exists():
        return Path(file)
    (found,) = RUNTIME.rglob(file)
    return found.relative_to(RUNTIME)
