# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Runs CMake to determine what an application declares.

CMake configures the application in a scratch folder, confined to it where the workstation can do that, with
the functions of recorder.cmake as those of CAmkES. Compilers are not probed (cache.cmake). Otherwise it is
CMake as it is, so an application means here what it means in a build.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from camkes import sandbox
from camkes.diagnostics import Sink
from camkes.process import Finished, disk_error, run
from camkes.process.limits import low_limits
from camkes.project import codemodel, records
from camkes.project.codes import CMAKE_FAILED, CMAKE_LIMIT, CMAKE_MESSAGE, CMAKE_MISSING, CMAKE_SYNTAX
from camkes.project.compilers import Compilers
from camkes.project.inputs import CMakeInputs, UnknownInputError, replies, variables_of
from camkes.project.places import read_text, span_of
from camkes.project.usage import Usage
from camkes.resources import HOST_KERNEL

HERE = Path(__file__).parent
TIMEOUT, CPU_SECONDS, MEMORY, FILE_SIZE = 30, 10, 2**30, 2**26
#: Of all processes together, and of the scratch folder.
PROCESSES, GROUP_MEMORY, FILES, FILES_SIZE = 100, 2**31, 20_000, 2**29
_LONGEST_MESSAGES = 2**20
_LAST_LINES = 10  # of what commands print
_NINJAS = ("[", "cd ", "FAILED:", "ninja: build stopped")  # begin lines of Ninja among them

_BLOCK = re.compile(r"^CMake (Error|Warning|Deprecation Warning)\b(?: \([\w-]+\))?", re.MULTILINE)
_PLACE = re.compile(r" at (?P<file>.+?):(?P<line>\d+)(?: \((?P<command>[^)]*)\))?:\n(?P<text>.*)", re.DOTALL)
_LOGICAL = re.compile(r"(?P<file>\S[^\n]*):(?P<line>\d+) \((?P<command>\w+)\)")
_CALL = re.compile(r"^  (?P<file>\S.*?):(?P<line>\d+) \((?P<command>[^)]*)\)$", re.MULTILINE)
_UNUSED = re.compile(r"Manually-specified variables were not used by the project:\n\n(.*?)\n\n", re.DOTALL)
#: in messages of CMake about files that are not there
LACKS = re.compile(
    r"could not find\s+requested\s+file|include called\s+with\s+wrong\s+number|By\s+not\s+providing"
    r"|Could\s+not\s+find\s+a\s+package"
)
_NO_TARGET = re.compile(
    r"target\s+was\s+not\s+found|target\s+\"[^\"]*\"\s+not\s+found|no\s+target\s+\"", re.IGNORECASE
)
_NAME = re.compile(r"\$\{(\w+)\}")
_UNUSABLE = re.compile(r"[\\;|]")


class Question(NamedTuple):
    """The input of a run of CMake: the CMakeLists.txt `lists`. `host` are variables that a workspace
    would set, `definitions` the user's; `cmake` and `ninja` are programs. `build` is the folder that CMake
    works in."""

    lists: Path
    host: Mapping[str, str]
    definitions: Mapping[str, str]
    cmake: str
    ninja: str
    compilers: Compilers
    build: Path


class CMakeResult(NamedTuple):
    """An answer, and the replies of the file system that it depends on; None where these are not known.
    `variables` are the environment variables that CMake text names, with their values."""

    answer: records.Answer
    replies: dict[str, str] | None
    variables: dict[str, str | None]


def find_cmake() -> str | None:
    """The program: that of the package of its name, or else the one on the search path. What is installed
    beside Python is a script in Python that starts the former."""
    package = find_spec("cmake")
    for folder in (package and package.submodule_search_locations) or ():
        program = Path(folder, "data", "bin", "cmake")
        if os.access(program, os.X_OK):
            return str(program)
    return _find_program("cmake")


def find_ninja() -> str | None:
    """The program, as `find_cmake`, or that of the package of its name."""
    found = _find_program("ninja")
    if found is None:
        try:
            from ninja import BIN_DIR
        except ImportError:
            return None
        found = shutil.which("ninja", path=BIN_DIR)
    return found


def _find_program(name: str) -> str | None:
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.is_file() else shutil.which(name)


