# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Runs the part of CMake's language that applications are written in.

What is not in this part and could matter raises `UnknownError`; the caller then asks CMake itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from camkes.cmakelists.codes import CMAKE_MESSAGE, CMAKE_WARNING
from camkes.cmakelists.declarations import (
    FUNCTIONS,
    Call,
    ComponentBuild,
    Declarations,
    absolute,
    declare,
)
from camkes.cmakelists.syntax import Argument, CMakeSyntaxError, Command, Quoting, parse
from camkes.diagnostics import Sink, SourceFile, Span
from camkes.records import NamedTuple

#: commands that change nothing a component is built from
_HARMLESS = """cmake_minimum_required cmake_policy enable_testing add_test add_simulate_test add_dependencies
    add_custom_target find_package mark_as_advanced config_option config_string config_choice
    add_config_library applycommonsimulationsettings applycommonreleaseverificationsettings
    applydata61elfloadersettings camkes_tool_setup_camkes_build_environment
    camkes_tool_import_libraries
    sel4_projects_libs_import_libraries sel4_configure_platform_settings generatesimulatescript
    setsimulationscriptproperty correct_platform_strings include_guard externalproject_add
"""
HARMLESS = frozenset(_HARMLESS.split())
_MODULES = ("externalproject", "simulation", "application_settings", "gnuinstalldirs", "ctest")
_BLOCKS = {"if": "endif", "foreach": "endforeach", "function": "endfunction", "macro": "endmacro"}
_REFERENCE = r"(?<!\\)\$(ENV|CACHE)?\{([^${}]*)\}"
_ESCAPE = r"(?s)\\(.)"
_CONTROL = {"t": "\t", "n": "\n", "r": "\r"}
_FALSE = frozenset({"", "0", "OFF", "NO", "FALSE", "N", "IGNORE", "NOTFOUND"})
_TRUE = frozenset({"1", "ON", "YES", "TRUE", "Y"})
_MAX_DEPTH = 100


class UnknownError(Exception):
    """Something only CMake itself can say."""

    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span


class StoppedError(Exception):
    """message(FATAL_ERROR)."""


class _Return(Exception):  # noqa: N818
    pass


class _Break(Exception):  # noqa: N818
    pass


class _Continue(Exception):  # noqa: N818
    pass


class _Routine(NamedTuple):
    parameters: tuple[str, ...]
    body: tuple[Command, ...]
    is_macro: bool
    folder: Path


class _Frame(NamedTuple):
    """Variables of a scope; a macro's parameters are text, replaced before variables are looked up."""

    variables: dict[str, str]
    parent: _Frame | None


