# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What holds for all tests.

Property tests try the same cases in every run; `HYPOTHESIS=search pytest` looks for new ones, and
`HYPOTHESIS=long pytest` (`make test-long`) tries 1,000 instead of 15 where a test does not state how many.
"""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache

import pytest
from hypothesis import settings

from camkes import process
from camkes.evidence import requirements
from camkes.resources import ROOT

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=15)
settings.register_profile("long", derandomize=True, deadline=None, max_examples=1000)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS", "repeatable"))


def pytest_configure() -> None:
    """The supervisor of programs is forked before all tests are collected: it and its forks stay small."""
    os.environ.pop("COLUMNS", None)  # pytest-xdist sets it, and tables fit into it
    process.run(["true"])


def pytest_unconfigure() -> None:
    process.end_supervisors()


#: The tests of the packages whose coverage `make test-long` bounds. To trace all others, which are about
#: other code or take one way hundreds of times, would double what they take.
COVERING = ("tests/parser/", "tests/resolve/", "tests/protocols/")


@cache
def revision() -> str:
    found = requirements.commit(ROOT)
    return found.revision if found else ""


def evidence(item: pytest.Item) -> Iterator[tuple[str, object]]:
    """What `camkes evidence` needs to know of a test: requirements, further sources, the commit."""
    for mark in item.iter_markers("requirement"):
        yield from (("requirement", name) for name in mark.args)
        yield from (("source", source) for source in mark.kwargs.values())
    yield "revision", revision()


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    cases: Counter[str] = Counter()
    for item in items:
        if item.config.getoption("xmlpath", None):
            item.user_properties += evidence(item)
        mark = item.get_closest_marker("mostly_long")
        if mark is not None:
            function, _, case = item.nodeid.removesuffix("]").partition("[")
            named = isinstance(mark.args[0], str)
            if not named and mark.args[0] < 2:
                raise pytest.UsageError(f"{function}: mostly_long({mark.args[0]}) marks no case")
            short = case in mark.args if named else cases[function] % mark.args[0] == 0
            if not short:
                item.add_marker(pytest.mark.long)
            cases[function] += 1
        if not item.nodeid.startswith(COVERING):
            item.add_marker(pytest.mark.no_cover)


def pytest_collection_finish() -> None:
    """What was imported and collected stays: garbage collections need not look at it."""
    gc.freeze()


# A shell lets what it starts with `&` ignore Ctrl-C and Ctrl-\; what tests start and interrupt would, too.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        with suppress(ValueError):  # not the main thread
            signal.signal(number, handler)
