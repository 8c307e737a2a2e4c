# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Exit statuses, usage errors, completion: what every command has in common."""

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import pty
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.cli import commands
from camkes.cli import main as cli
from camkes.cli.completion import script
from camkes.cli.table import COMPLETION, MODULES, command_named, make_parser
from tests.command import ROOT, camkes
from tests.documents import conforming
from tests.end_to_end.support import EXAMPLES, camkes_process, system

pytestmark = pytest.mark.requirement("TOOL-5")

GOOD, USER_ERROR, USAGE, DEFECT = 0, 1, 2, 3


def test_commands_take_the_current_folder_where_no_project_is_named() -> None:
    found = []
    for name in MODULES:
        parser = argparse.ArgumentParser()
        command_named(name).add_arguments(parser)
        if any(each.metavar == "PATH" and each.dest == "path" for each in parser._actions):
            found.append(name)
            assert parser.parse_args([]).path == Path(), name
    assert {"check", "run", "test", "analyze", "explore", "debug", "watch", "measure"} <= set(found)


def test_every_command_is_in_the_table() -> None:
    modules = [module.name for module in pkgutil.iter_modules(commands.__path__)]
    there = {
        (command.name, name)
        for name in modules
        for command in import_module(f"{commands.__name__}.{name}").COMMANDS
    }
    assert set(MODULES.items()) == there | {(COMPLETION.name, "")}
    assert all(command_named(name).name == name for name in MODULES)


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["check", EXAMPLES / "adder"], GOOD),
        (["check", EXAMPLES / "adder" / "adder.camkes"], GOOD),
        (["check", EXAMPLES / "nowhere"], USER_ERROR),
        (["check", EXAMPLES / "deadlock"], USER_ERROR),
        (["explain", "E0501"], GOOD),
        (["explain", "deadlock"], GOOD),
        (["explain", "E9876"], USER_ERROR),
        (["--version"], GOOD),
        ([], USAGE),
        (["fly"], USAGE),
        (["trust"], USAGE),
        (["check", EXAMPLES / "adder", "-D", "=1"], USAGE),
        (["run", EXAMPLES / "adder", "--for", "a while"], USAGE),
        (["run", EXAMPLES / "adder", "--window", "5ms:1ms"], USAGE),
        (["run", EXAMPLES / "adder", "--choices", "random:often"], USAGE),
        (["run", EXAMPLES / "adder", "--trace", "trace.txt"], USAGE),
        (["run", EXAMPLES / "adder", "--timeline", "picture.gif"], USAGE),
        (["run", EXAMPLES / "adder", "--timeline", "a.html", "--timeline", "b.svg"], USAGE),
        (["run", EXAMPLES / "adder", "--trace", "run.perfetto"], USAGE),
        (["graph", EXAMPLES / "adder", "-o", "graph.gif"], USAGE),
    ],
    ids=lambda value: " ".join(Path(str(v)).name for v in value) if isinstance(value, list) else None,
)
def test_exit_status(arguments: list[str | Path], status: int, tmp_path: Path) -> None:
    result = camkes(*arguments, cwd=tmp_path)
    assert result.status == status, result.errors
    assert "Traceback" not in result.errors
    assert list(tmp_path.iterdir()) == []  # nothing is left of a refused command


@pytest.mark.mostly_long("good", "usage")
@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["--version"], GOOD), (["check", EXAMPLES / "deadlock"], USER_ERROR), (["fly"], USAGE)],
    ids=["good", "user error", "usage"],
)
def test_exit_status_of_the_process(arguments: list[str | Path], status: int) -> None:
    result = camkes_process(*arguments)
    assert result.status == status, result.errors


def test_an_internal_error_is_reported_as_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a screw is loose")

    monkeypatch.setattr(pipeline, "check", broken)
    assert cli.main(["check", "x.camkes"]) == DEFECT
    errors = capsys.readouterr().err
    assert "a screw is loose" in errors and "defect of camkes" in errors


def test_output_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = camkes("graph", EXAMPLES / "adder", "-o", tmp_path / "file" / "graph.svg")
    assert result.status == USER_ERROR
    assert "cannot write" in result.errors and "Traceback" not in result.errors


def test_all_mistakes_of_a_file_in_one_run(tmp_path: Path) -> None:
    path = system(
        tmp_path,
        """
        procedure P { void f(); }
        component T { control; requestor; uses P p; }
        component L { provides P p with priority_protocol inherited, requests (n); uses P n; }
        assembly {
            composition {
                component T t;  component L a;  component L b;
                connection seL4RPCCall x(from t.p, from b.n, to a.p);
                connection seL4RPCCall y(from a.n, to b.p);
            }
            configuration { t._period = 0; t._priority = 1; }
        }
        """,
        {},
    )
    result = camkes("check", path, "--format", "json")
    codes = {d["code"] for d in json.loads(result.output)["diagnostics"]}
    assert result.status == USER_ERROR
    assert codes == {"E0602", "E0501"}