class Evaluator:
    """Runs a CMakeLists.txt; what it declares is in `declarations`."""

    def __init__(self, variables: Mapping[str, str], sink: Sink) -> None:
        self.declarations = Declarations()
        self._sink = sink
        self._frame = _Frame(dict(variables), None)
        self._cache: dict[str, str] = {}
        self._routines: dict[str, _Routine] = {}
        self._root = self._file = Path()
        self._source_folder = Path()
        self._depth = 0
        self._commands: dict[str, Callable[[Command, list[str]], None]] = {
            "project": self._project,
            "set": self._set,
            "unset": self._unset,
            "option": self._option,
            "message": self._message,
            "include": self._include,
            "add_subdirectory": self._add_subdirectory,
            "list": self._list,
            "string": self._string,
            "file": self._files,
            "get_filename_component": self._filename,
            "cmake_parse_arguments": self._parse_arguments,
            "add_custom_command": self._custom_command,
            "includeglobalcomponents": self._global_components,
            "global_components_import_project": self._global_components,
            "add_library": self._library,
            "target_include_directories": self._library_part,
            "target_link_libraries": self._library_part,
            "target_compile_options": self._library_part,
            "target_compile_definitions": self._library_part,
        }

    def run(self, file: Path) -> None:
        """Run a file as a folder's CMakeLists.txt. Raises UnknownError, StoppedError, CMakeSyntaxError,
        OSError."""
        self.run_text(file, file.read_text(encoding="utf-8", errors="replace"))

    def run_text(self, file: Path, text: str) -> None:
        """Run `text` as the text of a file."""
        self._root = file
        self.enter(file.parent)
        self._run_source(SourceFile(file, text))

    def enter(self, folder: Path) -> None:
        """Set the variables that name the folders of a project."""
        self._source_folder = folder
        self._frame.variables.update(
            CMAKE_SOURCE_DIR=str(folder),
            CMAKE_BINARY_DIR=str(folder / "build"),
            CMAKE_CURRENT_SOURCE_DIR=str(folder),
            CMAKE_CURRENT_BINARY_DIR=str(folder / "build"),
            PROJECT_SOURCE_DIR=str(folder),
        )

    # files and blocks

    def _run_file(self, path: Path) -> None:
        self._run_source(SourceFile(path, path.read_text(encoding="utf-8", errors="replace")))

    def _run_source(self, source: SourceFile) -> None:
        self.declarations.files.append(source.path)
        before, self._file = self._file, source.path
        try:
            self._run(parse(source))
        except (_Return, _Break, _Continue):
            pass
        finally:
            self._file = before

    def _run(self, commands: Sequence[Command]) -> None:
        position = 0
        while position < len(commands):
            command = commands[position]
            if command.name not in _BLOCKS:
                self._one(command)
                position += 1
                continue
            end = _end_of_block(commands, position)
            body = commands[position + 1 : end]
            match command.name:
                case "if":
                    self._if(command, body)
                case "foreach":
                    self._foreach(command, body)
                case _:
                    self._define(command, body)
            position = end + 1

    def _one(self, command: Command) -> None:
        name = command.name
        if name in self._routines:
            self._call(self._routines[name], command)
            return
        if name in ("return", "break", "continue"):
            raise {"return": _Return, "break": _Break, "continue": _Continue}[name]
        arguments = list(self._expand(command.arguments, command.span))
        if name in FUNCTIONS:
            call = Call(name, tuple(arguments), self._file.parent, command.span)
            declare(call, self.declarations, self._sink)
        elif name in self._commands:
            self._commands[name](command, arguments)
        elif name not in HARMLESS:
            raise UnknownError(f"unknown command {command.name}", command.span)

    def _if(self, command: Command, body: Sequence[Command]) -> None:
        branches: list[tuple[Command | None, list[Command]]] = [(command, [])]
        depth = 0
        for inner in body:
            if depth == 0 and inner.name in ("elseif", "else"):
                branches.append((inner if inner.name == "elseif" else None, []))
                continue
            depth += (inner.name == "if") - (inner.name == "endif")
            branches[-1][1].append(inner)
        for condition, branch in branches:
            if condition is None or self._condition(condition):
                self._run(branch)
                return

    def _foreach(self, command: Command, body: Sequence[Command]) -> None:
        arguments = list(self._expand(command.arguments, command.span))
        if not arguments:
            raise CMakeSyntaxError("foreach needs a variable", command.span)
        name, rest = arguments[0], arguments[1:]
        saved = self._frame.variables.get(name)
        for item in self._items(rest, command):
            self._frame.variables[name] = item
            try:
                self._run(body)
            except _Break:
                break
            except _Continue:
                continue
        if saved is None:
            self._frame.variables.pop(name, None)
        else:
            self._frame.variables[name] = saved

    def _items(self, rest: list[str], command: Command) -> Iterator[str]:
        if rest[:1] == ["RANGE"]:
            try:
                numbers = [int(n) for n in rest[1:]]
            except ValueError:
                raise UnknownError("this range", command.span) from None
            if len(numbers) == 1:
                numbers.insert(0, 0)
            step = numbers[2] if len(numbers) > 2 else 1
            if len(numbers) < 2 or step <= 0 or (numbers[1] - numbers[0]) // step > 10_000:
                raise UnknownError("this range", command.span)
            yield from map(str, range(numbers[0], numbers[1] + 1, step))
        elif rest[:1] == ["IN"]:
            lists = True
            for word in rest[1:]:
                if word in ("LISTS", "ITEMS"):
                    lists = word == "LISTS"
                elif word == "ZIP_LISTS":
                    raise UnknownError("foreach over several lists", command.span)
                elif lists:
                    yield from _elements(self._lookup(word))
                else:
                    yield word
        else:
            yield from rest

    def _define(self, command: Command, body: Sequence[Command]) -> None:
        arguments = list(self._expand(command.arguments, command.span))
        if not arguments:
            raise CMakeSyntaxError(f"{command.name} needs a name", command.span)
        self._routines[arguments[0].lower()] = _Routine(
            tuple(arguments[1:]), tuple(body), command.name == "macro", self._file.parent
        )

    def _call(self, routine: _Routine, command: Command) -> None:
        values = list(self._expand(command.arguments, command.span))
        if self._depth >= _MAX_DEPTH:
            raise UnknownError("calls without end", command.span)
        bound = dict(zip(routine.parameters, values, strict=False))
        bound["ARGC"] = str(len(values))
        bound["ARGV"] = ";".join(values)
        bound["ARGN"] = ";".join(values[len(routine.parameters) :])
        bound.update({f"ARGV{i}": v for i, v in enumerate(values)})
        self._depth += 1
        frame = self._frame
        try:
            if routine.is_macro:
                self._run([_substitute(c, bound) for c in routine.body])
            else:
                self._frame = _Frame({**frame.variables, **bound}, frame)
                self._frame.variables["CMAKE_CURRENT_FUNCTION_LIST_DIR"] = str(routine.folder)
                self._run(routine.body)
        except (_Return, _Break, _Continue):
            if routine.is_macro:
                raise
        finally:
            self._frame = frame
            self._depth -= 1

    # text

    def _lookup(self, name: str) -> str:
        match name:
            case "CMAKE_CURRENT_LIST_DIR":
                return str(self._file.parent)
            case "CMAKE_CURRENT_LIST_FILE":
                return str(self._file)
        return self._frame.variables.get(name, self._cache.get(name, ""))

    def _defined(self, name: str) -> bool:
        return name in self._frame.variables or name in self._cache

    def _text(self, text: str, span: Span) -> str:
        """`text` with its references replaced, innermost first."""
        for _ in range(_MAX_DEPTH):
            replaced = text
            if "$" in text:
                replaced = re.sub(_REFERENCE, lambda m: self._reference(m[1], m[2]), text)
            if replaced == text and "\\" not in text:
                return text
            if replaced == text:
                return re.sub(_ESCAPE, lambda m: "\\;" if m[1] == ";" else _CONTROL.get(m[1], m[1]), text)
            text = replaced
        raise UnknownError("references without end", span)

    def _reference(self, kind: str | None, name: str) -> str:
        # a value is not searched for references again: hide its dollars and backslashes
        value = os.environ.get(name, "") if kind == "ENV" else self._lookup(name)
        return value.replace("\\", "\\\\").replace("${", "\\${")

    def _expand(self, arguments: Sequence[Argument], span: Span) -> Iterator[str]:
        for argument in arguments:
            if argument.quoting is Quoting.BRACKET:
                yield argument.text
            elif argument.quoting is Quoting.QUOTED:
                yield self._text(argument.text.replace("\\\n", ""), span).replace("\\;", ";")
            else:
                yield from _elements(self._text(argument.text, span))

    # conditions

    def _condition(self, command: Command) -> bool:
        tokens: list[tuple[str, bool]] = []
        for argument in command.arguments:
            quoted = argument.quoting is not Quoting.BARE
            tokens += [(text, quoted) for text in self._expand((argument,), command.span)]
        return _Condition(self, tokens, command.span).value()

    def truth(self, text: str, quoted: bool) -> bool:
        """Is a lone word of a condition true?"""
        upper = text.upper()
        if upper in _TRUE:
            return True
        if upper in _FALSE or upper.endswith("-NOTFOUND"):
            return False
        if re.fullmatch(r"-?\d+(\.\d+)?", text):
            return float(text) != 0
        if quoted or not self._defined(text):
            return False
        value = self._lookup(text).upper()
        return value not in _FALSE and not value.endswith("-NOTFOUND")

    def value(self, text: str, quoted: bool) -> str:
        """An operand: the variable of this name if there is one."""
        return self._lookup(text) if not quoted and self._defined(text) else text

    def test(self, operator: str, text: str, span: Span) -> bool:
        """A condition of one operand."""
        match operator:
            case "DEFINED":
                if text.startswith("ENV{"):
                    return text[4:-1] in os.environ
                return self._defined(text)
            case "EXISTS":
                return absolute(self._source_folder, text).exists() if text else False
            case "IS_DIRECTORY":
                return Path(text).is_dir()
            case "IS_ABSOLUTE":
                return text.startswith("/")
            case "TARGET":
                return text in self.declarations.libraries
            case "COMMAND":
                name = text.lower()
                known = name in self._commands or name in FUNCTIONS or name in self._routines
                return known or name in HARMLESS
        raise UnknownError(f"condition {operator}", span)

    # commands

    def _project(self, command: Command, arguments: list[str]) -> None:
        if arguments and not self.declarations.name and self._file == self._root:
            self.declarations.name = arguments[0]
        self._frame.variables["PROJECT_NAME"] = arguments[0] if arguments else ""
        self._frame.variables.setdefault("CMAKE_PROJECT_NAME", self._frame.variables["PROJECT_NAME"])
        self._frame.variables["PROJECT_SOURCE_DIR"] = str(self._source_folder)

    def _set(self, command: Command, arguments: list[str]) -> None:
        if not arguments:
            raise CMakeSyntaxError("set needs a variable", command.span)
        name, values = arguments[0], arguments[1:]
        if name.startswith("ENV{"):
            return
        if "CACHE" in values:
            index = values.index("CACHE")
            forced = "FORCE" in values[index:] or "INTERNAL" in values[index:]
            value = ";".join(values[:index])
            if forced:
                self._frame.variables.pop(name, None)
            if forced or not self._defined(name):
                self._cache[name] = value
                self._record(name, value)
            return
        frame = self._frame
        if values[-1:] == ["PARENT_SCOPE"]:
            values = values[:-1]
            frame = self._frame.parent or self._frame
        if values or len(arguments) > 1:
            frame.variables[name] = ";".join(values)
            self._record(name, frame.variables[name])
        else:
            frame.variables.pop(name, None)

    def _record(self, name: str, value: str) -> None:
        if name.startswith("CAmkES"):
            self.declarations.options[name] = value

    def _unset(self, command: Command, arguments: list[str]) -> None:
        for name in arguments[:1]:
            self._frame.variables.pop(name, None)
            if "CACHE" in arguments:
                self._cache.pop(name, None)

    def _option(self, command: Command, arguments: list[str]) -> None:
        if arguments and not self._defined(arguments[0]):
            self._cache[arguments[0]] = arguments[2] if len(arguments) > 2 else "OFF"
            self._record(arguments[0], self._cache[arguments[0]])

    def _message(self, command: Command, arguments: list[str]) -> None:
        text = " ".join("".join(arguments[1:]).split())
        match arguments[:1]:
            case ["FATAL_ERROR" | "SEND_ERROR" as kind]:
                self._sink.report(CMAKE_MESSAGE, text, command.span, "the application says so")
                if kind == "FATAL_ERROR":
                    raise StoppedError
            case ["WARNING" | "AUTHOR_WARNING"]:
                self._sink.report(CMAKE_WARNING, text, command.span, "the application says so")

    def _include(self, command: Command, arguments: list[str]) -> None:
        if not arguments or arguments[0].lower() in _MODULES:
            return
        path = absolute(self._source_folder, arguments[0])
        if path.is_file():
            self._nested(command)
            self._run_file(path)
            self._depth -= 1
        elif "OPTIONAL" not in arguments:
            raise UnknownError(f"include of {arguments[0]}", command.span)

    def _add_subdirectory(self, command: Command, arguments: list[str]) -> None:
        folder = absolute(self._source_folder, arguments[0] if arguments else ".")
        file = folder / "CMakeLists.txt"
        if not file.is_file():
            raise UnknownError(f"add_subdirectory of {folder}", command.span)
        self._nested(command)
        frame, source_folder = self._frame, self._source_folder
        self._frame = _Frame(dict(frame.variables), frame)
        self._source_folder = folder
        binary = Path(frame.variables["CMAKE_BINARY_DIR"]) / folder.name
        self._frame.variables.update(
            CMAKE_CURRENT_SOURCE_DIR=str(folder), CMAKE_CURRENT_BINARY_DIR=str(binary)
        )
        try:
            self._run_file(file)
        finally:
            self._frame, self._source_folder = frame, source_folder
            self._depth -= 1

    def _nested(self, command: Command) -> None:
        if self._depth >= _MAX_DEPTH:
            raise UnknownError("files that include each other", command.span)
        self._depth += 1

    def _list(self, command: Command, arguments: list[str]) -> None:
        if len(arguments) < 2:
            raise UnknownError("this use of list", command.span)
        operation, name, rest = arguments[0], arguments[1], arguments[2:]
        elements = list(_elements(self._lookup(name)))
        match operation:
            case "APPEND":
                elements += rest
            case "PREPEND":
                elements = rest + elements
            case "REMOVE_ITEM":
                elements = [e for e in elements if e not in rest]
            case "REMOVE_DUPLICATES":
                elements = list(dict.fromkeys(elements))
            case "REVERSE":
                elements.reverse()
            case "SORT" if not rest:
                elements.sort()
            case "LENGTH" if rest:
                self._frame.variables[rest[0]] = str(len(elements))
                return
            case "FIND" if len(rest) == 2:
                found = elements.index(rest[0]) if rest[0] in elements else -1
                self._frame.variables[rest[1]] = str(found)
                return
            case "JOIN" if len(rest) == 2:
                self._frame.variables[rest[1]] = rest[0].join(elements)
                return
            case _:
                raise UnknownError(f"list({operation})", command.span)
        self._frame.variables[name] = ";".join(elements)

    def _string(self, command: Command, arguments: list[str]) -> None:
        variables = self._frame.variables
        match arguments:
            case ["TOUPPER", text, name]:
                variables[name] = text.upper()
            case ["TOLOWER", text, name]:
                variables[name] = text.lower()
            case ["STRIP", text, name]:
                variables[name] = text.strip()
            case ["REPLACE", old, new, name, *texts] if old:
                variables[name] = "".join(texts).replace(old, new)
            case ["APPEND", name, *texts]:
                variables[name] = self._lookup(name) + "".join(texts)
            case ["CONCAT", name, *texts]:
                variables[name] = "".join(texts)
            case _:
                raise UnknownError(f"string({' '.join(arguments[:1])})", command.span)

    def _files(self, command: Command, arguments: list[str]) -> None:
        if len(arguments) < 2 or arguments[0] not in ("GLOB", "GLOB_RECURSE"):
            raise UnknownError(f"file({' '.join(arguments[:1])})", command.span)
        recursive = arguments[0] == "GLOB_RECURSE"
        name, rest = arguments[1], arguments[2:]
        folders, relative = not recursive, None
        while rest and rest[0] in ("LIST_DIRECTORIES", "RELATIVE", "CONFIGURE_DEPENDS"):
            word = rest.pop(0)
            if word == "LIST_DIRECTORIES" and rest:
                folders = self.truth(rest.pop(0), True)
            elif word == "RELATIVE" and rest:
                relative = Path(rest.pop(0))
        found: set[str] = set()
        for pattern in rest:
            found.update(map(str, _glob(self._source_folder, pattern, recursive, folders)))
        if relative is not None:
            found = {os.path.relpath(f, relative) for f in found}
        self._frame.variables[name] = ";".join(sorted(found))

    def _filename(self, command: Command, arguments: list[str]) -> None:
        if len(arguments) < 3:
            raise UnknownError("this use of get_filename_component", command.span)
        name, text, mode = arguments[:3]
        base = self._source_folder
        if "BASE_DIR" in arguments[:-1]:
            base = Path(arguments[arguments.index("BASE_DIR") + 1])
        file = text.rpartition("/")[2]
        results: dict[str, Callable[[], str]] = {
            "DIRECTORY": lambda: text.rpartition("/")[0],
            "PATH": lambda: text.rpartition("/")[0],
            "NAME": lambda: file,
            "EXT": lambda: file[file.index(".") :] if "." in file else "",
            "LAST_EXT": lambda: file[file.rindex(".") :] if "." in file else "",
            "NAME_WE": lambda: file.partition(".")[0],
            "NAME_WLE": lambda: file.rpartition(".")[0] or file,
            "ABSOLUTE": lambda: str(absolute(base, text)),
            "REALPATH": lambda: os.path.realpath(base / text),
        }
        if mode not in results:
            raise UnknownError(f"get_filename_component({mode})", command.span)
        self._frame.variables[name] = results[mode]()

    def _parse_arguments(self, command: Command, arguments: list[str]) -> None:
        parse_argv = arguments[:1] == ["PARSE_ARGV"]
        if len(arguments) < 4 or parse_argv:
            raise UnknownError("this use of cmake_parse_arguments", command.span)
        # the keyword lists are single arguments: expand them without splitting
        texts = [self._text(a.text, command.span) for a in command.arguments[:4]]
        prefix, flags, single, multi = texts[0], *(set(_elements(t)) for t in texts[1:])
        rest = list(self._expand(command.arguments[4:], command.span))
        values: dict[str, list[str]] = {}
        unparsed: list[str] = []
        current = ""
        for word in rest:
            if word in flags:
                values[word] = ["TRUE"]
                current = ""
            elif word in single or word in multi:
                values.setdefault(word, [])
                current = word
            elif not current:
                unparsed.append(word)
            else:
                values[current].append(word)
                current = "" if current in single else current
        variables = self._frame.variables
        for word in flags:
            variables[f"{prefix}_{word}"] = "TRUE" if word in values else "FALSE"
        for word in single | multi:
            variables.pop(f"{prefix}_{word}", None)
            if values.get(word):
                variables[f"{prefix}_{word}"] = ";".join(values[word])
        variables[f"{prefix}_UNPARSED_ARGUMENTS"] = ";".join(unparsed)

    def _custom_command(self, command: Command, arguments: list[str]) -> None:
        if "OUTPUT" in arguments:
            for word in arguments[arguments.index("OUTPUT") + 1 :]:
                if word.isupper() and "." not in word:
                    break
                self.declarations.generated.add(Path(word).name)

    def _global_components(self, command: Command, arguments: list[str]) -> None:
        self.import_global_components(self._file.parent)

    def import_global_components(self, folder: Path) -> None:
        """Declare the components of the workspace, if `folder` is in one; what they need of other projects
        is left out."""
        name = "global-components"
        for parent in (folder, *folder.parents):
            for candidate in (parent / name, parent / "projects" / name):
                file = candidate / f"{name}.cmake"
                if file.is_file():
                    try:  # noqa: SIM105 - contextlib is slow to import
                        self._run_file(file)
                    except UnknownError:
                        pass
                    return

    # libraries of the application itself

    def _library(self, command: Command, arguments: list[str]) -> None:
        if not arguments:
            raise CMakeSyntaxError("add_library needs a name", command.span)
        kinds = ("INTERFACE", "STATIC", "SHARED", "OBJECT", "MODULE", "EXCLUDE_FROM_ALL")
        sources = [absolute(self._source_folder, a) for a in arguments[1:] if a not in kinds]
        if "ALIAS" in arguments or "IMPORTED" in arguments:
            raise UnknownError("this kind of library", command.span)
        self.declarations.libraries[arguments[0]] = ComponentBuild(tuple(sources), span=command.span)

    def _library_part(self, command: Command, arguments: list[str]) -> None:
        words = ("PUBLIC", "PRIVATE", "INTERFACE", "SYSTEM", "BEFORE", "AFTER")
        values = tuple(a for a in arguments[1:] if a not in words)
        library = self.declarations.libraries.get(arguments[0]) if arguments else None
        if library is None:
            return  # a target of something else
        match command.name:
            case "target_include_directories":
                more = ComponentBuild(includes=tuple(absolute(self._source_folder, v) for v in values))
            case "target_link_libraries":
                more = ComponentBuild(libs=values)
            case "target_compile_options":
                more = ComponentBuild(c_flags=values)
            case _:
                more = ComponentBuild(c_flags=tuple("-D" + v.removeprefix("-D") for v in values))
        self.declarations.libraries[arguments[0]] = library.extended(more)


