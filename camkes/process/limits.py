# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Limits of this process, which programs inherit, where they are too low for what the tool does."""

from __future__ import annotations

import errno
import os
import resource
from typing import NamedTuple


class _Limit(NamedTuple):
    """`option` is that of the shell's `ulimit`, which counts in units of `size`. `enough`, in these units, is
    for any system of examples/ and any command."""

    kind: int
    what: str
    option: str
    size: int
    unit: str
    enough: int


_LIMITS = (
    _Limit(resource.RLIMIT_NOFILE, "open files", "-n", 1, "", 256),
    _Limit(resource.RLIMIT_NPROC, "processes of the user", "-u", 1, "", 1000),
    _Limit(resource.RLIMIT_AS, "the addresses of a process", "-v", 1024, " KiB", 16 * 2**20),
    _Limit(resource.RLIMIT_DATA, "the data of a process", "-d", 1024, " KiB", 2**20),
    _Limit(resource.RLIMIT_FSIZE, "the size of a file", "-f", 1024, " KiB", 2**19),
    _Limit(resource.RLIMIT_STACK, "the stack of a process", "-s", 1024, " KiB", 2**10),
    _Limit(resource.RLIMIT_CPU, "the processor time of a process", "-t", 1, " s", 600),
)
_MEMORY = (resource.RLIMIT_AS, resource.RLIMIT_DATA)
#: Which of them an error can come of; None: of any, as a program that is stopped does not say why.
_OF_ERROR: dict[int | None, tuple[int, ...] | None] = {
    errno.EMFILE: (resource.RLIMIT_NOFILE,),
    errno.EAGAIN: (resource.RLIMIT_NPROC,),
    errno.ENOMEM: _MEMORY,
    errno.EFBIG: (resource.RLIMIT_FSIZE,),
    errno.ECONNRESET: None,
    errno.EPIPE: None,
    errno.ECHILD: None,
}
#: Other words of programs for these errors.
_WORDS = {
    "File size limit exceeded": errno.EFBIG,
    "memory exhausted": errno.ENOMEM,
    "bad_alloc": errno.ENOMEM,
    "Segmentation fault": errno.ECHILD,
}


class LimitError(Exception):
    """A limit of this process is too low. Its text is what failed, `limits` are those that may be why."""

    def __init__(self, what: str, limits: list[str]) -> None:
        super().__init__(what)
        self.limits = limits


def low_limits(kinds: tuple[int, ...] | None = None) -> list[str]:
    """The limits (among those) that are low, each with its value and with what is enough."""
    found = []
    for limit in _LIMITS:
        value = resource.getrlimit(limit.kind)[0] / limit.size
        bounds = value >= 0 and not (limit.kind == resource.RLIMIT_NPROC and os.geteuid() == 0)
        if bounds and value < limit.enough and (kinds is None or limit.kind in kinds):
            shown = f"{value:.1f}".removesuffix(".0")
            enough = f"`ulimit {limit.option} {limit.enough}` is enough"
            found.append(f"the limit of {limit.what} is {shown}{limit.unit}; {enough}")
    return found


def error_of_limit(number: int | None, what: str) -> LimitError | None:
    """The error to raise in place of one of a system call, if that comes of a limit that is low."""
    if number not in _OF_ERROR:
        return None
    limits = low_limits(_OF_ERROR[number])
    return LimitError(what, limits) if limits else None


def raise_if_limited(said: str) -> None:
    """Raise LimitError where a program that failed, and printed that, ran into a limit that is low."""
    text = said.strip()
    words = {os.strerror(number): number for number in _OF_ERROR if number is not None} | _WORDS
    number = next((number for word, number in words.items() if word in text), None)
    if number is None and text:
        return
    line = next((line for line in text.splitlines() if any(word in line for word in words)), text)
    what = f"a program failed: {line.strip()}" if line else "a program was stopped"
    error = error_of_limit(number or errno.ECHILD, what)
    if error is not None:
        raise error
