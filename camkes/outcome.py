# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The results of a run: its report as text and as JSON, and its trace as a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET, Struct
from msgspec.structs import replace

from camkes.backends.host.backend import IMAGE, TRACE, HostBackend
from camkes.backends.host.errors import unwritten
from camkes.backends.host.faults import (
    Located,
    diagnose,
    diagnose_findings,
    ended_by,
    fault_report,
    finding_report,
    locate_faults,
)
from camkes.backends.host.host import HostImage
from camkes.backends.host.run import RunResult
from camkes.capdl.model import Role
from camkes.diagnostics import Diagnostic, Severity, Sink, Span
from camkes.files import OutputError, write_output
from camkes.model.substitutes import substituted
from camkes.model.system import System
from camkes.protocols.plan import Plan
from camkes.running.chains import chain_latencies, data_ages
from camkes.running.decode import decode_trace
from camkes.running.demands import Property, Violation
from camkes.running.denied import (
    denied_wait,
    domains_ignored,
    filled_slots,
    missed_deadline,
    missed_jobs,
    not_initialised,
    returned_error,
)
from camkes.running.jobless import tasks_without_jobs
from camkes.running.model import Run
from camkes.running.names import TraceNames, names_path, save_names
from camkes.running.refusals import Refusal, refusal_report, refusals
from camkes.running.waits import Cause, Deadlock, deadlock_words, deadlocks, wait_report
from camkes.showing.draw.ctf import METADATA, STREAM, ctf_metadata, ctf_stream
from camkes.showing.draw.perfetto import perfetto_json
from camkes.showing.draw.perfetto_trace import perfetto_trace
from camkes.showing.draw.pictures import write_picture
from camkes.showing.draw.terminal import terminal_report
from camkes.showing.draw.timeline import timeline_svg
from camkes.showing.draw.timeline_page import timeline_page
from camkes.showing.profile import write_profile
from camkes.showing.summary import (
    CoverageReport,
    ErrorReport,
    RunReport,
    ViolationReport,
    age_report,
    budget_report,
    chain_report,
    task_report,
    to_json,
)

#: in the order in which they are printed
_IN_RUNS = tuple(map(Property, "MPHLZSA"))


