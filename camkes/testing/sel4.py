# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Runs tests on seL4: each is built in a workspace, in the place of the project's own system, and booted in
QEMU. All are built in one folder, so that the kernel and libraries are compiled once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from pathlib import Path

from camkes import pipeline
from camkes.backends.host.sources import report_no_sources
from camkes.backends.sel4.build import RECORDS
from camkes.backends.sel4.recording import outcome_of
from camkes.backends.sel4.trace import Record
from camkes.backends.sel4.workspace import made
from camkes.capdl.model import Role
from camkes.diagnostics import Sink
from camkes.files import write_changed
from camkes.outcome import Outcome
from camkes.project.application import Application
from camkes.project.builds import ComponentBuild
from camkes.project.codes import MISSING_FILE
from camkes.resolve.files.library import comes_with_tool
from camkes.running.kinds import Kind
from camkes.running.names import load_names
from camkes.testing.judge import drivers_of
from camkes.testing.suite import Test

#: seconds without a record after which a run is over: when all components of the test have returned, and else
_QUIET_AFTER, _QUIET = 3, 20


def run_on_sel4(
    test: Test,
    checked: pipeline.Checked,
    project: Application,
    asked: pipeline.Input,
    workspace: Path | None,
    out: Path,
    sink: Sink,
) -> Outcome | None:
    """Build a test in the folder `out`, in a workspace or with the SDK that is asked for, and boot it; None
    after a diagnostic. `project` is what the project's own CMakeLists.txt declares, `checked` has the mocks
    as well."""
    application = checked.application
    application.report_missing(MISSING_FILE, sink)
    for kind in checked.system.types.values():
        declared_in = kind.span.file.path
        if application.build_of(kind.name, "", declared_in) is None and not comes_with_tool(declared_in):
            report_no_sources(application, kind, sink)
    if sink.has_errors:
        return None
    with _built(test, checked, project, asked, workspace, out.absolute(), sink) as good:
        names = load_names(out / RECORDS, sink) if good else None
        if names is None:
            return None
        drivers = {each.name for each in drivers_of(checked.system, test.file.parent)}
        threads = {t.number for t in names.threads if t.role is Role.CONTROL and t.instance in drivers}
        duration = test.settings.duration or pipeline.DEFAULT_DURATION
        return outcome_of(out, duration, lambda _: None, test.project, sink, _is_over(threads))


@contextmanager
def _built(
    test: Test,
    checked: pipeline.Checked,
    project: Application,
    asked: pipeline.Input,
    workspace: Path | None,
    out: Path,
    sink: Sink,
) -> Iterator[bool]:
    """Whether the image is in `out`, where no other command builds until this is left."""
    if workspace is None:
        with pipeline.built_with_sdk(asked, out, sink, lambda _: None, checked.application) as folder:
            yield folder is not None
        return
    lists = out / f"{test.name}.cmake"
    write_changed(lists, _declarations(test, checked, project))
    settings = {**dict(asked.definitions), "CAMKES_TEST": str(lists)}
    with made(workspace, test.project, out, settings, sink, lambda _: None) as good:
        yield good


def _declarations(test: Test, checked: pipeline.Checked, project: Application) -> str:
    """CMake's declarations of the test's system: components that the project does not declare, and mocks."""
    lines = []
    for kind in checked.system.types.values():
        build = checked.application.build_of(kind.name, "", kind.span.file.path)
        if build is None or comes_with_tool(kind.span.file.path):
            continue
        before = project.components.get(kind.name, ComponentBuild())
        sources = [path for path in build.sources if path not in before.sources]
        includes = [path for path in build.includes if path not in before.includes]
        if sources or includes:
            words = ["SOURCES", *map(_quoted, sources), "INCLUDES", *map(_quoted, includes)]
            lines.append(f"DeclareCAmkESComponent({kind.name} {' '.join(words)})\n")
    return "".join([*lines, f"_DeclareCAmkESRootserver({_quoted(test.file)})\n"])


def _quoted(path: Path) -> str:
    return f"[==[{path.absolute()}]==]"


def _is_over(drivers: Set[int]) -> Callable[[Sequence[Record]], bool]:
    """Tells whether nothing happens any more; asked in each second without a line. `drivers` are the threads
    that have to end."""
    seen = quiet = 0

    def idle(records: Sequence[Record]) -> bool:
        nonlocal seen, quiet
        quiet = quiet + 1 if len(records) == seen else 0
        seen = len(records)
        over = drivers <= {record.thread for record in records if record.kind == Kind.EXIT}
        return bool(records) and quiet >= (_QUIET_AFTER if over else _QUIET)

    return idle
