# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Arguments of the command line: their types, the parser, and the options that several commands share."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from camkes import pipeline
from camkes.cli.output import USAGE
from camkes.model.units import NANOSECONDS

if TYPE_CHECKING:
    from typing import Any, NoReturn


class Command(NamedTuple):
    """A command of the tool. `run` returns the exit status, `add_arguments` adds its options.
    `has_results`: it writes something of its own to standard output, where that stands alone."""

    name: str
    run: Callable[[argparse.Namespace], int]
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    examples: str
    has_results: bool = False


DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ns|us|ms|s)?\Z")


def duration(text: str) -> int:
    """`2s`, `1.5ms`, `250us`; a bare number is seconds. In nanoseconds."""
    match = DURATION.match(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a valid duration; expected 2s, 150ms, 20us or 500ns (a number alone is seconds)"
        )
    nanoseconds = float(match[1]) * NANOSECONDS[match[2] or "s"]
    if nanoseconds >= 2**63:
        raise argparse.ArgumentTypeError(f"{text!r} is too long; the maximum is 292 years")
    return round(nanoseconds)


def time_slice(text: str) -> int:
    """A duration that is not 0."""
    return _longer_than_0(text, "a time slice")


def tick(text: str) -> int:
    """The same of a kernel's timer."""
    return _longer_than_0(text, "a tick")


def _longer_than_0(text: str, what: str) -> int:
    if not (found := duration(text)):
        raise argparse.ArgumentTypeError(f"{what} has to be longer than 0")
    return found


def named_path(text: str) -> Path:
    """A path. An empty one, as of a variable that is not set, would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return Path(text)


def window(text: str) -> tuple[int, int]:
    """`FROM:TO`, both durations since boot."""
    begin, colon, end = text.partition(":")
    if not colon:
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid window; expected FROM:TO, as in 0:100ms")
    bounds = duration(begin or "0"), duration(end)
    if bounds[0] >= bounds[1]:
        raise argparse.ArgumentTypeError(f"the window {text!r} is empty; FROM must be before TO")
    return bounds


def choices(text: str) -> str:
    """How what scheduling leaves open is decided: `first`, `random:SEED` or `script:FILE`."""
    if not re.fullmatch(r"first|random:\d+|script:.+", text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a valid choice; expected first, random:NUMBER or script:FILE"
        )
    how, _, file = text.partition(":")
    return f"script:{Path(file).absolute()}" if how == "script" else text


def size(text: str) -> int:
    """`512M`, `2G`; a bare number is bytes."""
    match = re.fullmatch(r"(\d{1,15})([KMG]?)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid size; expected 512K, 64M or 2G")
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2]]


def positive(text: str) -> int:
    """A number of things."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid number; expected 1 or more")
    return int(text)


def conditions(text: str) -> tuple[str, ...]:
    """What makes a run a failure beside faults and violated properties."""
    given = tuple(text.split(","))
    known = (*pipeline.CONDITIONS, "all")
    for name in given:
        if name not in known:
            raise argparse.ArgumentTypeError(
                f"{name!r} is not a valid condition; expected {', '.join(known)}"
            )
    return pipeline.CONDITIONS if "all" in given else given


def definition(text: str) -> tuple[str, str]:
    """`NAME=VALUE`; NAME alone is NAME=ON, as in CMake's own options."""
    name, equals, value = text.partition("=")
    name = name.partition(":")[0]  # CMake allows NAME:TYPE=VALUE
    if not re.fullmatch(r"\w+", name):
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid definition; expected NAME=VALUE")
    return name, value if equals else "ON"


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """The end of a message about a wrong word; empty if none is near."""
    from camkes.resolve.words.nearest import nearest

    dashes = "--" if word.startswith("--") else ""  # which all long options share
    found = nearest(word[len(dashes) :], [w[len(dashes) :] for w in words if w.startswith(dashes)])
    return f"; did you mean {dashes}{found}?" if found else ""


def fixed_width(prog: str) -> argparse.HelpFormatter:
    """argparse formats every argument to see whether it can; that need not ask how wide the terminal is."""
    return argparse.RawDescriptionHelpFormatter(prog, width=80)


