# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The inputs that a result of CMake depends on.

CMake lists the files that it read; its trace has all commands that it ran. An answer depends on nothing else
if each of these commands computes with texts and those files alone, or asks a question that is noted here
with its reply: whether a path exists, what a folder has, what a file contains, an environment variable. After
any other command (a program, a search, the time) what the answer depends on is not known.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from camkes.project.records import FUNCTIONS, RECORDER, CMakeCommand

#: Commands that compute with texts, and those that look only at files that CMake lists.
_WORDS = """
    set unset option math foreach endforeach while endwhile if elseif else endif function endfunction macro
    endmacro return break continue block endblock message project cmake_minimum_required cmake_policy
    cmake_parse_arguments include include_guard add_subdirectory add_library add_executable
    add_custom_target add_custom_command add_dependencies target_sources target_include_directories
    target_link_libraries target_compile_options target_compile_definitions target_compile_features
    target_link_options target_link_directories set_property get_property set_target_properties
    get_target_property set_source_files_properties get_source_file_property set_directory_properties
    get_directory_property get_cmake_property define_property mark_as_advanced add_compile_options
    add_compile_definitions add_definitions remove_definitions include_directories link_directories
    link_libraries add_link_options enable_testing add_test set_tests_properties get_test_property install
    separate_arguments source_group enable_language configure_file cmake_language includeglobalcomponents
    global_components_import_project generatecamkesrootserver list string file get_filename_component
    cmake_path execute_process
"""
_PURE = frozenset(_WORDS.split()).union(FUNCTIONS)
_IMPURE_WORDS = {
    "string": {"RANDOM", "TIMESTAMP"},
    "get_filename_component": {"REALPATH", "PROGRAM"},
    "cmake_path": {"ABSOLUTE_PATH"},
    "cmake_language": {"SET_DEPENDENCY_PROVIDER"},
}
_CONDITIONS = ("if", "elseif", "while")
_UNKNOWN_TESTS = {"IS_NEWER_THAN", "IS_SYMLINK", "IS_READABLE", "IS_WRITABLE", "IS_EXECUTABLE"}
_READING = ("READ", "STRINGS", "MD5", "SHA1", "SHA224", "SHA256", "SHA384", "SHA512", "SHA3_256", "SHA3_512")
_WRITING = ("WRITE", "APPEND", "TOUCH", "MAKE_DIRECTORY", "CONFIGURE")
_PURE_FILE = ("RELATIVE_PATH", "TO_CMAKE_PATH", "TO_NATIVE_PATH")
_WITH_VALUE = ("LIST_DIRECTORIES", "RELATIVE")  # of file(GLOB)
_WILD = re.compile(r"[*?\[]")
_VARIABLE = re.compile(r"ENV\{([^}\n]*)\}?")
_MOST_ENTRIES = 5000  # of a folder that is listed with those below it
TOO_MANY = 7  # the number of the error of a folder that has more; no file system gives it


class UnknownInputError(Exception):
    """An answer depends on something that cannot be looked at again."""


def variables_of(texts: Iterable[str]) -> tuple[set[str], bool]:
    """The environment variables that CMake text names, and whether these are all that it can read."""
    names = {name for text in texts for name in _VARIABLE.findall(text)}
    plain = {name for name in names if re.fullmatch(r"\w+", name)}
    return plain, plain == names


