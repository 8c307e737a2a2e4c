# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Searches of small systems from text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from camkes.analysis.limits import BlockingLimit, blocking_limits
from camkes.backends.host.explore import SearchOptions, SearchResult, search_host
from camkes.diagnostics import Sink
from camkes.running.names import trace_names
from tests.runtime.host import Built, build, describe
from tests.runtime.systems import Contended

#: elapsed seconds, where a search would not end by itself
LIMIT = 60


def built(folder: Path, system: Contended) -> Built:
    return build(folder, system.text, system.code)


def search(
    what: Built,
    options: SearchOptions | None = None,
    limits: Mapping[str, BlockingLimit] | None = None,
) -> SearchResult:
    """Search the schedules of a system that was built; `limits` if not those of its analysis."""
    sink = Sink()
    names = trace_names(what.model, what.plan, what.system)
    chosen = SearchOptions(seconds=LIMIT) if options is None else options
    if limits is None:
        limits = blocking_limits(what.system, what.plan, chosen.arrivals)
    result = search_host(what.image, what.plan, names, limits, chosen, sink, lambda _: None)
    assert result is not None, describe(sink)
    return result


def exhausted(result: SearchResult) -> bool:
    return not result.state.cut and not result.state.stopped