class StoreOnce(argparse.Action):
    """Of two files for one option, such as a timeline in two forms, the first would be left out silently."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        given = getattr(namespace, self.dest, self.default) is not self.default
        if self.type is Path and self.option_strings and given:
            raise argparse.ArgumentError(self, "given twice; there is only one")
        setattr(namespace, self.dest, values)


class CommandLineParser(argparse.ArgumentParser):
    """Argument errors name the command and end with the one line that helps. `mixed`: options may stand
    between arguments of which there can be several."""

    mixed = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if not self.mixed:
            return super().parse_known_args(args, namespace)
        self.mixed = False  # it calls this again, once for options and once for the rest
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.mixed = True

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, formatter_class=fixed_width)
        self.register("type", Path, named_path)
        self.register("action", None, StoreOnce)

    def format_help(self) -> str:
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        return super().format_help()

    def _print_message(self, message: str, file: Any = None) -> None:
        (file or sys.stderr).write(message)  # argparse ignores that the output is full

    def error(self, message: str) -> NoReturn:
        unknown = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if unknown is not None:
            message = message.replace("argument COMMAND: invalid choice", "there is no command")
            if "there is no command" in message:
                message = message.partition(" (choose")[0]
            message += did_you_mean(unknown[1], re.findall(r"[\w-]+", unknown[2]))
        self.exit(USAGE, f"{self.prog}: {message}\nTry '{self.prog} --help'.\n")


SYSTEM = "a .camkes file or the folder of an application"


def add_path(parser: argparse.ArgumentParser, path: str) -> None:
    """PATH, which is that of a project; every command that takes one takes the current folder by itself."""
    text = f"{path} (default: the current folder)"
    parser.add_argument("path", metavar="PATH", type=Path, nargs="?", default=Path(), help=text)


def add_input(parser: argparse.ArgumentParser, path: str = SYSTEM) -> None:
    """What every command that reads a system understands; `input_of` gives it. `path` describes PATH."""
    add_path(parser, path)
    group = parser.add_argument_group("options for reading the system")
    option = group.add_argument
    repeated: Any = {"action": "append", "default": []}
    text = "a CMake variable of the application"
    option("-D", dest="definitions", metavar="NAME=VALUE", type=definition, **repeated, help=text)
    option(
        "-I",
        "--import-path",
        metavar="DIR",
        type=Path,
        **repeated,
        help="add a folder to the search path of `import <FILE>`",
    )
    option("--cpp-flag", metavar="FLAG", **repeated, help="pass a flag to the C preprocessor")
    option("--cpp-bin", metavar="PROGRAM", help="the C preprocessor (default: cpp)")
    text = "run the C preprocessor (default)"
    option("--cpp", dest="preprocess", action="store_true", default=None, help=text)
    option("--nocpp", dest="preprocess", action="store_false", help="do not run the C preprocessor")
    option(
        "--dtb",
        metavar="FILE",
        type=Path,
        help="the device tree for dtb() queries (default: the one of -D PLATFORM in the workspace)",
    )
    option("--gpio-list", metavar="FILE", type=Path, help="the list of pins for gpio() queries")
    text = "an seL4 workspace, for its packages and --kernel sel4 (default: SEL4_WORKSPACE)"
    option("--workspace", metavar="DIR", type=Path, help=text)
    text = "allow names to be used before they are defined"
    option("--allow-forward-references", action="store_true", default=None, help=text)
    option(
        "--disallow-forward-references",
        dest="allow_forward_references",
        action="store_false",
        help="require names to be defined before they are used (default)",
    )
    add_messages(parser)


def add_build_type(group: argparse._ArgumentGroup) -> None:
    """How components are compiled."""
    kinds = group.add_mutually_exclusive_group()
    text = "compile components for debuggers, as -D CMAKE_BUILD_TYPE=Debug (on seL4: -D RELEASE=OFF)"
    kinds.add_argument("--debug", dest="build_type", action="store_const", const="Debug", help=text)
    text = (
        "compile components for speed and without assertions, as -D CMAKE_BUILD_TYPE=Release (on seL4: an "
        "image without debugging, as -D RELEASE=ON)"
    )
    kinds.add_argument("--release", dest="build_type", action="store_const", const="Release", help=text)


def add_dependencies(parser: argparse.ArgumentParser) -> None:
    """For commands whose result a makefile may keep."""
    parser.add_argument(
        "-MD",
        "--makefile-dependencies",
        metavar="FILE",
        type=Path,
        help="write a rule for make that names all files that were read",
    )


def add_messages(parser: argparse.ArgumentParser) -> None:
    """The form of a command's diagnostics."""
    messages = parser.add_argument_group("messages")
    messages.add_argument(
        "--format",
        choices=("text", "oneline", "json", "sarif"),
        default="text",
        help="format of diagnostics (default: text); json and sarif are written to standard output, unless "
        "the command writes its results there",
    )
    messages.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="colour (default: on a terminal)"
    )
    messages.add_argument("--ascii", action="store_true", help="use ASCII characters only")
    messages.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="print only errors and results: no warnings, notes or progress",
    )