def ask(question: Question, sink: Sink) -> CMakeResult | None:
    """Run CMake; None after a diagnostic. OSError where the scratch folder cannot be written."""
    if not _can_name((question.lists.parent, question.build), sink):
        return None
    named, _ = variables_of([read_text(question.lists)])
    wrapped = "cmake_minimum_required" not in read_text(question.lists).lower()
    while True:
        started = _clock(question.build)
        source = question.build / "source" if wrapped else question.lists.parent
        finished = _configure(question, source, _environment(question.build, named))
        commands = records.read_trace(question.build / "trace.json", source)
        found = records.read_records(question.build / "records")
        messages = _CMakeMessages(question, finished.output, commands)
        failed = not found or found[-1] != ["end"] or len(found[0]) < 2 or messages.not_configured
        failed = failed or finished.timed_out
        again = not finished.timed_out
        if failed and again and not wrapped and messages.lacks_ours():
            wrapped = True
            continue
        files = _files_read(question.build)
        own = [file for file, is_cmakes in files or [] if not is_cmakes] or [c.file for c in commands]
        more, whole = variables_of(map(read_text, map(Path, dict.fromkeys(own))))
        more |= set() if whole else os.environ.keys()  # a name that is computed can be any
        if not (again and any(name in os.environ for name in more - named)):
            break
        named |= more  # again, now that it is known what may be looked at
    if failed:
        _raise_if_unwritable(question.build, finished.output)
        messages.report(finished, sink)
        remove(question.build)
        return None
    answer = records.collect(found, commands, question.lists)
    answer.groups.update(codemodel.read_groups(question.build, str(question.build / "records")))
    answer.files = [file for file in dict.fromkeys(own) if messages.is_users(file)]
    if str(question.lists) not in answer.files:
        answer.files.insert(0, str(question.lists))
    answer.warnings = messages.warnings()
    answer.unused = messages.unused()
    answer.known = _known(found, answer)
    made = _has_commands(commands, messages)
    if made:
        answer.not_made = _run_commands(question, answer, _environment(question.build, named))
    whole = whole and not made  # what the commands read is not known
    stored = _replies(question, files, found[0][1], commands, started) if whole else None
    return CMakeResult(answer, stored, {name: os.environ.get(name) for name in sorted(named | more)})


def _in_lists(name: str) -> bool:
    """Whether it can be an item of a list. A bracket without its other one keeps items together."""
    return _UNUSABLE.search(name) is None and name.count("[") == name.count("]")


def _can_name(folders: Sequence[Path], sink: Sink) -> bool:
    """Lists of CMake and rules of Ninja have no way to write some characters."""
    unusable = next((name for name in map(str, folders) if not _in_lists(name)), None)
    if unusable is not None:
        sink.report(
            CMAKE_FAILED,
            f"the name `{unusable}` contains a character that CMake cannot write in lists of files",
            help="rename the folder",
        )
    return unusable is None


def _raise_if_unwritable(build: Path, said: str) -> None:
    """CMake fails without a word that helps where its folder is full, or was removed."""
    if not build.is_dir():
        raise FileNotFoundError(errno.ENOENT, "it was removed while it was in use", str(build))
    error = disk_error(said, build, mistake="CMake Error at" in said)
    if error is not None:
        raise error


def _clock(build: Path) -> int:
    """The time of the file system, in nanoseconds: the time of a file that was made just now, the first in
    the folder. What an application left there may lead elsewhere."""
    remove(build)
    build.mkdir(parents=True, exist_ok=True)
    mark = build / "started"
    mark.write_bytes(b"")
    return mark.stat().st_ctime_ns


def _environment(build: Path, named: set[str]) -> dict[str, str]:
    """What CMake sees of ours: no more than it needs, and what the application's text names."""
    keep = {name: os.environ[name] for name in {"PATH", "HOME", *named} if name in os.environ}
    return {**keep, "LC_ALL": "C", "TMPDIR": str(build)}


