# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Searches of small systems from text."""

from __future__ import annotations

from pathlib import Path

from camkes.backends.host.explore import SearchOptions, SearchResult, search_host
from camkes.diagnostics import Sink
from camkes.report.trace.names import trace_names
from tests.runtime.host import Built, build, describe
from tests.runtime.systems import Contended

#: elapsed seconds, where a search would not end by itself
LIMIT = 60


def built(folder: Path, system: Contended) -> Built:
    return build(folder, system.text, system.code)


def search(what: Built, options: SearchOptions | None = None) -> SearchResult:
    """Search the schedules of a system that was built."""
    sink = Sink()
    names = trace_names(what.model, what.plan, what.system)
    chosen = SearchOptions(seconds=LIMIT) if options is None else options
    result = search_host(what.image, what.plan, names, chosen, sink, lambda _: None)
    assert result is not None, describe(sink)
    return result


def exhausted(result: SearchResult) -> bool:
    return not result.state.cut and not result.state.stopped