class CMakeInputs:
    """The questions of a run of CMake. `scratch` is the folder that it may write, `root` CMake's own
    folder."""

    def __init__(self, scratch: Path, root: str) -> None:
        self.questions: set[tuple[str, str]] = set()
        self._scratch = str(scratch)
        self._root = root
        self._routines: set[str] = set()

    def read(self, files: Iterable[str]) -> None:
        """Files that CMake lists as read."""
        for file in files:
            if not self._own(file):
                self.questions.add(("content", file))

    def run(self, commands: Sequence[CMakeCommand]) -> None:
        """Commands that CMake ran; raises UnknownInputError."""
        for command in commands:
            self._command(command)
            if command.name.lower() in ("function", "macro") and command.arguments:
                self._routines.add(command.arguments[0].lower())

    def _own(self, path: str) -> bool:
        """Files that the run itself wrote are not inputs, nor are those of CMake, which its program
        identifies."""
        return any(path == place or path.startswith(f"{place}/") for place in (self._scratch, self._root))

    def _known(self, file: str) -> bool:
        return file.startswith(f"{self._root}/") or file == str(RECORDER)

    def _command(self, command: CMakeCommand) -> None:
        name, arguments = command.name.lower(), command.arguments
        if name.lstrip("_") not in _PURE and name not in self._routines:
            raise UnknownInputError(command.name)
        if not _IMPURE_WORDS.get(name, set()).isdisjoint(arguments):
            raise UnknownInputError(command.name)
        if name in _CONDITIONS:
            self._condition(arguments)
        elif name == "include":
            self._include(command)
        elif name == "file":
            self._file(command)
        elif name == "execute_process" and (len(arguments) < 2 or arguments[1]):  # none starts without a name
            raise UnknownInputError(command.name)
        if any("CMAKE_MODULE_PATH" in each for each in arguments) and not self._known(command.file):
            raise UnknownInputError("CMAKE_MODULE_PATH")

    def _condition(self, arguments: Sequence[str]) -> None:
        if not _UNKNOWN_TESTS.isdisjoint(arguments):
            raise UnknownInputError("a test of a file")
        for test, path in pairwise(arguments):
            if test in ("EXISTS", "IS_DIRECTORY"):
                self._ask("kind", path, "")

    def _include(self, command: CMakeCommand) -> None:
        words = command.arguments[1:]
        if self._own(command.file) or ("OPTIONAL" not in words and "RESULT_VARIABLE" not in words):
            return
        name = command.arguments[0]
        if "/" not in name and not name.endswith(".cmake"):
            raise UnknownInputError("a module that may be missing")
        self._ask("kind", name, command.folder)

    def _file(self, command: CMakeCommand) -> None:
        what, *words = command.arguments or ("",)
        if what in _PURE_FILE:
            return
        if what in _READING and words:
            self._ask("content", words[0], command.folder)
        elif what in ("GLOB", "GLOB_RECURSE"):
            self._glob(what, words[1:], command.folder)
        elif what in _WRITING or (what == "GENERATE" and command.file == str(RECORDER)):
            pass  # only the scratch folder can be written
        else:
            raise UnknownInputError(f"file({what})")

    def _glob(self, what: str, words: Sequence[str], folder: str) -> None:
        if "FOLLOW_SYMLINKS" in words:
            raise UnknownInputError("FOLLOW_SYMLINKS")
        for before, word in pairwise(("", *words)):
            if before in _WITH_VALUE or word in (*_WITH_VALUE, "CONFIGURE_DEPENDS"):
                continue
            for pattern in word.split(";"):
                place, _, last = pattern.rpartition("/")
                if _WILD.search(place):
                    raise UnknownInputError("a pattern of folders")
                kind = "tree" if what == "GLOB_RECURSE" else "entries" if _WILD.search(last) else "kind"
                self._ask(kind, pattern if kind == "kind" else place or ".", folder)

    def _ask(self, question: str, path: str, folder: str) -> None:
        if not path.startswith("/") and not folder:
            raise UnknownInputError("a relative path")
        whole = os.path.normpath(os.path.join(folder, path))  # noqa: PTH118
        if ";" in whole:
            raise UnknownInputError("a list of paths")
        if not self._own(whole):
            self.questions.add((question, whole))


def reply(question: str, path: str) -> str:
    """The present answer of the file system to a question of `CMakeInputs`."""
    try:
        match question:
            case "kind":
                return "folder" if Path(path).is_dir() else "file" if Path(path).exists() else ""
            case "content":
                return sha256(_bytes(path)).hexdigest()
            case "entries":
                return _listing(path)
            case "tree":
                return _tree(path)
            case "changed":
                status = os.stat(path)  # noqa: PTH116
                times = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev)
                return " ".join(map(str, times))
    except OSError as error:
        return f"error {error.errno}"
    raise ValueError(question)


def replies(questions: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The replies to questions, by "question path"; raises UnknownInputError."""
    result = {f"{question} {path}": reply(question, path) for question, path in sorted(questions)}
    if f"error {TOO_MANY}" in result.values():
        raise UnknownInputError("a folder with too many files")
    return result


def still(stored: Mapping[str, str]) -> bool:
    """Whether the file system gives the same replies as before."""
    for asked, before in stored.items():
        question, path = asked.split(" ", 1)
        if reply(question, path) != before:
            return False
    return True


def _bytes(path: str) -> bytes:
    """A file's content; OSError if it is not a regular file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not os.path.isfile(path):  # noqa: PTH113
            raise OSError(22, "not a file")
        return file.read()


def _listing(path: str) -> str:
    entries = sorted((entry.name, entry.is_dir()) for entry in os.scandir(path))
    return sha256(repr(entries).encode("utf-8", "surrogateescape")).hexdigest()


def _tree(path: str) -> str:
    digest, count = sha256(), 0
    for folder, folders, files in os.walk(path):
        folders.sort()
        digest.update(repr((folder, folders, sorted(files))).encode("utf-8", "surrogateescape"))
        count += len(files) + len(folders)
        if count > _MOST_ENTRIES:
            raise OSError(7, "too many files")
    return digest.hexdigest()