@pytest.mark.long
def test_plan_json(tmp_path: Path) -> None:
    """The fields that programs rely on."""
    plan = conforming("plan", camkes("plan", EXAMPLES / "protocols", "--json").output)
    assert [(t["name"], t["id"], t["priority"]) for t in plan["tasks"]] == [
        ("t1", 0, 10), ("t2", 1, 20), ("t3", 2, 15), ("t4", 3, 30),
    ]  # fmt: skip
    cpis = {
        c["name"]: (c["protocol"], c["ceiling"], c["threads"], c["tasks"], c["requests"])
        for c in plan["cpis"]
    }
    assert cpis == {
        "shared.p": ("propagated", 20, 2, ["t1", "t2"], ["leaf.p"]),
        "exclusive.p": ("inherited", 30, 2, ["t3", "t4"], ["leaf.p"]),
        "leaf.p": ("fixed", 30, 1, ["t1", "t2", "t3", "t4"], []),
    }


def test_plan_json_tells_who_is_lent_a_priority(tmp_path: Path) -> None:
    """Of the tasks that post a semaphore, the one that is above all that wait keeps its own."""
    path = tmp_path / "a.camkes"
    path.write_text(
        """
        import <std_connector.camkes>;
        procedure Do { void it(); };
        component Task { control; requestor; uses Do p; }
        component Store {
            provides Do take with priority_protocol inherited;
            provides Do give with priority_protocol inherited;
            has semaphore full with helpers;
        }
        assembly {
            composition {
                component Task waiter; component Task low; component Task high; component Store store;
                connection seL4RPCCall c1(from waiter.p, to store.take);
                connection seL4RPCCall c2(from low.p, from high.p, to store.give);
            }
            configuration { waiter._priority = 50; low._priority = 10; high._priority = 90; }
        }
        """,
        encoding="utf-8",
    )
    (condition,) = conforming("plan", camkes("plan", path, "--json").output)["conditions"]
    lent = {(each["task"], each["lends"]) for each in condition["helpers"]}
    assert lent == {("waiter", True), ("low", True), ("high", False)}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_valid_and_complete(shell: str) -> None:
    text = script(shell, make_parser(), {"explain": ["E0501"]})
    for word in ("check", "plan", "graph", "build", "run", "explain", "timeline", "sarif"):
        assert word in text
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=text, text=True, check=True)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ch", ["check"]),
        ("--v", ["--version"]),
        ("check --format s", ["sarif"]),
        ("check --format = s", ["sarif"]),  # as bash takes `--format=s` apart
        ("check --format =", ["text", "oneline", "json", "sarif"]),
        ("check --as", ["--ascii"]),
        ("check a", ["a file.camkes", "another.camkes"]),
        ("check -o a", ["a file.camkes", "another.camkes"]),
        ("explain E050", [f"E050{digit}" for digit in "12345679"]),
        ("completion z", ["zsh"]),
        ("doctor build de", ["debug"]),
        ("schema re", ["replay"]),
    ],
)
def test_bash_completes(tmp_path: Path, words: str, expected: list[str]) -> None:
    file = tmp_path / "completion.bash"
    file.write_text(camkes("completion", "bash").output)
    for name in ("a file.camkes", "another.camkes"):
        (tmp_path / name).touch()
    last = len(words.split())
    ask = f"COMP_WORDS=(camkes {words}) COMP_CWORD={last}; _camkes; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(
        ["bash", "-c", f"source {file}; {ask}"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert sorted(done.stdout.splitlines()) == sorted(expected)


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(tmp_path: Path) -> None:
    file = tmp_path / "completion.fish"
    file.write_text(script("fish", make_parser(), {"explain": ["E0501"]}))
    for words, expected in (("check -M", "-MD"), ("check --format s", "sarif"), ("explain E", "E0501")):
        done = subprocess.run(
            ["fish", "-c", f"source {file}; complete -C 'camkes {words}'"],
            env={**os.environ, "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert [line.split("\t")[0] for line in done.stdout.splitlines()] == [expected]


@pytest.mark.mostly_long("environment0-True")
@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colour_on_a_terminal(environment: dict[str, str], coloured: bool) -> None:
    terminal, end = pty.openpty()
    settings = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
    command = [sys.executable, "-m", "camkes", "check", str(EXAMPLES / "nowhere")]
    subprocess.run(command, stderr=end, env={**settings, "TERM": "xterm", **environment}, check=False)
    os.close(end)
    assert (b"\x1b[" in os.read(terminal, 4096)) == coloured
    os.close(terminal)


@pytest.mark.long
@pytest.mark.parametrize("form", ["json", "sarif"])
def test_json_is_alone_on_standard_output(tmp_path: Path, form: str) -> None:
    path = EXAMPLES / "adder"
    for command in ("dump", "plan", "graph", "build", "check", "run"):
        out = ["-o", tmp_path / "out"] if command in ("build", "run") else []
        more = ["--json"] if command in ("plan", "run") else []
        more += ["--console", tmp_path / "console"] if command == "run" else []
        result = camkes(command, path, "--format", form, *out, *more)
        assert result.status == GOOD, result.errors
        messages = result.output if command in ("check", "build") else result.errors
        assert json.loads(messages)["version"] in (1, "2.1.0")
        if command in ("dump", "plan", "run"):
            json.loads(result.output)
    assert (tmp_path / "console").read_text().startswith("client: 2 + 40 = 42\n")


@pytest.mark.long
def test_a_console_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    result = camkes("run", EXAMPLES / "adder", "-o", tmp_path / "out", "--console", tmp_path)
    assert (result.status, result.errors) == (
        1,
        f"error[E0725]: cannot write {tmp_path}: Is a directory\n\n1 error\n",
    )
    result = camkes("run", EXAMPLES / "adder", "-o", tmp_path / "out", "--console", "/dev/null")
    assert result.status == GOOD and "42" not in result.output


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize("words", ["--help", "--version", "check --help", "completion bash", "explain E0602"])
def test_output_that_cannot_be_written_is_an_error(words: str, buffered: str) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": buffered}
    command = [sys.executable, "-m", "camkes", *words.split()]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (
        1,
        "camkes: cannot write the output: No space left on device\n",
    )


@pytest.mark.parametrize("module", ["camkes.process", "camkes.cli.main", "argparse"])
def test_an_interruption_while_modules_are_loaded_is_not_a_traceback(module: str) -> None:
    program = f"""
import builtins, sys
load = builtins.__import__
def interrupted(name, *rest):
    if name == {module!r}:
        builtins.__import__ = load
        raise KeyboardInterrupt
    return load(name, *rest)
from camkes.__main__ import main
builtins.__import__ = interrupted
sys.argv = ["camkes", "--version"]
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_file_is_written_where_it_is(tmp_path: Path) -> None:
    kept = tmp_path / "kept.dot"
    kept.write_text("old")
    kept.chmod(0o640)
    link, full = tmp_path / "link.dot", tmp_path / "full.dot"
    link.symlink_to(kept)
    full.symlink_to("/dev/full")
    assert camkes("graph", EXAMPLES / "adder", "-o", link).status == GOOD
    assert link.is_symlink() and kept.read_text().startswith("digraph")
    assert kept.stat().st_mode & 0o777 == 0o640
    result = camkes("graph", EXAMPLES / "adder", "-o", full)
    assert (result.status, result.errors) == (
        1,
        f"error[E0725]: cannot write {full}: No space left on device\n\n1 error\n",
    )
    assert full.is_symlink() and full.is_char_device()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full.dot", "kept.dot", "link.dot"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rnu",), "camkes: there is no command: 'rnu'; did you mean run?\nTry 'camkes --help'.\n"),
        (("chekc", "a"), "camkes: there is no command: 'chekc'; did you mean check?\nTry 'camkes --help'.\n"),
        (
            ("run", "--traec", "x", "a"),
            "camkes run: there is no option --traec; did you mean --trace?\nTry 'camkes run --help'.\n",
        ),
        (
            ("run", "--duration", "1s", "a"),
            "camkes run: there is no option --duration\nTry 'camkes run --help'.\n",
        ),
        (("new", ""), "camkes new: argument NAME: the name is empty\nTry 'camkes new --help'.\n"),
        (
            ("run", "--timeslice", "0ms", "a"),
            "camkes run: argument --timeslice: a time slice has to be longer than 0\n"
            "Try 'camkes run --help'.\n",
        ),
        (
            ("build", "--json"),
            "camkes build: there is no option --json; did you mean --format json?\n"
            "Try 'camkes build --help'.\n",
        ),
        (("check", "a", "b"), "camkes check: unexpected argument: b\nTry 'camkes check --help'.\n"),
    ],
)
def test_a_wrong_word_on_the_command_line(words: tuple[str, ...], said: str) -> None:
    result = camkes(*words)
    assert (result.status, result.output, result.errors) == (2, "", said)


@pytest.mark.parametrize(
    ("name", "code", "red"), [("deadlock", "E0501", True), ("invalid-nesting", "E0502", False)]
)
@pytest.mark.parametrize("suffix", ["dot", "svg"])
def test_a_system_with_mistakes_is_drawn(
    tmp_path: Path, name: str, code: str, red: bool, suffix: str
) -> None:
    picture = tmp_path / f"picture.{suffix}"
    result = camkes("graph", EXAMPLES / name, "-o", picture)
    assert result.status == 1
    assert code in result.errors
    text = picture.read_text()
    assert ('color="#b3261e"' in text or 'stroke="#b3261e"' in text) == red


@pytest.mark.long
def test_quiet_leaves_the_results(tmp_path: Path) -> None:
    result = camkes("run", EXAMPLES / "nested", "-o", tmp_path, "-q")
    assert (result.status, result.errors) == (0, "")
    assert "response" in result.output


UNTIDY = "component Task{control;}\nassembly{composition{component Task one;}}\n"


@pytest.mark.mostly_long("check", "fmt untidy.camkes")
@pytest.mark.parametrize(
    "command",
    [
        *([name, EXAMPLES / "inversion"] for name in ("check", "dump", "plan", "graph")),
        ["build", EXAMPLES / "inversion", "-o", "out"],
        ["run", EXAMPLES / "inversion", "-o", "out", "--for", "20ms"],
        ["run", EXAMPLES / "inversion", "-o", "out", "--for", "20ms", "--json"],
        ["check", EXAMPLES / "inversion", "--format", "oneline"],
        ["fmt", "untidy.camkes"],
        ["fmt", "untidy.camkes", "--check"],
        ["fmt", "untidy.camkes", "--diff"],
    ],
    ids=lambda words: " ".join(str(w) for w in words if not isinstance(w, Path)),
)
def test_quiet_hides_no_results(tmp_path: Path, command: list[str | Path]) -> None:
    """Standard output is the same; nothing else is said where nothing is wrong."""
    outputs = []
    for flags in ((), ("--quiet",)):
        (tmp_path / "untidy.camkes").write_text(UNTIDY)
        result = camkes(*command, *flags, cwd=tmp_path)
        outputs.append((result.status, result.output))
    assert outputs[0] == outputs[1]
    assert outputs[0][1]
    assert result.errors == ""


@pytest.mark.parametrize("place", ["camkes.process.prepare_streams", "camkes.cli.main.main"])
def test_an_interruption_outside_a_command_is_one_too(place: str) -> None:
    """While modules are loaded, or while an earlier one is dealt with."""
    module, _, name = place.rpartition(".")
    text = (
        f"import camkes.__main__, {module} as module\n"
        "def interrupted(*_): raise KeyboardInterrupt\n"
        f"module.{name} = interrupted\n"
        "camkes.__main__.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_an_interruption_while_modules_are_loaded_ends_the_process(tmp_path: Path) -> None:
    """With no traceback, as the system ends a process that does nothing about it."""
    interrupted = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nprint('went on')\n"
    (tmp_path / "loaded.py").write_text(interrupted)
    prepare = (
        "import signal\nfrom camkes.__main__ import interrupt\nsignal.signal(signal.SIGINT, interrupt)\n"
    )
    for text, status in (
        ("try:\n    import loaded\nexcept KeyboardInterrupt:\n    print('went on')\n", -signal.SIGINT),
        (f"try:\n    exec({interrupted!r})\nexcept KeyboardInterrupt:\n    raise SystemExit(7)\n", 7),
    ):
        command = [sys.executable, "-c", prepare + text]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


def test_a_folder_that_was_removed_is_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    status = cli.main(["check"])
    monkeypatch.chdir(tmp_path)
    assert (status, capfd.readouterr().err) == (1, "camkes: the current folder does not exist any more\n")


@pytest.mark.long  # it starts a process
def test_names_that_a_locale_cannot_write_are_a_message(tmp_path: Path) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    folder = tmp_path / "größer"
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text("project(a C)\nDeclareCAmkESRootserver(a.camkes)\n")
    (folder / "a.camkes").write_text(
        "component A { control; }\nassembly { composition { component A a; } }\n"
    )
    command = [sys.executable, "-m", "camkes", "check"]
    environment = {**os.environ, **ascii_only, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.startswith("camkes: this locale cannot write ")


def test_a_folder_that_cannot_be_read_is_not_formatted_silently(tmp_path: Path) -> None:
    def refuse(path: Path) -> Iterator[Path]:
        raise PermissionError(13, "Permission denied", str(path))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "iterdir", refuse)
        result = camkes("fmt", "--check", tmp_path)
    assert (result.status, "cannot read" in result.errors) == (1, True)


def test_json_is_a_format_of_check() -> None:
    words = ("check", str(ROOT / "examples" / "adder"))
    assert camkes(*words, "--json").output == camkes(*words, "--format", "json").output != ""