def _configure(question: Question, source: Path, environment: dict[str, str]) -> Finished:
    """Run CMake on the folder `source`: the application's, or one for a project around it, as a workspace is.
    That is needed where functions of CAmkES are called before project(), or there is no minimum version."""
    build = question.build
    if source != question.lists.parent:
        source.mkdir(parents=True)
        folder = _quoted(str(question.lists.parent))
        around = (
            "cmake_minimum_required(VERSION 3.16)\n"
            "project(workspace C CXX ASM)\n"
            f"set(CMAKE_SOURCE_DIR {folder})\n"
            f"add_subdirectory({folder} application)\n"
        )
        (source / "CMakeLists.txt").write_text(around, encoding="utf-8", errors="surrogateescape")
    (build / ".cmake/api/v1/query").mkdir(parents=True)
    for query in ("cmakeFiles-v1", codemodel.QUERY):
        (build / ".cmake/api/v1/query" / query).touch()
    initial = build / "initial.cmake"
    lines = [f'set({k} {_quoted(v)} CACHE INTERNAL "")\n' for k, v in question.host.items()]
    lines += [
        f"set(CAMKES_MACHINE {_quoted(os.uname().machine)})\n",
        f"set(CAMKES_COMPILERS {_quoted(str(build / 'CMakeFiles'))})\n",
        f"set(CAMKES_NINJA {_quoted(question.ninja)})\n",
        f'set(CAMKES_HOST_KERNEL {_quoted(str(HOST_KERNEL))} CACHE INTERNAL "")\n',
        *(f"set({k} {_quoted(v)})\n" for k, v in question.compilers.variables().items()),
        f'set(CAMKES_RECORDS {_quoted(str(build / "records"))} CACHE INTERNAL "")\n',
        f"include({_quoted(str(HERE / 'cache.cmake'))})\n",
    ]
    initial.write_text("".join(lines), encoding="utf-8", errors="surrogateescape")
    command = [
        *(question.cmake, "-S", str(source), "-B", str(build), "-G", "Ninja"),
        *("-C", str(initial), "--log-level=WARNING", "-Wno-dev"),
        *("--trace-expand", "--trace-format=json-v1", f"--trace-redirect={build / 'trace.json'}"),
        *(f"-D{name}={value}" for name, value in question.definitions.items()),
    ]
    return _run_confined(command, build, environment)


def _run_confined(command: Sequence[str], build: Path, environment: Mapping[str, str]) -> Finished:
    """Run a program within the limits, in a folder that is all it can write."""
    confined = sandbox.command(
        command,
        writable=str(build) if sandbox.available() else None,
        cpu_seconds=CPU_SECONDS,
        memory=MEMORY,
        file_size=FILE_SIZE,
    )
    log = build / "messages"
    remove(log)  # what an application has put there may lead elsewhere
    usage = Usage(build, PROCESSES, GROUP_MEMORY, FILES, FILES_SIZE)
    finished = run(confined, cwd=build, env=environment, timeout=TIMEOUT, log=log, within=usage.within)
    stopped = finished.timed_out or not usage.files_within()
    try:
        text = records.read_made(log, _LONGEST_MESSAGES).decode("utf-8", "surrogateescape")
    except OSError:
        text = ""  # the application took it away
    return Finished(finished.status, text, "", stopped)


def _has_commands(commands: list[records.CMakeCommand], messages: _CMakeMessages) -> bool:
    """Whether the application declares commands that a build runs."""
    names = ("add_custom_command", "add_custom_target")
    return any(each.name.lower() in names and messages.is_users(each.file) for each in commands)


def _run_commands(question: Question, answer: records.Answer, environment: Mapping[str, str]) -> list[str]:
    """Let the commands run that make sources and headers of components; the messages if that fails."""
    build = question.build
    targets = [codemodel.READY + name for name in answer.groups if name.startswith(codemodel.UNIT)]
    said: list[str] = []
    while targets and not said:
        finished = _run_confined([question.ninja, "-k", "0", "-j", "2", *targets], build, environment)
        if finished.timed_out:
            return ["it did not finish within its limits"]
        if finished.status:
            lines = [line.rstrip() for line in finished.output.splitlines()]
            said = [line for line in lines if not line.startswith(_NINJAS)][-_LAST_LINES:]
            if "ninja: error: unknown target" in finished.output:
                said = ["CMake makes it only where a target of the same folder has it as a source"]
        # then what commands of other folders make, which no target depends on
        own = [Path(name) for name in answer.generated if Path(name).is_relative_to(build)]
        left = [str(path.relative_to(build)) for path in own if not path.exists()]
        targets = left if targets != left else []
    return said


def remove(path: Path) -> None:
    """Remove a scratch folder, however deep it is, or what is in one."""
    if os.path.lexists(path):
        rm = shutil.which("rm", path=os.defpath) or "rm"  # shutil.rmtree() does not reach the deepest
        run([rm, "-rf", "--", str(path)])


