# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Builds and runs tests, several at a time, each in a process of its own."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from difflib import unified_diff
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from camkes import pipeline
from camkes.backends.host.addresses import named_folders
from camkes.backends.host.backend import HostBackend
from camkes.backends.host.codes import FAULT, WAITS_FOR_EVER
from camkes.backends.host.errors import unwritten
from camkes.backends.interface import Progress
from camkes.backends.sel4.recording import DEFINITION
from camkes.diagnostics import Diagnostic, Severity, Sink
from camkes.files import OutputError, write_output
from camkes.generate.mocks import write_mocks
from camkes.model.system import System
from camkes.outcome import Outcome
from camkes.project.application import Application
from camkes.project.builds import ComponentBuild
from camkes.running.model import Run
from camkes.showing.listing import event_lines
from camkes.testing.checks import OutputLine, split_reports, whole_lines
from camkes.testing.codes import OUTPUT_DIFFERS
from camkes.testing.judge import Finding, Judge
from camkes.testing.sel4 import run_on_sel4
from camkes.testing.suite import Test

#: What is compared, by the suffix of the file that has what is expected.
OUTPUT, EVENTS = ".output", ".events"


def ignore(_step: str) -> None:
    """For who does not show progress."""


class SuiteOptions(Struct, frozen=True, kw_only=True):
    """`output` is the folder that tests are built in, each in one of its own. `update`: write what is
    expected instead of comparing with it. `asked` is how files are read; its path is not used. `workspace`:
    that of seL4 in which tests are built; if there is none and `asked` names no SDK, they run on the host
    kernel. `coverage` is the folder for what they execute, None: it is not counted. `progress` gets the
    steps of their builds, in any process."""

    output: Path
    asked: pipeline.Input
    sanitize: bool = False
    update: bool = False
    workspace: Path | None = None
    coverage: Path | None = None
    progress: Progress = ignore

    @property
    def on_sel4(self) -> bool:
        return self.workspace is not None or self.asked.sdk is not None


class Case(Struct, frozen=True):
    """A case of a test, "": what belongs to none. `failures` are messages."""

    name: str
    failures: tuple[str, ...]


