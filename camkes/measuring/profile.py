# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The text of a platform profile (`camkes.analysis.platform`), from what was measured."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import asdict

from camkes.analysis.platform import UserPart
from camkes.measuring.figures import Figures, figures
from camkes.measuring.images import MACHINES
from camkes.measuring.log import Boot, is_mcs

_EXACT = "Instructions in QEMU, taken for cycles of 1 GHz: no machine's."
_SEEN = "Each figure is the maximum of {samples} samples seen, not a bound."


def is_exact(about: Mapping[str, str]) -> bool:
    """Whether an image was built to count instructions."""
    machine = MACHINES.get(about.get("machine", ""))
    return machine is not None and machine.exact


def profile_of(boots: Sequence[Boot], user: UserPart | None = None) -> str:
    """From all images of a measurement, and what of it is executed at `user` level."""
    about = boots[0].about
    exact = is_exact(about)
    found = figures(boots, exact=exact, mcs=is_mcs(about))
    return "\n".join([*_lines(about, found, user, exact=exact), ""])


def _lines(about: Mapping[str, str], found: Figures, user: UserPart | None, *, exact: bool) -> Iterator[str]:
    samples = about["samples"]
    yield "# Written by `camkes measure --platform`."
    yield f"# {_EXACT if exact else _SEEN.format(samples=samples)}"
    kernel = "MCS kernel" if is_mcs(about) else "kernel without MCS"
    how = "instructions in QEMU" if exact else f"maximum of {samples} samples seen, not a bound"
    yield f"source = {_text(f'measured on {_name(about)}, {kernel}: {how}')}"
    yield 'runtime = "camkes-rt"'
    yield f"clock = {_number(found.clock)}"
    for row, (call, reply) in found.halves.items():
        yield from ("", f"[{row}]", f"call = {call}", f"reply = {reply}")
        if row in found.waiting:
            yield f"waiting = {found.waiting[row]}"
    yield from ("", "[inherited]", f"acquire = {found.acquire}", f"release = {found.release}")
    yield f"queue = {found.queue}"
    yield from ("# update, settle and clear of a level of the chain, together", f"update = {found.update}")
    late = " and ".join(f"{late} with {timers}" for timers, late in found.late.items())
    yield from ("", "[timer]", f"# by how much the interrupt was late at most: {late} timers")
    yield from (f"release = {found.timer}", f"each = {found.each}")
    yield "# an interrupt waits for a call of the kernel: the longest operation of threads is longer"
    yield f"uninterrupted = {found.uninterrupted}"
    yield from ("", "[event]", f"emit = {found.emit}", f"release = {found.event}")
    if found.overrun:
        yield from ("", "[overrun]", *(f"{name} = {cycles}" for name, cycles in found.overrun.items()))
    if found.tick:
        yield from ("", "[tick]", f"cost = {found.tick}", f"every = {found.every}")
    if user is not None:
        yield from ("", "# what of this is executed at user level, at least: see docs/analysis.md", "[user]")
        yield from (f"{key} = {_value(value)}" for key, value in asdict(user).items())
    yield from ("", "[measured]", f"machine = {_text(about['machine'])}")
    for key in ("platform", "kernel", "settings"):
        yield f"{key} = {_text(about[key])}"
    yield f"mcs = {str(is_mcs(about)).lower()}"
    yield f"compiler = {_text(about['compiler'].replace('-', ' ', 1))}"
    yield f"counter = {_text(about['counter'])}"
    yield f"version = {_text(about['camkes-rt'])}"
    yield from (f"samples = {samples}", f'figures = "{"median" if exact else "maximum"}"')
    yield f"longest_queue = {about['queue']}"


def _name(about: Mapping[str, str]) -> str:
    return about["machine"] if is_exact(about) else f"a board ({about['platform']})"


def _value(value: str | int) -> str:
    return _text(value) if isinstance(value, str) else _number(value)


def _number(value: int) -> str:
    return f"{value:_}"


def _text(value: str) -> str:
    """A string of TOML."""
    return json.dumps(value, ensure_ascii=False)