def _quoted(text: str) -> str:
    """A bracket argument: CMake takes it as it is."""
    level = "="
    while f"]{level}]" in text:
        level += "="
    return f"[{level}[{text}]{level}]"


def _files_read(build: Path) -> list[tuple[str, bool]] | None:
    """The files that CMake read, and whether it came with them; None if CMake did not come that far."""
    import json

    for reply in (build / ".cmake/api/v1/reply").glob("cmakeFiles-v1-*.json"):
        try:
            content = json.loads(records.read_made(reply).decode("utf-8", "surrogateescape"))
            source = content["paths"]["source"]
            whole = [(os.path.join(source, i["path"]), i.get("isCMake", False)) for i in content["inputs"]]  # noqa: PTH118
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            continue  # the application has put it there
        return [(os.path.normpath(path), own) for path, own in whole]
    return None


def _replies(
    question: Question,
    files: list[tuple[str, bool]] | None,
    root: str,
    commands: list[records.CMakeCommand],
    started: int,
) -> dict[str, str] | None:
    """What the file system replies to all questions of the run, unless something changed meanwhile."""
    if files is None:
        return None
    inputs = CMakeInputs(question.build, root)
    inputs.read(file for file, _ in files)
    try:
        inputs.run(commands)
        stored = replies(inputs.questions)
    except UnknownInputError:
        return None
    for _, path in inputs.questions:
        if os.path.exists(path) and os.stat(path).st_ctime_ns >= started:  # noqa: PTH110, PTH116
            return None
    return stored


def _known(found: list[list[str]], answer: records.Answer) -> list[str]:
    """Names that a misspelt definition can have: those of the cache, and those the files use."""
    names = {name for kind, *rest in found if kind == "cache" for name in rest}
    for file in answer.files:
        names.update(_NAME.findall(read_text(Path(file))))
    names = {name for name in names if not name.startswith(("CMAKE_", "CAMKES_", "ARG", "_"))}
    return sorted({*names, "CMAKE_BUILD_TYPE", "CMAKE_C_FLAGS", "CMAKE_CXX_FLAGS"})


