# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The options of camkes-tool's parser do here what they do there, on every command that reads a system."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from camkes.cli import main as cli
from camkes.cli.arguments import CommandLineParser, add_build_type, add_input, input_of, input_words
from tests.documents import conforming
from tests.written import write_named

pytestmark = pytest.mark.requirement("TOOL-5")

HEAD = "procedure P { void f(); }\n"
COMPONENT = "component A { control; attribute int x; }\n"
COMMANDS = ("check", "plan", "graph", "dump")


def system(value: str = "1", before: str = "") -> str:
    composition = "composition { component A a; } configuration { a.x = " + value + "; }"
    return f"{before}{HEAD}{COMPONENT}assembly {{ {composition} }}\n"


def dumped(capsys: pytest.CaptureFixture[str], *words: str | Path) -> Any:
    """The system that the words ask for."""
    capsys.readouterr()
    status = cli.main(["dump", *map(str, words)])
    out, err = capsys.readouterr()
    assert status == 0, err
    return json.loads(out)


def value(found: Any) -> Any:
    return found["instances"][0]["settings"]["x"]["value"]


Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_every_option(tmp_path: Path, command: str, capsys: Capture) -> None:
    main = write_named(
        tmp_path,
        main_camkes=f"import <part.camkes>;\n{system('N')}",
        lib__part_camkes="struct s { int a; }\n",
    )
    words = [
        *(command, main, "-I", tmp_path / "lib", "--import-path", tmp_path),
        *("--cpp", "--cpp-bin", "cpp", "--cpp-flag=-DN=3", "--cpp-flag", "-I."),
        *("--dtb", tmp_path / "none.dtb", "--gpio-list", tmp_path / "none.yaml"),
        *("--allow-forward-references", "-MD", tmp_path / "rules.d"),
    ]
    assert cli.main([str(word) for word in words]) == 0, capsys.readouterr().err


def test_import_paths_are_searched_in_order_before_the_builtin_files(tmp_path: Path, capsys: Capture) -> None:
    main = write_named(
        tmp_path,
        main_camkes=f"import <std_connector.camkes>; import <k.camkes>;\n{system()}",
        one__k_camkes="component K { attribute int one; }\n",
        two__k_camkes="component K { attribute int two; }\n",
        two__std_connector_camkes="component K { }\n",
    )
    paths = {name: tmp_path / name for name in ("one", "two")}
    (paths["two"] / "std.connector.camkes").rename(paths["two"] / "std_connector.camkes")
    assert cli.main(["check", str(main), "-I", str(paths["one"])]) == 0
    # the file of the path wins over the one that comes with the tool, and defines K a second time
    assert cli.main(["check", str(main), "-I", str(paths["one"]), "-I", str(paths["two"])]) == 1
    assert "component `K` is defined twice" in capsys.readouterr().err
    assert cli.main(["check", str(main)]) == 1
    assert "there is no file `k.camkes` to import" in capsys.readouterr().err


def test_flags_of_the_preprocessor_are_added_up(tmp_path: Path, capsys: Capture) -> None:
    main = write_named(tmp_path, main_camkes='#include "n.h"\n' + system("N + M"), inc__n_h="#define N 40\n")
    assert value(dumped(capsys, main, "--cpp-flag=-DM=2", "--cpp-flag", f"-I{tmp_path}/inc")) == 42