class Outcome(Struct, frozen=True):
    """What a run came to. `failed`: a fault, a deadlock, a violated property or a kernel that could not run.
    Paths below `base` are given relative to it. `interrupted` is the signal with which the user ended it, or
    0."""

    run: Run
    faults: Sequence[Located]
    base: Path
    violations: Sequence[Violation]
    verified: bool
    failed: bool
    exit_statuses: Mapping[str, int]
    interrupted: int = 0
    findings: Sequence[Located] = ()  # of sanitizers
    refused: Sequence[Refusal] = ()
    places: Mapping[str, Span] = {}  # of instances
    coverage: Sequence[CoverageReport] = ()  # of all files, then of each
    cost_profile: str | None = None  # what operations take in virtual time
    not_judged: Sequence[str] = ()  # by verification, in words
    substitutes: Mapping[str, str] = {}  # for devices: what each instance was instead

    def denied(self, conditions: Sequence[str]) -> list[Diagnostic]:
        """Errors for those of these conditions that hold: see `CONDITIONS` of the pipeline."""
        found = []
        if "missed" in conditions:
            for lane, job in missed_jobs(self.run):
                found.append(missed_deadline(lane, job, self.places.get(lane.task.name)))
        if "exit-status" in conditions:
            for name, status in self.exit_statuses.items():
                if status != 0:
                    found.append(returned_error(name, status, self.places.get(name)))
        if "waits" in conditions:
            for wait in self.run.waits:
                if wait.cause in (Cause.DEADLOCK, Cause.STARTING):
                    continue  # is an error anyway
                place = self.places.get(self.run.names.threads[wait.thread].instance)
                found.append(denied_wait(self.run, wait, place))
        return found

    def report_text(self, *, color: bool, unicode: bool) -> str:
        """Chart, table of response times, and what verification found."""
        text = terminal_report(self.run, color=color, unicode=unicode)
        if self.cost_profile is not None:
            text += f"operations take their time on {self.cost_profile}\n"
        text += "".join(f"{name}: run() returned {n}\n" for name, n in self.exit_statuses.items() if n)
        if self.coverage:
            text += "\ncoverage\n" + "".join(f"  {each.text()}\n" for each in self.coverage)
        return text + self.verification_text() if self.verified else text

    def verification_text(self) -> str:
        """What verification found."""
        lines = [str(violation) for violation in self.violations]
        found = f"{len(lines)} violated" if lines else "hold at every event"
        lines.append(f"properties {' '.join(self.judged)}: {found}")
        if self.not_judged:
            lines.append(f"not judged: {'; '.join(self.not_judged)}")
        return "\n".join([*lines, ""])

    @property
    def judged(self) -> tuple[Property, ...]:
        """The properties that verification checks in a run."""
        return tuple(each for each in _IN_RUNS if each is not Property.ACCOUNTING or self.run.spent)

    def report_json(self) -> str:
        """Response times of all jobs, faults, refused messages and violations, as JSON."""
        names = self.run.names
        report = RunReport(
            end=self.run.end,
            cost_profile=self.cost_profile or UNSET,
            tasks=tuple(map(task_report, self.run.tasks)),
            chains=tuple(map(chain_report, chain_latencies(self.run))),
            ages=tuple(map(age_report, data_ages(self.run))) or UNSET,
            faults=tuple(fault_report(fault, self.run.situation, names, self.base) for fault in self.faults),
            findings=tuple(finding_report(finding, self.base) for finding in self.findings),
            refused=tuple(refusal_report(refusal, self.base) for refusal in self.refused),
            exit_statuses=dict(self.exit_statuses),
            interrupted=bool(self.interrupted),
            waits=tuple(wait_report(wait, names) for wait in self.run.situation.waits),
            budgets=tuple(map(budget_report, self.run.spent)) or UNSET,
            payments=self.run.payments if self.run.spent else UNSET,
            overruns=self.run.overruns if self.run.spent else UNSET,
            criticality=self.run.criticality or UNSET,
            coverage=tuple(self.coverage) or UNSET,
            violations=tuple(ViolationReport(v.time, v.property, v.explanation) for v in self.violations)
            if self.verified
            else UNSET,
            properties=self.judged if self.verified else UNSET,
            not_judged=tuple(self.not_judged) if self.verified else UNSET,
            substitutes=dict(self.substitutes) or UNSET,
        )
        return to_json(report)


def no_report_json(sink: Sink, *, interrupted: bool = False) -> str:
    """The report of a run that did not come to a result: the same lists, all empty, and `errors`."""
    errors = tuple(
        ErrorReport(d.code.number, d.message) for d in sink.diagnostics if d.severity.value == "error"
    )
    return to_json(RunReport(end=None, interrupted=interrupted, errors=errors))


def read_run(
    raw: Path,
    names: TraceNames,
    result: RunResult,
    backend: HostBackend,
    sink: Sink,
) -> Run | None:
    """Decode the trace of a run and leave it as that of the last one. What is wrong with it is reported of
    the file that stays: others run in the same folder."""
    last = backend.out / IMAGE / TRACE
    reading = Sink()
    for diagnostic in result.diagnostics:
        reading.add(diagnostic)
    found = decode_trace(raw, names, reading) if result.trace is not None else None
    if found is not None:
        save_names(raw, names, reading)
        backend.publish([file for file in (raw, names_path(raw)) if file.exists()], reading)
    for diagnostic in reading.diagnostics:
        sink.add(_renamed(diagnostic, raw, last))
    if found is None and result.interrupted:
        raise KeyboardInterrupt
    return found


def _renamed(diagnostic: Diagnostic, raw: Path, last: Path) -> Diagnostic:
    """A diagnostic with the name of the file `last` in place of `raw`."""
    message, *notes = (text.replace(str(raw), str(last)) for text in (diagnostic.message, *diagnostic.notes))
    return replace(diagnostic, message=message, notes=tuple(notes))


