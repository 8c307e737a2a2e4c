# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The code in the README and the docs: systems check, fragments parse, commands are commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest

from camkes.cli import main as cli
from camkes.cli.arguments import with_flags_joined
from camkes.cli.table import MODULES, make_parser
from camkes.diagnostics import Severity, Sink, SourceFile
from camkes.parser.parse import ParseOptions, parse
from camkes.protocols import analyse
from camkes.resolve import LoadOptions, load
from tests.command import camkes
from tests.written import write_files

pytestmark = pytest.mark.requirement("TOOL-26")

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("**/*.md")),
    *sorted((ROOT / "examples").glob("*/README.md")),
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: of a command that a page shows; what a command prints can begin with `camkes run: `
INLINE = re.compile(
    r"`(camkes [a-z][^`\n]*)`|^ {4}(camkes [a-z].*)$|^(?:\$ )?(camkes [a-z]+(?![a-z:]).*)$", re.MULTILINE
)


def blocks(language: str) -> list[tuple[Path, str]]:
    return [
        (page, text) for page in PAGES for kind, text in BLOCK.findall(page.read_text()) if kind == language
    ]


def commands() -> list[tuple[Path, str]]:
    found = []
    for page in PAGES:
        for match in INLINE.finditer(page.read_text()):
            line = next(group for group in match.groups() if group)
            found.append((page, re.split(r"\s+#|\s+\||\s+>", line)[0].strip()))
    return found


@pytest.mark.parametrize(("page", "text"), blocks("camkes"), ids=lambda value: getattr(value, "stem", ""))
def test_camkes(page: Path, text: str, tmp_path: Path) -> None:
    sink = Sink()
    if "assembly" not in text:  # a fragment: it parses
        assert parse(SourceFile(page, text), sink, options=ParseOptions(preprocess=False)), sink.diagnostics
        return
    path = tmp_path / "system.camkes"
    path.write_text(text)
    system = load(path, LoadOptions(), sink)
    assert system is not None and analyse(system, sink) is not None, sink.diagnostics
    assert not [d for d in sink.diagnostics if d.severity is Severity.ERROR]


def test_the_first_example_is_a_whole_system() -> None:
    page, text = blocks("camkes")[0]
    assert page.name == "README.md" and "assembly" in text


@pytest.mark.parametrize(("page", "line"), commands(), ids=lambda value: getattr(value, "stem", str(value)))
def test_command(page: Path, line: str) -> None:
    words = [word for word in shlex.split(line)[1:] if word != "..."]
    if len(words) == 1:  # the command is mentioned
        assert words[0] in MODULES
        return
    if all(word.startswith("-") for word in words[1:]) and words[0] not in ("explain", "lsp", "fmt"):
        words.append("PATH")  # an option of it is
    make_parser().parse_args(with_flags_joined(words))


#: What a block `sh` may call beside the tool and programs of the repository.
PROGRAMS = {
    "camkes-check-certificate",
    "camkes-migrate",
    "cd",
    "code",
    "cp",
    "export",
    "mkdir",
    "pipx",
    "podman",
    "pytest",
    "python",
}
EXTRA = re.compile(r"\[([a-z,]+)\]'")


def shell_lines() -> list[tuple[Path, list[str]]]:
    return [
        (page, shlex.split(line, comments=True))
        for page, text in blocks("sh")
        for line in text.splitlines()
        if shlex.split(line, comments=True) and not line.startswith("camkes ")
    ]


@pytest.mark.parametrize(("page", "words"), shell_lines(), ids=lambda value: getattr(value, "stem", None))
def test_what_shell_commands_name_is_there(page: Path, words: list[str]) -> None:
    """They are not run, as they install something or need a workspace."""
    program, arguments = words[0].removeprefix("./"), words[1:]
    if program == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert set(arguments) <= set(targets)
    elif program not in PROGRAMS:
        assert os.access(ROOT / program, os.X_OK), program
    for word in arguments:
        if program == "pytest" and not word.startswith("-"):
            assert (ROOT / word).is_file(), word


def test_extras_in_the_docs_are_those_of_the_package() -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {name for page in PAGES for found in EXTRA.findall(page.read_text()) for name in found.split(",")}
    assert named and named <= set(known)
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "install.md").read_text(), re.MULTILINE)
    assert set(rows) == set(known) - {"dev", "docs", "mutation"}


@pytest.mark.parametrize(("page", "text"), blocks("toml"), ids=lambda value: getattr(value, "stem", ""))
def test_toml(page: Path, text: str, tmp_path: Path) -> None:
    """It is TOML; that of a test is accepted as the settings of one."""
    assert tomllib.loads(text)
    if page.name == "testing.md":
        assert camkes("new", "pump", cwd=tmp_path).status == 0
        (tmp_path / "pump" / "tests" / "average.toml").write_text(text)
        result = camkes("test", "pump", "--list", cwd=tmp_path)
        assert (result.status, result.errors) == (0, "")


WHOLE_FILES = [(page, text) for page, text in blocks("c") if "#include" in text]


@pytest.mark.parametrize(("page", "text"), WHOLE_FILES, ids=lambda value: getattr(value, "stem", ""))
def test_c_files_compile(page: Path, text: str, tmp_path: Path) -> None:
    """Those without a title; functions of their interfaces are declared here."""
    names = set(re.findall(r"\b(?!camkes_|main|run)(\w+_\w+)\(", text))
    source = tmp_path / "a.c"
    source.write_text("".join(f"int {name}();\n" for name in sorted(names)) + text)
    (tmp_path / "camkes.h").write_text("#include <camkes/realtime.h>\n")  # each component has its own
    folders = [f"-I{ROOT / name}" for name in ("runtime/include", "kernel/host/include", tmp_path)]
    words = ["cc", "-std=gnu11", "-Werror", "-fsyntax-only", *folders, str(source)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


#: Of a table of functions or macros: the first cell of a row is what C declares.
DECLARED = re.compile(r"^\| `([\w ]+\([^`]*\))`[ |]", re.MULTILINE)
#: Code for the first example, as a user of CAmkES writes it.
CODE = {
    "Task.c": '#include <camkes.h>\nint run(void)\n{\n    printf("%d\\n", s_store(7));\n    return 0;\n}\n',
    "Shared.c": "#include <camkes.h>\nint s_store(int value)\n{\n    return value;\n}\n",
}


def test_declarations_of_the_language_page_are_those_of_the_headers(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "language.md").read_text()
    declared = [text for text in DECLARED.findall(page) if " " in text.partition("(")[0]]
    assert len(declared) >= 4
    source = tmp_path / "a.c"
    source.write_text("#include <camkes/realtime.h>\n" + "".join(f"{text};\n" for text in declared))
    folders = [f"-I{ROOT / name}" for name in ("runtime/include", "kernel/host/include")]
    done = subprocess.run(
        ["cc", "-std=gnu11", "-Werror", "-fsyntax-only", *folders, str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_the_first_example_runs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    write_files(tmp_path, {"system.camkes": blocks("camkes")[0][1], **CODE})
    words = ["run", str(tmp_path), "--output", str(tmp_path / "out"), "--fast"]
    assert cli.main(words) == 0
    assert capfd.readouterr().out.splitlines().count("7") == 2