class _Condition:
    """A condition of `if`, read by descent: OR, AND, NOT, comparisons."""

    def __init__(self, evaluator: Evaluator, tokens: list[tuple[str, bool]], span: Span) -> None:
        self._evaluator = evaluator
        self._tokens = tokens
        self._span = span
        self._position = 0

    def value(self) -> bool:
        result = self._or()
        if self._position != len(self._tokens):
            raise UnknownError("this condition", self._span)
        return result

    def _word(self, *words: str) -> bool:
        """Take the next token if it is one of these bare words."""
        if self._position < len(self._tokens):
            text, quoted = self._tokens[self._position]
            if not quoted and text in words:
                self._position += 1
                return True
        return False

    def _next(self) -> tuple[str, bool]:
        if self._position >= len(self._tokens):
            raise UnknownError("this condition", self._span)
        self._position += 1
        return self._tokens[self._position - 1]

    def _or(self) -> bool:
        result = self._and()
        while self._word("OR"):
            right = self._and()
            result = result or right
        return result

    def _and(self) -> bool:
        result = self._not()
        while self._word("AND"):
            right = self._not()
            result = result and right
        return result

    def _not(self) -> bool:
        return not self._not() if self._word("NOT") else self._comparison()

    def _comparison(self) -> bool:
        if self._word("("):
            result = self._or()
            if not self._word(")"):
                raise UnknownError("this condition", self._span)
            return result
        left, quoted = self._next()
        if not quoted and left in _TESTS:
            return self._evaluator.test(left, self._next()[0], self._span)
        if self._position < len(self._tokens):
            operator, operator_quoted = self._tokens[self._position]
            if not operator_quoted and operator in _COMPARE:
                self._position += 1
                right, right_quoted = self._next()
                return self._compare(operator, (left, quoted), (right, right_quoted))
        return self._evaluator.truth(left, quoted)

    def _compare(self, operator: str, left: tuple[str, bool], right: tuple[str, bool]) -> bool:
        a = self._evaluator.value(*left)
        if operator == "IN_LIST":
            return a in _elements(self._evaluator.value(right[0], False))
        if operator == "MATCHES":
            try:
                return re.search(right[0], a) is not None
            except re.error:
                raise UnknownError("this regular expression", self._span) from None
        b = self._evaluator.value(*right)
        name = operator
        for prefix, convert in _CONVERSIONS.items():
            if operator.startswith(prefix):
                name = operator.removeprefix(prefix)
                try:
                    return _relation(name, convert(a), convert(b))
                except ValueError:
                    return False
        try:
            return _relation(name, (float(a),), (float(b),))
        except ValueError:
            return False