class TestResult(Struct, frozen=True):
    """What a test came to. `end` is the virtual time of its run in nanoseconds, None: it did not run.
    `output` is what its components printed, without reports. `diagnostics` are its errors and warnings."""

    test: Test
    cases: tuple[Case, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    output: str = ""
    end: int | None = None

    @property
    def passed(self) -> bool:
        return self.end is not None and not any(d.severity is Severity.ERROR for d in self.diagnostics)


def run_tests(
    tests: Sequence[Test], options: SuiteOptions, jobs: int, done: Callable[[TestResult], None]
) -> list[TestResult]:
    """Run tests, `jobs` at a time; results are in the order of the tests, and so are the calls of `done`."""
    results = []
    for result in _results(tests, options, jobs):
        done(result)
        results.append(result)
    return results


def _results(tests: Sequence[Test], options: SuiteOptions, jobs: int) -> Iterator[TestResult]:
    if jobs <= 1 or len(tests) <= 1 or options.on_sel4:
        for test in tests:
            yield run_test(test, options)
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    ends = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    with ProcessPoolExecutor(min(jobs, len(tests)), get_context("fork"), _ignore_interrupts) as pool:
        try:
            yield from pool.map(_run_in_worker, tests, [options] * len(tests), [ends] * len(tests))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _ignore_interrupts() -> None:
    """Of a worker without a test: the process that started it ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run_in_worker(test: Test, options: SuiteOptions, ends: bool) -> TestResult:
    """As `run_test`, in a process that ignores Ctrl-C before and after it. `ends`: Ctrl-C ends the test."""
    if ends:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return run_test(test, options)
    finally:
        _ignore_interrupts()


def run_test(test: Test, options: SuiteOptions) -> TestResult:
    """Build and run a test. Mistakes in its files are diagnostics of the result."""
    sink = Sink()
    out = options.output / test.title
    try:
        return _run(test, options, out, sink)
    except OutputError as error:
        sink.add(unwritten(error))
    return TestResult(test, diagnostics=sink.diagnostics)


def _run(test: Test, options: SuiteOptions, out: Path, sink: Sink) -> TestResult:
    asked = replace(
        options.asked,
        path=test.file,
        definitions=(*options.asked.definitions, *test.settings.definitions.items()),
    )
    on_sel4 = options.on_sel4
    if on_sel4:
        asked = replace(asked, definitions=(*asked.definitions, DEFINITION))
    application = find_application(test, asked, sink, on_sel4=on_sel4)
    failed = TestResult(test, diagnostics=sink.diagnostics)
    if application is None:
        return failed
    system = pipeline.load_input(application, asked, sink)
    if system is not None:
        mocked = with_mocks(application, system, test, out)
        backend = HostBackend(mocked, out, options.sanitize, builds=not on_sel4)
        checked = pipeline.check_loaded(system, backend, sink, None if on_sel4 else options.progress)
        if checked is not None and not on_sel4:
            return _run_checked(test, checked, options, out, sink)
        if checked is not None:
            folder = options.output / "sel4"
            outcome = run_on_sel4(test, checked, application, asked, options.workspace, folder, sink)
            if outcome is not None:
                return judge_run(test, checked.system, outcome, options, sink)
    return replace(failed, diagnostics=sink.diagnostics)


def counts_of(test: Test, options: SuiteOptions) -> Path:
    """Where it is noted what a test executes."""
    return options.output / test.title / "coverage.json"


def find_application(
    test: Test, asked: pipeline.Input, sink: Sink, *, on_sel4: bool = False
) -> Application | None:
    """The project of a test, with the assembly of the test in place of its own; None after a diagnostic."""
    if not (test.project / "CMakeLists.txt").is_file():
        build_type = dict(asked.definitions).get("CMAKE_BUILD_TYPE", "")
        return Application(test.file, test.name, test.project, build_type=build_type)
    asked = replace(asked, path=test.project)
    found = pipeline.find_for_sel4(asked, sink, lambda _: None) if on_sel4 else pipeline.find(asked, sink)
    if found is None:
        return None
    # components that are not declared are found as without CMake
    return replace(found, root=test.file, name=f"{found.name}-{test.name}", lists=None)


def with_mocks(application: Application, system: System, test: Test, out: Path) -> Application:
    """An application whose components that the tests define have mocks of what they provide, and find the
    headers of the project. Raises OutputError."""
    components = dict(application.components)
    headers = application.headers_of_all(test.file.parent)
    for kind in system.types.values():
        if not kind.span.file.path.absolute().is_relative_to(test.file.parent):
            continue
        folder = (out / "mocks" / kind.name).absolute()
        try:
            source = write_mocks(kind, test.file.parent, folder)
        except OSError as error:
            raise OutputError(f"cannot write {error.filename}: {error.strerror}") from error
        build = application.build_of(kind.name, "", kind.span.file.path)
        if source is not None:
            build = build or ComponentBuild()
            build = replace(build, sources=(*build.sources, source), includes=(*build.includes, folder))
        if build is not None:
            components[kind.name] = replace(build, includes=tuple(dict.fromkeys((*build.includes, *headers))))
    return replace(application, components=components)


def _run_checked(
    test: Test, checked: pipeline.Checked, options: SuiteOptions, out: Path, sink: Sink
) -> TestResult:
    printed = bytearray()
    settings = pipeline.RunSettings(
        output=out,
        sanitize=options.sanitize,
        verify=True,
        duration=test.settings.duration,
        scheduling=test.settings.scheduling,
        timeslice=test.settings.timeslice,
        choices=test.choices,
        show=printed.extend,
        coverage=None if options.coverage is None else counts_of(test, options),
    )
    with ExitStack() as stack:
        image = pipeline.build_to_run(checked, settings, stack, sink, options.progress)
        if image is None or sink.has_errors:
            return TestResult(test, diagnostics=sink.diagnostics)
        outcome = pipeline.run_image(image, checked, settings, sink)
    if outcome is None:
        return TestResult(test, diagnostics=sink.diagnostics, output=printed.decode(errors="replace"))
    return judge_run(test, checked.system, outcome, options, sink)


def judge_run(test: Test, system: System, outcome: Outcome, options: SuiteOptions, sink: Sink) -> TestResult:
    """The result of a run that came to its end; `sink` has the diagnostics so far."""
    run = outcome.run
    reports, lines = split_reports(_lines(run))
    named = named_folders(test.project, options.output / test.title)
    judge = Judge(system, outcome, reports, test.file.parent, named)
    findings = judge.findings()
    sink.drop(FAULT)  # `judge` determines which are expected
    sink.drop(WAITS_FOR_EVER)
    output = "".join(f"{line.text}\n" for line in lines)
    if test.first:
        texts = {OUTPUT: output}
        if run.scheduling:
            texts[EVENTS] = "".join(f"{line}\n" for line in event_lines(run))
        for suffix, text in texts.items():
            different = _compare(test.expected(suffix), text, update=options.update)
            findings += [] if different is None else [Finding(different)]
    for finding in findings:
        sink.add(finding.diagnostic)
    return TestResult(test, _cases(judge, findings, sink), sink.diagnostics, output, run.end)


def _lines(run: Run) -> list[OutputLine]:
    pieces = ((output.time, output.thread, output.text) for output in run.outputs)
    return whole_lines(pieces, [thread.instance for thread in run.names.threads])


def _cases(judge: Judge, findings: Sequence[Finding], sink: Sink) -> tuple[Case, ...]:
    """The cases of a test; errors that are not findings belong to no case."""
    named = judge.cases()
    own = {finding.diagnostic for finding in findings if finding.case}
    cases = [Case(name, tuple(f.diagnostic.message for f in findings if f.case == name)) for name in named]
    rest = tuple(
        each.message for each in sink.diagnostics if each.severity is Severity.ERROR and each not in own
    )
    return (Case("", rest), *cases) if rest or not named else tuple(cases)


def _compare(path: Path, text: str, *, update: bool) -> Diagnostic | None:
    """How the file at `path` differs from `text`; None if it does not, or does not exist."""
    try:
        expected = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    if expected == text:
        return None
    if update:
        write_output(path, text.encode())
        return None
    difference = list(
        unified_diff(expected.splitlines(), text.splitlines(), "expected", "this run", "", "", 1, "")
    )
    shown = difference[:40]
    if len(difference) > len(shown):
        shown.append(f"... and {len(difference) - len(shown)} more lines")
    return Diagnostic(
        OUTPUT_DIFFERS,
        f"the run differs from what {path.name} expects",
        notes=("\n".join(shown),),
        help="if the run is right, `camkes test --update` writes the file",
    )