def judge(
    found: Run,
    image: HostImage,
    system: System,
    plan: Plan,
    base: Path,
    result: RunResult,
    violations: Sequence[Violation] | None,
    sink: Sink,
    not_judged: Sequence[str] = (),
) -> Outcome:
    """Report what went wrong in a run. `violations` are those that were found, None: they were not looked
    for; of what is `not_judged`, none were."""
    refused = refusals(found, system, plan)
    domains = sorted({t.domain for space in image.capabilities.spaces for t in space.threads})
    if len(domains) > 1 and not system.schedule:
        sink.add(domains_ignored(domains))
    jobless = tasks_without_jobs(found, system)
    for diagnostic in jobless:
        sink.add(diagnostic)
    faults = locate_faults(result.faults, image)
    for refusal in refused:
        if not any(ended_by(fault, refusal) for fault in faults):
            sink.add(refusal.diagnostic())
    findings = locate_faults(result.findings, image)
    diagnosed = diagnose(faults, found.situation, found.names, refused)
    for diagnostic in (*diagnose_findings(findings), *diagnosed):
        sink.add(diagnostic)
    places = {instance.name: instance.span for instance in system.instances}
    for diagnostic in filled_slots(found, places):
        sink.add(diagnostic)
    uninitialised = [wait for wait in found.waits if wait.cause is Cause.STARTING]
    for wait in uninitialised:
        sink.add(not_initialised(found, wait, places.get(found.names.threads[wait.thread].instance)))
    deadlocked = deadlocks(found.waits)
    if violations is not None:  # the judge sees the locks of CPIs only
        violations = [*violations, *(_as_violation(each, found.names) for each in deadlocked)]
    return Outcome(
        run=found,
        faults=faults,
        base=base,
        violations=tuple(violations or ()),
        verified=violations is not None,
        not_judged=tuple(not_judged),
        failed=result.status != 0
        or bool(result.faults)
        or bool(violations)
        or bool(refused)
        or bool(deadlocked)
        or bool(uninitialised)
        or any(diagnostic.severity is Severity.ERROR for diagnostic in jobless),
        exit_statuses=exit_statuses(found, [each.name for each in system.instances if each.type.control]),
        interrupted=result.interrupted,
        findings=findings,
        refused=refused,
        places=places,
        substitutes={instance.name: what for instance, what in substituted(system)},
    )


def _as_violation(found: Deadlock, names: TraceNames) -> Violation:
    time = max(step.since for step in found.steps)
    return Violation(time, Property.LIVENESS, deadlock_words(found, names), -1)


def exit_statuses(run: Run, instances: Iterable[str]) -> dict[str, int]:
    """What the run() of each of these instances returned, in their order."""
    ended = {
        thread.instance: (run.exits[thread.number] + 2**31) % 2**32 - 2**31
        for thread in run.names.threads
        if thread.role is Role.CONTROL and thread.number in run.exits
    }
    return {name: ended[name] for name in instances if name in ended}


def write_trace(path: Path, raw: Path, run: Run, sink: Sink) -> None:
    """Write a trace in the form that the ending of `path` names. Raises OutputError."""
    if path.suffix == ".json":
        write_output(path, perfetto_json(run).encode())
    elif path.suffix == ".pftrace":
        write_output(path, perfetto_trace(run))
    elif path.suffix == ".ctf":
        write_output(path / METADATA, ctf_metadata().encode())
        write_output(path / STREAM, ctf_stream(run))
    else:
        write_output(path, raw.read_bytes())
        save_names(path, run.names, sink)


class ResultFiles(NamedTuple):
    """The files that are made of a run, None: not asked for. `window` is what the timeline shows."""

    trace: Path | None
    timeline: Path | None
    window: tuple[int, int] | None
    profile: Path | None


def write_results(files: ResultFiles, raw: Path, run: Run, name: str, sink: Sink) -> None:
    """Write the files that were asked for; the report of the run does not depend on whether that can be."""
    for write in (_write_trace, _write_timeline, _write_profile):
        try:
            write(files, raw, run, name, sink)
        except OutputError as error:
            sink.add(unwritten(error))


def _write_trace(files: ResultFiles, raw: Path, run: Run, name: str, sink: Sink) -> None:
    if files.trace is not None:
        write_trace(files.trace, raw, run, sink)


def _write_timeline(files: ResultFiles, raw: Path, run: Run, name: str, sink: Sink) -> None:
    if files.timeline is not None:
        if files.timeline.suffix == ".html":
            write_output(files.timeline, timeline_page(run, name).encode())
            return
        picture = timeline_svg(run, sink, files.window or (None, None), name)
        if picture is not None:
            write_picture(files.timeline, picture)


def _write_profile(files: ResultFiles, raw: Path, run: Run, name: str, sink: Sink) -> None:
    if files.profile is not None:
        write_profile(files.profile, run, name)