_TESTS = frozenset({"DEFINED", "EXISTS", "IS_DIRECTORY", "IS_ABSOLUTE", "TARGET", "COMMAND"})
_RELATIONS = ("EQUAL", "LESS", "GREATER", "LESS_EQUAL", "GREATER_EQUAL")
_COMPARE = frozenset({"IN_LIST", "MATCHES", *(p + r for p in ("", "STR", "VERSION_") for r in _RELATIONS)})


def _version(text: str) -> tuple[float | str, ...]:
    return tuple(int(part) for part in text.split("."))


_CONVERSIONS: dict[str, Callable[[str], tuple[float | str, ...]]] = {
    "STR": lambda text: (text,),
    "VERSION_": _version,
}


def _relation(name: str, a: tuple[float | str, ...], b: tuple[float | str, ...]) -> bool:
    match name:
        case "EQUAL":
            return a == b
        case "LESS":
            return a < b
        case "GREATER":
            return a > b
        case "LESS_EQUAL":
            return a <= b
    return a >= b


def _elements(text: str) -> Iterator[str]:
    """The elements of a list; an escaped semicolon separates nothing, empty elements vanish."""
    for part in re.split(r"(?<!\\);", text) if ";" in text else (text,):
        if part:
            yield part.replace("\\;", ";")


def _end_of_block(commands: Sequence[Command], start: int) -> int:
    opening = commands[start].name
    closing = _BLOCKS[opening]
    depth = 0
    for position in range(start, len(commands)):
        depth += (commands[position].name == opening) - (commands[position].name == closing)
        if depth == 0:
            return position
    raise CMakeSyntaxError(f"this `{opening}` has no `{closing}()`", commands[start].span)


def _substitute(command: Command, bound: Mapping[str, str]) -> Command:
    def replace(text: str) -> str:
        for name, value in bound.items():
            text = text.replace("${" + name + "}", value)
        return text

    arguments = tuple(
        a if a.quoting is Quoting.BRACKET else Argument(replace(a.text), a.quoting) for a in command.arguments
    )
    return Command(command.name, arguments, command.span)


def _glob(folder: Path, pattern: str, recursive: bool, folders: bool) -> Iterator[Path]:
    full = absolute(folder, pattern)
    anchor = Path(full.anchor)
    parts = full.parts[1:]
    if recursive:
        parts = (*parts[:-1], "**", parts[-1])
    for path in anchor.glob("/".join(parts)):
        if folders or not path.is_dir():
            yield path
