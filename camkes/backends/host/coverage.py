# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which lines and branches of components a run executed, as gcov counts them and gcovr reports them."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from glob import escape
from importlib.util import find_spec
from pathlib import Path

from camkes import process
from camkes.backends.host.codes import NO_COVERAGE
from camkes.diagnostics import Sink
from camkes.files import OutputError
from camkes.resources import install_packages
from camkes.showing.summary import CoverageReport

#: where counters are written, below the copy of the image that runs
_COUNTERS = "counters"


def can_cover(sink: Sink) -> bool:
    """Whether coverage can be reported; if not, a diagnostic reports the reason."""
    if find_spec("gcovr") is not None:
        return True
    sink.report(NO_COVERAGE, "gcovr was not found", help=f"install it: `{install_packages('gcovr')}`")
    return False


def coverage_environment(image: Path) -> dict[str, str]:
    """The environment of a run that counts, so that several runs of an image do not disturb each other."""
    return {**process.in_english(), "GCOV_PREFIX": str(image / _COUNTERS)}


def report_coverage(
    image: Path, objects: Path, base: Path, out: Path, sink: Sink
) -> tuple[CoverageReport, ...] | None:
    """Write `coverage.info` (lcov) and `index.html` with pages for each file in the folder `out`; if the name
    of `out` ends in .json, only the counts, for `merge_coverage`. Counters are below the folder `image`, what
    the compiler noted of sources below `objects`; files are named relative to `base`. The first result is of
    all files; None after a diagnostic."""
    counters = image / _COUNTERS
    for notes in objects.rglob("*.gcno"):
        beside = counters / notes.relative_to("/")
        beside.parent.mkdir(parents=True, exist_ok=True)
        if not beside.exists():
            beside.symlink_to(notes)
    # gcov writes files into the folder where it is run; only there those of another run are not in the way
    found = [
        str(counters),
        "--gcov-object-directory",
        str(counters.absolute()),
        "--exclude-unreachable-branches",
    ]
    if out.suffix == ".json":
        return () if _gcovr([*found, "--json", str(out.absolute())], base, out.parent, sink) else None
    return _report(found, base, out, sink)


def merge_coverage(
    counts: Sequence[Path], base: Path, exclude: Sequence[Path], out: Path, sink: Sink
) -> tuple[CoverageReport, ...] | None:
    """The same of several runs, of which `counts` are; files below the folders `exclude` are left out."""
    words = [word for file in counts for word in ("--add-tracefile", escape(str(file.absolute())))]
    words += [word for path in exclude for word in ("--exclude", f"{re.escape(str(path.absolute()))}/.*")]
    return _report(words, base, out, sink)


def _report(words: list[str], base: Path, out: Path, sink: Sink) -> tuple[CoverageReport, ...] | None:
    out = out.absolute()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {out}: {error.strerror}") from error
    summary = out / "coverage.json"
    forms = ["--lcov", str(out / "coverage.info"), "--html-details", str(out / "index.html")]
    if not _gcovr([*words, *forms, "--json-summary", str(summary)], base, out, sink):
        return None
    report = json.loads(summary.read_text(encoding="utf-8"))
    return tuple(_coverage(each) for each in ({**report, "filename": ""}, *report["files"]))


def _gcovr(words: list[str], base: Path, out: Path, sink: Sink) -> bool:
    """Run gcovr, which writes into the folder `out`; False after a diagnostic. Raises OutputError."""
    command = [sys.executable, "-m", "gcovr", "--root", str(base.absolute()), *words]
    done = process.run(command, cwd=base, merged=True)
    if done.status != 0:
        error = process.disk_error(done.output, out)
        if error is not None:
            raise OutputError(f"cannot write in {error.filename}: {error.strerror}")
        sink.report(NO_COVERAGE, "gcovr failed", notes=done.output.strip().splitlines()[-10:])
    return done.status == 0


def _coverage(part: dict[str, int | str]) -> CoverageReport:
    names = ("line_covered", "line_total", "branch_covered", "branch_total")
    return CoverageReport(str(part["filename"]), *(int(part[name]) for name in names))
