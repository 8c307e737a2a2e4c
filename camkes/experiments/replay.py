# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Runs the case in a replay file on the host kernel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from camkes import pipeline
from camkes.analysis.replay import of_case, read_replay, releases, write_model
from camkes.analysis.workload import workload_of
from camkes.backends.interface import Progress
from camkes.diagnostics import Severity, Sink
from camkes.files import OutputError

if TYPE_CHECKING:
    from camkes.outcome import Outcome


def run(
    asked: pipeline.Input,
    file: Path,
    settings: pipeline.RunSettings,
    sink: Sink,
    progress: Progress,
) -> Outcome | None:
    """Run the case in `file` with the priorities, periods and protocols of the system, in a folder of its own
    below the build folder; for as long as the case takes, unless `settings` has a duration. Raises
    OutputError."""
    checked = pipeline.check(asked, sink)
    if checked is None:
        return None
    whole = workload_of(checked.system, checked.plan)
    case = read_replay(file, whole, sink)
    if case is None:
        return None
    workload = of_case(whole.part_of(case.task)[1], case)
    folder = pipeline.build_folder(checked.application, settings.output) / "replay"
    try:
        root = write_model(workload, case.program, folder)
    except OSError as error:
        raise OutputError(f"cannot write in {folder}: {error.strerror}") from error
    offsets = case.program.offsets
    late = max(releases(workload, case.program).values()) - max(offsets.values())
    duration = case.duration + late if settings.duration is None else settings.duration
    settings = replace(settings, output=folder / "build", duration=duration)
    of_model = Sink()
    outcome = pipeline.run(pipeline.Input(root, preprocess=False), settings, of_model, progress)
    for diagnostic in of_model.diagnostics:  # warnings were given about the system itself
        if diagnostic.severity is Severity.ERROR or diagnostic.span is None:
            sink.add(diagnostic)
    return outcome
