# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The process that evaluates cases: a function, then cases, come on standard input, and results go to
standard output, each as a pickle with its length before it.

The first result says that the function is there. A function can be a context manager, which is entered once.
"""

from __future__ import annotations

import gc
import os
import pickle
import struct
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

_LENGTH = struct.Struct("<Q")


def write_frame(pipe: int, content: bytes) -> None:
    left = memoryview(_LENGTH.pack(len(content)) + content)
    while left:
        left = left[os.write(pipe, left) :]


def read_frame(pipe: int) -> bytes | None:
    """The next content, no more; None at the end of the pipe, also in the middle of one."""
    head = _read(pipe, _LENGTH.size)
    return None if head is None else _read(pipe, _LENGTH.unpack(head)[0])


def _read(pipe: int, length: int) -> bytes | None:
    parts = []
    while length:
        parts.append(os.read(pipe, length))
        if not parts[-1]:
            return None
        length -= len(parts[-1])
    return b"".join(parts)


def main() -> None:
    cases, results = os.dup(0), os.dup(1)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)  # what the function prints goes to standard error
    call = read_frame(cases)
    if call is None:
        return
    with ExitStack() as stack:
        function: Callable[[Any], Any] = pickle.loads(call)
        if isinstance(function, AbstractContextManager):
            function = stack.enter_context(function)
        gc.freeze()  # what the function has is never garbage
        write_frame(results, b"")
        while (case := read_frame(cases)) is not None:
            write_frame(results, _result(function, case))


def _result(function: Callable[[Any], Any], case: bytes) -> bytes:
    """What the function returns, with True, or what it raises, with False."""
    try:
        return pickle.dumps((True, function(pickle.loads(case))))
    except Exception as error:
        try:
            return pickle.dumps((False, error))
        except Exception:  # of what the error has
            return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))


if __name__ == "__main__":
    main()
