# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Decides whether the run of a test is as it should be. Each thing that is not is a diagnostic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from camkes.backends.host.faults import diagnose
from camkes.backends.host.messages import Sources
from camkes.diagnostics import Code, Diagnostic, Span
from camkes.files import as_here
from camkes.model.system import Instance, System
from camkes.outcome import Outcome
from camkes.running.demands import Property
from camkes.running.denied import missed_deadline, returned_error
from camkes.running.model import Lane
from camkes.running.times import format_time
from camkes.running.waits import Cause, Wait, describe
from camkes.testing.checks import Report
from camkes.testing.codes import (
    CHECK_FAILED,
    NOT_AS_EXPECTED,
    NOT_FINISHED,
    PROPERTY_VIOLATED,
)

#: what to write in a test for a thread of this instance that waits for ever
_MEANT = 'if the test means that: `camkes_expect_blocked("{}")` in its code'


class Finding(Struct, frozen=True):
    """Something that is not as it should be. `case` is the case that it belongs to, "": none."""

    diagnostic: Diagnostic
    case: str = ""


class Judge:
    """Judges one run. `folder` is that of the tests: components that its files define are its drivers;
    `named` are folders by the names that the image has for them."""

    def __init__(
        self,
        system: System,
        outcome: Outcome,
        reports: Sequence[Report],
        folder: Path,
        named: Mapping[str, Path],
    ) -> None:
        self.system = system
        self.outcome = outcome
        self.reports = reports
        self.folder = folder
        self.named = named
        self.sources = Sources()

    def findings(self) -> list[Finding]:
        """Everything that is wrong, in the order of a report."""
        found = [*self._checks()]
        found += map(Finding, self._faults())
        found += self._expectations()
        for rule in (self._missed, self._violations, self._ends):
            found += map(Finding, rule())
        return found

    def cases(self) -> tuple[str, ...]:
        """The cases that began, in order."""
        return tuple(dict.fromkeys(report.text for report in self.reports if report.what == "case"))

    # what the code of the test reports

    def _checks(self) -> Iterable[Finding]:
        for report, case in self._in_cases("failed", "stopped"):
            text = f"at {format_time(report.time, 6)} of the run, in component {report.instance}"
            yield Finding(self._at(CHECK_FAILED, report, report.text, (text, *_of_case(case))), case)

    def _in_cases(self, *what: str) -> Iterable[tuple[Report, str]]:
        """Reports of a kind, each with the case that its instance had begun, "": none."""
        cases: dict[str, str] = {}
        for report in self.reports:
            if report.what == "case":
                cases[report.instance] = report.text
            elif report.what in what:
                yield report, cases.get(report.instance, "")

    def _at(self, code: Code, report: Report, message: str, notes: tuple[str, ...] = ()) -> Diagnostic:
        span = self.sources.span(as_here(report.path, self.named), report.line)
        place = () if span is not None else (f"at {report.path.name}:{report.line}",)
        return Diagnostic(code, message, span, notes=(*place, *notes))

    def _of(self, *what: str) -> list[Report]:
        return [report for report in self.reports if report.what in what]

    def _named(self, *what: str) -> set[str]:
        return {report.text for report in self._of(*what)}

    # what happened that was not expected

    def _faults(self) -> list[Diagnostic]:
        expected = self._named("fault", "crash") | {report.instance for report in self._of("stopped")}
        faults = [each for each in self.outcome.faults if each.fault.component not in expected]
        run = self.outcome.run
        quiet = diagnose((), run.situation, run.names)  # threads that wait are warnings of their own
        found = diagnose(faults, run.situation, run.names, self.outcome.refused)
        return [each for each in found if each not in quiet]

    def _missed(self) -> Iterable[Diagnostic]:
        expected = self._named("missed")
        for lane in self.outcome.run.tasks:
            job = next((job for job in lane.jobs if job.missed), None)
            if job is not None and lane.task.name not in expected:
                yield missed_deadline(lane, job, self._span_of(lane.task.name))

    def _violations(self) -> Iterable[Diagnostic]:
        for violation in self.outcome.violations:
            if violation.property is Property.LIVENESS and self._of("blocked", "silence", "crash"):
                continue  # that threads wait for ever is meant
            name = violation.property.value
            yield Diagnostic(
                PROPERTY_VIOLATED,
                f"property {name} is violated: {violation.explanation}",
                notes=(f"at {format_time(violation.time, 6)} of the run",),
                help=f"`camkes explain {name}` describes the property",
            )

    # what was expected and did not happen

    def _expectations(self) -> Iterable[Finding]:
        instances = {instance.name for instance in self.system.instances}
        for report, case in self._in_cases("fault", "blocked", "missed", "response"):
            name = report.text.rpartition(" ")[0] if report.what == "response" else report.text
            wrong = f"there is no instance `{name}` in this test"
            if name in instances:
                wrong = self._unmet(report, name)
            if wrong:
                yield Finding(self._at(NOT_AS_EXPECTED, report, wrong, _of_case(case)), case)

    def _unmet(self, report: Report, name: str) -> str:
        """Why an expectation is not met, "" if it is."""
        run = self.outcome.run
        if report.what == "fault":
            faulted = any(each.fault.component == name for each in self.outcome.faults)
            return "" if faulted else f"`{name}` has no fault in this run"
        if report.what == "blocked":
            if not run.scheduling:
                return ""  # seL4 does not record which threads wait
            drivers = {each.name for each in drivers_of(self.system, self.folder)}
            ended = {each.fault.component for each in self.outcome.faults} | self.outcome.exit_statuses.keys()
            blocked = any(run.names.threads[wait.thread].instance == name for wait in run.waits)
            if blocked or name in drivers - ended:
                return ""
            return f"no thread of `{name}` waits for ever at the end of this run"
        lane = next((lane for lane in run.tasks if lane.task.name == name), None)
        if lane is None:
            return f"`{name}` is not a task: it has no jobs"
        if report.what == "missed":
            missed = any(job.missed for job in lane.jobs)
            return "" if missed else f"task `{name}` misses no deadline in this run"
        return _slow(lane, int(report.text.rpartition(" ")[2]), run.end)

    # whether it came to its end

    def _ends(self) -> Iterable[Diagnostic]:
        gone = self._named("fault", "blocked", "crash")
        gone |= {each.fault.component for each in self.outcome.faults}
        ended = self.outcome.exit_statuses
        for name, status in ended.items():
            if status != 0:
                yield returned_error(name, status, self._span_of(name))
        for instance in drivers_of(self.system, self.folder):
            if instance.name not in ended and instance.name not in gone:
                yield self._not_finished(instance)
        yield from self._scripts(gone)
        yield from self._blocked()

    def _scripts(self, gone: set[str]) -> Iterable[Diagnostic]:
        """Scripts of calls that are empty, or of periodic tasks and not over."""
        for name in sorted(self._named("empty")):
            message = f"`{name}` has no run(), and there are no calls in its script"
            help = "add one in pre_init(): `mock_IFACE_METHOD_call(...)`"
            yield Diagnostic(NOT_AS_EXPECTED, message, self._span_of(name), help=help)
        for name in sorted(self._named("script") - self._named("played") - gone):
            message = f"the script of `{name}` was not over when the run ended"
            help = (
                "a periodic task makes one call a job; `for` in the settings of the test gives it more time"
            )
            yield Diagnostic(NOT_FINISHED, message, self._span_of(name), help=help)

    def _blocked(self) -> Iterable[Diagnostic]:
        """Threads of other components that wait for what cannot come. Mocks that fail explain all of them."""
        names = self.outcome.run.names
        expected = self._named("blocked") | {each.name for each in drivers_of(self.system, self.folder)}
        for wait in self.outcome.run.waits if not self._of("crash", "silence") else ():
            instance = names.threads[wait.thread].instance
            if wait.cause is not Cause.FAULT and instance not in expected:
                yield Diagnostic(
                    NOT_FINISHED,
                    f"at the end of the run {describe(wait, names)}",
                    self._span_of(instance),
                    help=_MEANT.format(instance),
                )

    def _not_finished(self, instance: Instance) -> Diagnostic:
        run = self.outcome.run
        waits = [wait for wait in run.waits if run.names.threads[wait.thread].instance == instance.name]
        return Diagnostic(
            NOT_FINISHED,
            f"run() of `{instance.name}` did not return until the run ended at {format_time(run.end, 6)}",
            instance.span,
            notes=tuple(self._described(wait) for wait in waits),
            help=_MEANT.format(instance.name)
            if waits
            else "a test ends when run() of its components returns; `for` in the settings of the test gives "
            "it more time",
        )

    def _described(self, wait: Wait) -> str:
        """A wait, and the fault that it is due to, which has no diagnostic if it is expected."""
        names = self.outcome.run.names
        root = names.thread_name(wait.root)
        return describe(wait, names) + (f"; {root} stopped at a fault" if wait.cause is Cause.FAULT else "")

    def _span_of(self, name: str) -> Span | None:
        instance = self.system.instance(name)
        return None if instance is None else instance.span


def _of_case(case: str) -> tuple[str, ...]:
    """The note that names a case."""
    return (f"in case {case}",) if case else ()


def drivers_of(system: System, folder: Path) -> list[Instance]:
    """The instances whose run() has to return: those of components that the test in `folder` defines, except
    periodic tasks."""
    periodic = {task.instance for task in system.tasks if task.period is not None}
    return [
        each
        for each in system.instances
        if each.type.control
        and each.name not in periodic
        and each.type.span.file.path.absolute().is_relative_to(folder)
    ]


def _slow(lane: Lane, limit: int, end: int) -> str:
    """Which job of a task takes longer than `limit`, "" if none does."""
    for job in lane.jobs:
        response = job.response if job.response is not None else end - job.release
        if response > limit:
            took = format_time(response, 6)
            least = "" if job.response is not None else "at least "
            return (
                f"the response time of job {job.number} of task `{lane.task.name}` is {least}{took}, "
                f"longer than {format_time(limit, 6)}"
            )
    return ""