def input_of(arguments: argparse.Namespace) -> pipeline.Input:
    """What `add_input` and `add_build_type` understood."""
    return pipeline.Input(
        path=arguments.path,
        definitions=(*_build_type(arguments), *arguments.definitions),
        import_path=tuple(arguments.import_path),
        cpp_flags=tuple(arguments.cpp_flag),
        cpp=arguments.cpp_bin or "cpp",
        preprocess=arguments.preprocess,
        dtb=arguments.dtb,
        gpio_list=arguments.gpio_list,
        allow_forward_references=arguments.allow_forward_references,
        workspace=arguments.workspace,
        sdk=_sdk(arguments),
    )


def input_words(arguments: argparse.Namespace) -> list[str]:
    """The words of a command line that `input_of` understands in the same way."""
    asked = input_of(arguments)
    words = [str(asked.path), *(f"-D{name}={value}" for name, value in asked.definitions)]
    words += (f"-I{folder}" for folder in asked.import_path)
    words += (f"--cpp-flag={flag}" for flag in asked.cpp_flags)
    switches = {
        "--cpp": asked.preprocess is True,
        "--nocpp": asked.preprocess is False,
        "--allow-forward-references": asked.allow_forward_references is True,
        "--disallow-forward-references": asked.allow_forward_references is False,
    }
    words += (switch for switch, given in switches.items() if given)
    files = {"--cpp-bin": arguments.cpp_bin, "--dtb": asked.dtb, "--gpio-list": asked.gpio_list}
    files["--workspace"] = asked.workspace
    for option, file in files.items():
        words += () if file is None else (option, str(file))
    return words


def add_sdk(group: argparse._ArgumentGroup) -> None:
    """With what a system is built for seL4, where there is no workspace."""
    group.add_argument(
        "--sdk",
        metavar="FILE",
        type=Path,
        help="build for seL4 with an SDK that `camkes sdk` made, without a workspace (default: CAMKES_SDK, "
        "unless --workspace is given)",
    )


def _sdk(arguments: argparse.Namespace) -> Path | None:
    """The SDK that is given, or else that of CAMKES_SDK, for commands that build with one."""
    if "sdk" not in arguments or getattr(arguments, "kernel", "sel4") != "sel4":
        return None
    given: Path | None = arguments.sdk
    if given is not None or arguments.workspace is not None:
        return given
    from camkes.backends.sel4.workspace import SDK_VARIABLE

    named = os.environ.get(SDK_VARIABLE)
    return Path(named) if named else None


def _build_type(arguments: argparse.Namespace) -> tuple[tuple[str, str], ...]:
    """The definition that `--debug` or `--release` is short for."""
    build_type = getattr(arguments, "build_type", None)
    if not build_type:
        return ()
    if getattr(arguments, "kernel", "host") == "sel4":  # its build system has an option of its own
        return (("RELEASE", "ON" if build_type == "Release" else "OFF"),)
    return (("CMAKE_BUILD_TYPE", build_type),)


def with_flags_joined(words: Sequence[str]) -> list[str]:
    """`--cpp-flag -DX` as `--cpp-flag=-DX`: a flag of the preprocessor is not one of ours."""
    joined: list[str] = []
    for word in words:
        if joined and joined[-1] == "--cpp-flag":
            joined[-1] = f"--cpp-flag={word}"
        else:
            joined.append(word)
    return joined


def refuse(parser: argparse.ArgumentParser, unknown: Sequence[str]) -> NoReturn:
    """End because of words that are not options of a command."""
    first = unknown[0].partition("=")[0]
    options = [word for action in parser._actions for word in action.option_strings if word[:2] == "--"]
    if not first.startswith("-"):
        parser.error(f"unexpected argument: {first}")
    similar = "; did you mean --format json?" if first == "--json" else did_you_mean(first, options)
    parser.error(f"there is no option {first}{similar}")