class _CMakeMessages:
    """What CMake wrote, and where in the user's files that is."""

    def __init__(self, question: Question, text: str, commands: list[records.CMakeCommand]) -> None:
        self._question = question
        self._text = text
        self._commands = commands
        starts = [match.start() for match in _BLOCK.finditer(text)]
        self._blocks = [text[a:b] for a, b in itertools.pairwise([*starts, len(text)])]

    def unused(self) -> list[str]:
        match = _UNUSED.search(f"{self._text}\n\n")
        names = match[1].split() if match else []
        return [name for name in names if name in self._question.definitions]

    @property
    def not_configured(self) -> bool:
        """Whether CMake gave up. That targets of a workspace are not there is not a mistake: they are looked
        for when everything is declared."""
        failed = [block for block in self._blocks if block.startswith("CMake Error")]
        other = any(not _NO_TARGET.search(block) for block in failed)
        return "Configuring incomplete" in self._text or ("Generate step failed" in self._text and other)

    def lacks_ours(self) -> bool:
        """Whether a function of CAmkES was called before project() brought it."""
        names = {name.lower() for name in re.findall(r'Unknown CMake command\s+"(\w+)"', self._text)}
        return not names.isdisjoint(_before_project())

    def warnings(self) -> list[tuple[str, int, str]]:
        """The warnings of message(WARNING): the file, the line, the text."""
        found: list[tuple[str, int, str]] = []
        for block in self._blocks:
            place = _PLACE.search(block)
            if block.startswith("CMake Warning") and place and place["command"] == "message":
                file, line = self._users(place["file"], int(place["line"]), block)
                found.append((file, line, _flat(place["text"])))
        return list(dict.fromkeys(found))

    def report(self, finished: Finished, sink: Sink) -> None:
        """Report CMake's errors at the user's line."""
        killed = finished.status < 0 or finished.status >= 128
        if finished.timed_out or killed or "bad_alloc" in self._text:
            self._limit(sink)
            return
        errors = [block for block in self._blocks if block.startswith("CMake Error")]
        errors = [block for block in errors if "No cmake_minimum_required" not in block] or errors
        lacking = [n for n, block in enumerate(errors) if LACKS.search(block)]
        errors = errors[: lacking[0] + 1] if lacking else errors  # what follows comes of that
        without = [block for block in errors if "No SOURCES given to target" not in block]
        errors = without or errors  # a source is missing, which CMake reports, too
        reported = [self._error(block, sink) for block in errors]
        if not any(reported):
            lines = [line.strip() for line in self._text.splitlines() if line.strip()]
            message = "CMake could not read this application"
            span = span_of(str(self._question.lists), 1)
            notes = lines[-10:] or ["it printed no message"]
            sink.report(CMAKE_FAILED, message, span, notes=[*notes, *low_limits()])

    def _limit(self, sink: Sink) -> None:
        last = next((c for c in reversed(self._commands) if self.is_users(c.file)), None)
        span = span_of(last.file, last.line, last.name) if last else span_of(str(self._question.lists), 1)
        limits = (
            f"{CPU_SECONDS} s of processor time, {TIMEOUT} s in all, {MEMORY // 2**20} MiB of memory"
            f" ({GROUP_MEMORY // 2**20} MiB with the programs it starts), {PROCESSES} processes,"
            f" {FILES} files with {FILES_SIZE // 2**20} MiB"
        )
        message = "CMake did not finish within its limits"
        notes = [f"the limits are {limits}", *low_limits()]
        sink.report(CMAKE_LIMIT, message, span, "the last command that was run", notes=notes)

    def _error(self, block: str, sink: Sink) -> bool:
        place = _PLACE.search(block)
        if place is None:
            return self._elsewhere(block, sink)
        command, text = place["command"] or "", _flat(place["text"])
        file, line = self._users(place["file"], int(place["line"]), block)
        span = span_of(file, line, command)
        if command.lower() == "message":
            sink.report(CMAKE_MESSAGE, text, span, "reported by the application")
        elif text.startswith(("Parse error", "Flow control", "A logical block")) or not command:
            sink.report(CMAKE_SYNTAX, text, span)
        else:
            sink.report(CMAKE_FAILED, text, span)
        return True

    def _elsewhere(self, block: str, sink: Sink) -> bool:
        """An error whose place is in its text, or nowhere."""
        text = _flat(block.partition("\n")[2] if ":\n" in block or " in " in block else block)
        inside = _LOGICAL.search(block.partition("\n")[2])
        if inside is not None:
            span = span_of(self._whole(inside["file"].strip()), int(inside["line"]), inside["command"])
            sink.report(CMAKE_SYNTAX, text, span)
            return True
        if not text or "Configuring incomplete" in text:
            return False
        sink.report(CMAKE_FAILED, text, span_of(str(self._question.lists), 1))
        return True

    def _whole(self, file: str) -> str:
        return os.path.normpath(os.path.join(self._question.lists.parent, file))  # noqa: PTH118

    def is_users(self, file: str) -> bool:
        """Whether a file is neither CMake's nor ours."""
        foreign = (str(HERE), str(self._question.build))
        return not file.startswith(foreign) and "/Modules/" not in file

    def _users(self, file: str, line: int, block: str) -> tuple[str, int]:
        """The innermost place of a message that is in a file of the user."""
        calls = [(self._whole(c["file"]), int(c["line"])) for c in _CALL.finditer(block)]
        for place in ((self._whole(file), line), *calls):
            if self.is_users(place[0]):
                return place
        return self._whole(file), line


def _before_project() -> set[str]:
    """The functions and macros of recorder.cmake and what it includes, in lower case."""
    text = "\n".join(map(read_text, (records.RECORDER, records.RECORDER.with_name("config.cmake"))))
    return {name.lower() for name in re.findall(r"^\s*(?:function|macro)\((\w+)", text, re.MULTILINE)}


def _flat(text: str) -> str:
    """The text of a message as one line."""
    first = text.split("\n\n\n")[0]
    return " ".join(re.split(r"\n\s*Call Stack \(most recent call first\)", first)[0].split())


def missing(lists: Path, sink: Sink) -> None:
    """Report that CMake is not installed."""
    help = "install it (apt install cmake), or remove CMakeLists.txt: sources are then found by their names"
    sink.report(CMAKE_MISSING, "CMake is not installed", span_of(str(lists), 1), help=help)