def test_folders_of_headers_from_the_environment(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = write_named(tmp_path, main_camkes='#include "n.h"\n' + system("N"), inc__n_h="#define N 40\n")
    assert cli.main(["check", str(main)]) == 1
    monkeypatch.setenv("CPATH", str(tmp_path / "inc"))
    assert value(dumped(capsys, main)) == 40


def test_without_the_preprocessor(tmp_path: Path, capsys: Capture) -> None:
    text = '#define x y\n#include "nowhere.h"\n' + system("7")
    main = write_named(tmp_path, main_camkes=text)
    assert value(dumped(capsys, main, "--nocpp")) == 7
    assert value(dumped(capsys, main, "--cpp", "--nocpp")) == 7
    assert cli.main(["check", str(main), "--nocpp", "--cpp"]) == 1
    assert "nowhere.h" in capsys.readouterr().err


def test_another_preprocessor(tmp_path: Path, capsys: Capture) -> None:
    real = shutil.which("cpp")
    assert real is not None
    tool = write_named(tmp_path, tool_sh=f'#!/bin/sh\necho ran >> "{tmp_path}/log"\nexec {real} -DN=9 "$@"\n')
    tool.chmod(0o755)
    main = write_named(tmp_path, main_camkes="#\n" + system("N"))
    assert value(dumped(capsys, main, "--cpp-bin", tool)) == 9
    assert "ran" in (tmp_path / "log").read_text()
    assert cli.main(["check", str(main), "--cpp-bin", str(tmp_path / "none")]) == 1
    assert "cannot run the C preprocessor" in capsys.readouterr().err


def test_forward_references(tmp_path: Path, capsys: Capture) -> None:
    text = "assembly { composition { component A a; } }\n" + COMPONENT
    main = write_named(tmp_path, main_camkes=text)
    assert cli.main(["check", str(main)]) == 1
    assert "used before it is defined" in capsys.readouterr().err
    assert cli.main(["check", str(main), "--allow-forward-references"]) == 0
    both = ["--allow-forward-references", "--disallow-forward-references"]
    assert cli.main(["check", str(main), *both]) == 1


def test_options_of_the_application_are_defaults_of_the_command_line(tmp_path: Path, capsys: Capture) -> None:
    write_named(
        tmp_path,
        main_camkes='#include "nowhere.h"\nassembly { composition { component A a; } }\n' + COMPONENT,
        CMakeLists_txt='set(CAmkESCPP OFF CACHE BOOL "")\n'
        'set(CAmkESAllowForwardReferences ON CACHE BOOL "")\n'
        "DeclareCAmkESComponent(A SOURCES a.c)\nDeclareCAmkESRootserver(main.camkes)\n",
        a_c="int run(void) { return 0; }\n",
    )
    assert cli.main(["check", str(tmp_path)]) == 0, capsys.readouterr().err
    assert cli.main(["check", str(tmp_path), "--disallow-forward-references"]) == 1
    assert cli.main(["check", str(tmp_path), "--cpp"]) == 1


def test_the_device_tree(tmp_path: Path, capsys: Capture) -> None:
    dtc = shutil.which("dtc")
    if dtc is None:
        pytest.skip("there is no dtc")
    source = write_named(
        tmp_path, tree_dts='/dts-v1/; / { uart@10 { compatible = "a,b"; reg = <0x10>; }; };\n'
    )
    compiled = tmp_path / "tree.dtb"
    subprocess.run([dtc, "-q", "-o", str(compiled), str(source)], check=True)
    text = system("1").replace("a.x = 1;", 'a.dtb = dtb({"path": "uart"});')
    main = write_named(tmp_path, main_camkes=text)
    settings = dumped(capsys, main, "--dtb", compiled)["instances"][0]["settings"]
    assert settings["dtb"]["value"]["query"][0]["compatible"] == ["a,b"]
    assert cli.main(["check", str(main)]) == 1
    assert "--dtb" in capsys.readouterr().err


def test_the_list_of_pins(tmp_path: Path, capsys: Capture) -> None:
    pytest.importorskip("yaml")
    pins = write_named(tmp_path, pins_yaml="gpio_list:\n  - name: LED\n    id: 4\n  - name: KEY\n    id: 7\n")
    text = system("1").replace("a.x = 1;", 'a.pins = gpio({"pins": [{"LED": "output"}]});')
    main = write_named(tmp_path, main_camkes=text)
    assert cli.main(["check", str(main)]) == 1
    assert "--gpio-list" in capsys.readouterr().err
    settings = dumped(capsys, main, "--gpio-list", pins)["instances"][0]["settings"]
    assert settings["pins"]["value"]["query"] == [{"desired_pins": [{"LED": "output"}]}]
    assert settings["pins"]["value"]["all_pins"] == [{"name": "LED", "id": 4}, {"name": "KEY", "id": 7}]


def test_rules_for_make(tmp_path: Path, capsys: Capture) -> None:
    main = write_named(
        tmp_path,
        main_camkes='import "parts/part one.camkes";\n#include "n.h"\n' + system("N"),
        parts__x="",
        n_h="#define N 1\n",
    )
    (tmp_path / "parts" / "part one.camkes").write_text('import "../two$.camkes";\nstruct s { int a; }\n')
    (tmp_path / "two$.camkes").write_text("struct t { int a; }\n")
    rules = tmp_path / "rules.d"
    dumped(capsys, main, "-MD", rules)
    make = shutil.which("make")
    assert make is not None
    (tmp_path / "Makefile").write_text(f"include rules.d\n{rules}:\n\t@echo again\n")

    def is_old() -> bool:
        return subprocess.run([make, "-q", str(rules)], cwd=tmp_path, capture_output=True).returncode == 1

    later = rules.stat().st_mtime + 10
    assert not is_old()
    for name in ("main.camkes", "n.h", "parts/part one.camkes", "two$.camkes"):
        before = (tmp_path / name).stat().st_mtime
        os.utime(tmp_path / name, (later, later))
        assert is_old(), name
        os.utime(tmp_path / name, (before, before))
    assert not is_old()


def test_no_rules_for_what_has_errors(tmp_path: Path, capsys: Capture) -> None:
    main = write_named(tmp_path, main_camkes="component A { uses P p; }\n")
    assert cli.main(["check", str(main), "--makefile-dependencies", str(tmp_path / "rules.d")]) == 1
    assert not (tmp_path / "rules.d").exists()


def test_a_dump_has_all_definitions_and_their_places(tmp_path: Path, capsys: Capture) -> None:
    text = (
        "import <std_connector.camkes>;\n" + HEAD + "component C { control; uses P p; }\n"
        "component S { provides P p; attribute int n = 2; }\nassembly { composition { component C c;\n"
        "component S s; connection seL4RPCCall r(from c.p, to s.p); } configuration { s.n = 3; } }\n"
    )
    main = write_named(tmp_path, main_camkes=text)
    found = dumped(capsys, main)
    assert [i["name"] for i in found["instances"]] == ["c", "s"]
    assert found["instances"][1]["settings"]["n"]["value"] == 3
    (connection,) = found["connections"]
    assert (connection["name"], connection["connector"]) == ("r", "seL4RPCCall")
    assert [(e["instance"], e["interface"]) for e in connection["to_ends"]] == [("s", "p")]
    assert found["components"]["S"]["interfaces"][0]["type"] == "P"
    assert "span" not in found["instances"][0]
    assert dumped(capsys, main, "--places")["instances"][0]["span"] == "main.camkes:5:38"


def test_explain_as_json(capsys: Capture) -> None:
    assert cli.main(["explain", "--json"]) == 0
    every = conforming("explain", capsys.readouterr().out)
    assert cli.main(["explain"]) == 0
    listed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert listed == [[code["number"], code["name"]] for code in every]
    assert cli.main(["explain", "deadlock", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)
    assert one in every
    assert one["severity"] == "error" and one["page"].startswith("Requests form a cycle.")


@pytest.mark.parametrize(
    "words",
    [
        "a.camkes",
        "a.camkes --debug --nocpp --disallow-forward-references",
        "'a b' -DN=1 -D M='two words' -I x --import-path y --cpp --cpp-bin cc --cpp-flag=-DX --cpp-flag=-I.",
        "a --dtb a.dtb --gpio-list pins.yaml --allow-forward-references",
    ],
)
def test_a_command_that_is_printed_reads_the_same_system(words: str) -> None:
    parser = CommandLineParser()
    add_input(parser)
    add_build_type(parser.add_argument_group())
    given = parser.parse_args(shlex.split(words))
    assert input_of(parser.parse_args(input_words(given))) == input_of(given)
