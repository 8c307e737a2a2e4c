# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Runs the preprocessor within limits of time, memory and output: a file may expand without bound."""

from __future__ import annotations

import errno
import re
import resource
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from camkes.diagnostics import Sink, SourceFile, Span
from camkes.parser import codes
from camkes.parser.files import read_meaning
from camkes.process import Finished, StartedProgram, disk_error

if TYPE_CHECKING:
    from typing import IO

#: Seconds in all and of the processor, bytes of memory and of output.
TIMEOUT, CPU_SECONDS, MEMORY, OUTPUT = 20, 5, 2**29, 2**24
#: How long a run may last, in seconds, before it is looked for what it may wait for.
_PATIENCE = 1
_INCLUDED = re.compile(
    r"^[ \t]*#[ \t]*(?:include|include_next|import|embed)[ \t]*"
    r'(?:"(?P<own>[^"\n]+)"|<(?P<system>[^>\n]+)>|(?P<macro>[^\W\d][^\n]*))',
    re.MULTILINE,
)
_DEFINITION = re.compile(r"^[ \t]*#[ \t]*(?:define|undef)\b(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_MARK = "camkes_included"
_MARKED = re.compile(rf'^{_MARK}\s+(?:"([^"\n]+)"|<\s*([^>\n]+?)\s*>)', re.MULTILINE)
_MOST_INCLUDED = 1000
#: Messages of compilers that reached a limit.
_KILLED = re.compile(
    "out of memory|virtual memory exhausted|[Cc]annot allocate|Killed|Terminated signal|internal compiler"
    "|File too large|CPU time limit"
)


def run_limited(command: list[str], text: str, waits: Callable[[], object]) -> tuple[Finished, str]:
    """Run a program within the limits; returns also why it was stopped (empty: it was not). Raises OSError.
    `waits`: it may wait for ever. What is not UTF-8 is in the output as in a path."""
    limits = {
        resource.RLIMIT_CPU: CPU_SECONDS,
        resource.RLIMIT_AS: MEMORY,
        resource.RLIMIT_FSIZE: OUTPUT,
    }
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(text.encode(errors="surrogateescape"))
        given.seek(0)
        why = ""
        with StartedProgram(command, stdin=given, stdout=out, stderr=err, limits=limits) as program:
            try:
                program.wait(_PATIENCE)
            except TimeoutError:
                try:
                    program.wait(0 if waits() else TIMEOUT - _PATIENCE)
                except TimeoutError:
                    why = f"it did not finish within {TIMEOUT} seconds"
        status = program.wait()
        size = out.seek(0, 2)
        errors = _start_of(err, OUTPUT // 64)
        if not why and (status < 0 or status >= 128 or _KILLED.search(errors)):
            why = (
                f"it needs more than {CPU_SECONDS} seconds of processor time, {MEMORY // 2**20} MiB of memory"
            )
            why += f" or {OUTPUT // 2**20} MiB for its output"
        if status > 0 and not why:
            error = disk_error(errors, mistake=": error: " in errors)
            if error is not None:
                raise error
        return Finished(status, "" if why or not size else _start_of(out, OUTPUT), errors), why


def _start_of(file: IO[bytes], most: int) -> str:
    file.seek(0)
    return file.read(most).decode(errors="surrogateescape").replace("\r\n", "\n").replace("\r", "\n")


def special_file(root: SourceFile, command: Sequence[str]) -> tuple[Path, Span] | None:
    """A file that is included and is not a regular file (a device, a pipe), and where that is; None if there
    is none. `command` is the preprocessor with its flags."""
    folders = [Path(flag[2:]) for flag in command if flag.startswith("-I")]
    sources, seen = [root], {str(root.path)}
    for source in sources:
        for match in _INCLUDED.finditer(source.text):
            line = source.text.count("\n", 0, match.start()) + 1
            written = match["own"] or match["system"] or match["macro"]
            name = _value_of(written, command, sources) if match["macro"] else written
            for folder in (source.path.parent, *folders):
                path = folder / name
                if path.is_file() and str(path) not in seen and len(seen) < _MOST_INCLUDED:
                    seen.add(str(path))
                    inner = read_meaning(path, Sink())
                    sources += [inner] if inner is not None else []
                elif name and path.exists() and not path.is_file() and not path.is_dir():
                    start = match.start(match.lastgroup or 0) - source.text.rfind("\n", 0, match.start())
                    around = 0 if match["macro"] else 1  # a quote
                    span = Span(source, line, start - around, line, start + len(written) + around)
                    return path, span
                if path.exists():
                    break
    return None


def _value_of(written: str, command: Sequence[str], sources: Sequence[SourceFile]) -> str:
    """The name of the file that `#include WRITTEN` reads, as the preprocessor expands it with the definitions
    of the sources; empty if it does not list them."""
    definitions = [match[0] for source in reversed(sources) for match in _DEFINITION.finditer(source.text)]
    text = "\n".join([*definitions, f"{_MARK} {written}", ""])
    try:
        found, _ = run_limited([*command, "-P", "-"], text, lambda: True)
    except OSError:
        return ""
    value = _MARKED.search(found.output)
    return (value[1] or value[2]) if value is not None else ""


class PreprocessorCommand:
    """The preprocessor's command with the user's flags. `source` is the file whose expansion is wanted."""

    def __init__(self, source: SourceFile, sink: Sink, name: str, flags: Sequence[str]) -> None:
        self.source = source
        self.sink = sink
        self.flags = flags
        self.command = [*_preprocessor(name), *flags]

    def run(self, arguments: list[str], text: str = "") -> Finished | None:
        """Run the preprocessor, within limits; None after a diagnostic."""
        try:
            found, why = run_limited(
                [*self.command, *arguments], text, lambda: special_file(self.source, self.command)
            )
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            full = error.filename if isinstance(error, OSError) and error.errno == errno.ENOSPC else None
            self.sink.report(
                codes.PREPROCESSOR_MISSING,
                f"cannot run the C preprocessor `{self.command[0]}`: {reason}",
                first_directive(self.source),
                "this line needs the preprocessor",
                help=f"free space in {full}, or set TMPDIR to another folder"
                if full
                else "install a C compiler, or name its preprocessor",
            )
            return None
        if not why:
            return found
        special = special_file(self.source, self.command)
        if special is not None:
            path, span = special
            self.sink.report(codes.FILE_UNREADABLE, f"`{path}` is not a regular file", span)
        else:
            self.sink.report(
                codes.PREPROCESSOR_LIMIT,
                f"the C preprocessor was stopped: {why}",
                first_directive(self.source),
                "the first directive of the file",
                help="look for a macro that grows with each expansion, or a file that includes itself",
            )
        return None


def _preprocessor(name: str) -> list[str]:
    """The command; a C compiler takes the place of a missing `cpp`."""
    if name == "cpp" and shutil.which(name) is None:
        for compiler in ("cc", "gcc", "clang"):
            if shutil.which(compiler):
                return [compiler, "-E", "-xc"]
    return [name]


def first_directive(source: SourceFile) -> Span | None:
    """The place to show when the preprocessor cannot run."""
    for number, line in enumerate(source.lines, 1):
        if line.lstrip().startswith("#"):
            indent = len(line) - len(line.lstrip())
            return Span(source, number, indent + 1, number, len(line.rstrip()) + 1)
    return None
