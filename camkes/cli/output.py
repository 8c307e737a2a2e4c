# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What commands write: messages, colours, progress; and their exit statuses."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from camkes.diagnostics import Severity, Sink
from camkes.diagnostics.words import plural
from camkes.process import VisibleStream
from camkes.visible import visible_line

GOOD, USER_ERROR, USAGE, DEFECT = 0, 1, 2, 3
INTERRUPTED = 130  # as a shell reports SIGINT


def wants_color(arguments: argparse.Namespace, stream: object) -> bool:
    if arguments.color != "auto":
        return bool(arguments.color == "always")
    isatty = getattr(stream, "isatty", None)
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return bool(isatty and isatty()) and not plain


def for_machines(arguments: argparse.Namespace) -> bool:
    """Whether errors are written as one document for programs."""
    return arguments.format in ("json", "sarif")


def write_diagnostics(arguments: argparse.Namespace, sink: Sink) -> int:
    """Write all diagnostics; the exit status that follows from them. With --strict, of commands that have
    it, a warning fails."""
    diagnostics = sink.diagnostics
    strict = getattr(arguments, "strict", False)
    if arguments.quiet and not strict:
        diagnostics = tuple(d for d in diagnostics if d.severity.value == "error")
    machine = for_machines(arguments)
    stream = sys.stdout if machine and not arguments.has_results else sys.stderr
    if diagnostics or machine:
        from camkes.diagnostics import rendering

        style = rendering.Style(
            form=rendering.Form(arguments.format),
            color=not machine and wants_color(arguments, stream),
            unicode=not arguments.ascii and can_draw(stream),
        )
        text = rendering.render(diagnostics, style)
        stream.write(text if text.endswith("\n") else text + "\n")
    warned = any(diagnostic.severity is Severity.WARNING for diagnostic in diagnostics)
    return USER_ERROR if sink.has_errors or (strict and warned) else GOOD


def write_exactly(text: str) -> None:
    """Write a result that other programs read as it is; a terminal shows what is hidden in it."""
    if isinstance(sys.stdout, VisibleStream):
        sys.stdout.write_exactly(text)
    else:
        sys.stdout.write(text)


def can_draw(stream: object) -> bool:
    """Whether the stream takes box-drawing characters."""
    encoding = getattr(stream, "encoding", None) or "ascii"
    return encoding.lower().replace("-", "").startswith("utf")


def count(items: Sequence[object], name: str) -> str:
    return f"{len(items)} {plural(len(items), name)}"


def say_of_host_kernel(step: str) -> None:
    """A line where the host kernel is compiled: the first build takes longer than all others."""
    from camkes.backends.host.jobs import HOST_KERNEL_STEP

    if step == HOST_KERNEL_STEP:
        text = "compiling the host kernel, once for this compiler"
        if isinstance(sys.stderr, VisibleStream) and sys.stderr.isatty():
            sys.stderr.write_over(text)
            text = ""
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


class Progress:
    """One line on a terminal with the current step. Elsewhere only what takes long is said."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.quiet = arguments.quiet
        self.shown = sys.stderr.isatty() and not self.quiet
        self.width = 0

    def __call__(self, text: str) -> None:
        if not text:
            self.clear()
        elif self.shown:
            text = visible_line(text[:100])
            self._write(text.ljust(self.width))
            self.width = len(text)
        elif not self.quiet:
            say_of_host_kernel(text)

    def clear(self) -> None:
        if self.shown and self.width:
            self._write(" " * self.width)
            self._write("")
            self.width = 0

    def _write(self, text: str) -> None:
        """Write over the line."""
        if isinstance(sys.stderr, VisibleStream):
            sys.stderr.write_over(text)
