# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Nothing that a reader cannot see reaches one: from names, paths, texts of other programs or components."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
import unicodedata
from contextlib import suppress
from pathlib import Path

import pytest

from camkes.diagnostics import Code, Diagnostic, Label, Sink, SourceFile, Span
from camkes.diagnostics.rendering import Form, Style, render
from camkes.documents import json_text
from camkes.showing.draw.svg import Drawing, text
from camkes.visible import visible, visible_colored, visible_json, visible_line
from tests.command import camkes
from tests.written import write_files

pytestmark = pytest.mark.requirement("TOOL-4")

#: clears a screen, sets the clipboard, reverses text, ends a line, and has a byte that is not UTF-8
HOSTILE = (
    "a\x1b[2J\x1b]52;c;cHduZWQ=\x07b\x9b1mc\u202ed\u2066e\u200ff\u2028g\ufeffh\x7fi\rj\x00k\udcff\U000e0041"
)
#: the same, as far as it can be in the name of a folder that CMake and compilers can read
HOSTILE_NAME = "a\u202eb\u2066c\u200fd\u2028e\ufefff"


def hidden(shown: str) -> list[str]:
    """The characters that a reader cannot see, by Unicode's classes."""
    directions = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return [
        each
        for each in shown
        if (unicodedata.category(each) in {"Cc", "Cs", "Zl", "Zp"} and each not in "\t\n")
        or unicodedata.bidirectional(each) in directions
        or each in "\u200e\u200f\u061c\ufeff"
        or 0xE0000 <= ord(each) < 0xE0080
    ]


def test_each_hidden_character_is_spelled() -> None:
    assert visible("\x1b[31m\x7f\x9b\u202e\udcff\U000e0041") == r"\x1b[31m\x7f\x9b\u202e\xff\U000e0041"
    assert visible("a\tb\n日本 é 👩\u200d🔬") == "a\tb\n日本 é 👩\u200d🔬"
    assert visible_line("a\tb\n") == r"a\tb\n"
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    assert hidden(visible(everything)) == []
    assert hidden(visible_line(everything)) == []


def test_only_colours_pass_that_are_this_tools() -> None:
    assert visible_colored("\x1b[1;31merror\x1b[0m") == "\x1b[1;31merror\x1b[0m"
    for sequence in ("\x1b[8m", "\x1b[2J", "\x1b[31;8m", "\x1b]0;x\x07", "\x1b[7m"):
        assert hidden(visible_colored(sequence)) == [], sequence


def test_json_keeps_what_can_be_kept() -> None:
    everything = "".join(chr(n) for n in range(sys.maxunicode + 1) if not 0xD800 <= n < 0xE000)
    written = json_text({"all": everything})
    assert hidden(written) == []
    assert json.loads(written) == {"all": everything}
    assert hidden(json_text({"delete": "\x7f"})) == []
    assert json.loads(visible_json('"a\udcff"')) == r"a\xff"
    assert written.encode()


@pytest.mark.parametrize("form", list(Form))
def test_diagnostics(form: Form) -> None:
    source = SourceFile(Path(f"/{HOSTILE.replace(chr(0), '')}/x.camkes"), f"{HOSTILE};\n")
    span = Span(source, 1, 1, 1, 4)
    sink = Sink()
    sink.add(
        Diagnostic(
            Code("E0201", "unknown"),
            f"there is no `{HOSTILE}`\nerror[E0999]: forged",
            span,
            HOSTILE,
            (Label(span, HOSTILE),),
            (HOSTILE, "two\nlines"),
            HOSTILE,
        )
    )
    shown = render(sink.diagnostics, Style(form=form, unicode=True))
    assert hidden(shown) == []
    assert shown.encode()
    assert "\nerror[E0999]" not in shown
    assert "52;c;" in shown


def test_pictures() -> None:
    drawing = Drawing(10, 10, HOSTILE)
    drawing.add(text(0, 0, HOSTILE, aria_label=HOSTILE))
    assert hidden(drawing.render()) == []


_SYSTEM = """import <std_connector.camkes>;
procedure Reading { int read(in int channel); }
component Controller { control; requestor; uses Reading sensor; }
component Sensor { provides Reading reading; }
assembly {
    composition {
        component Controller controller;
        component Sensor sensor;
        connection seL4RPCCall readings(from controller.sensor, to sensor.reading);
    }
    configuration { controller._priority = 100; }
}
"""
_OCTAL = "".join(f"\\{byte:03o}" for byte in HOSTILE.replace("\0", "").encode(errors="surrogateescape"))
_FILES = {
    "CMakeLists.txt": """project(hostile C)
DeclareCAmkESComponent(Controller SOURCES controller.c)
DeclareCAmkESComponent(Sensor SOURCES sensor.c)
DeclareCAmkESRootserver(hostile.camkes)
GenerateCAmkESRootserver()
""",
    "hostile.camkes": _SYSTEM,
    "controller.c": f"""#include <camkes.h>
#include <stdio.h>
int run(void)
{{
    printf("{_OCTAL}\\n");
    camkes_work(CAMKES_MS(1));
    return sensor_read(1);
}}
""",
    "sensor.c": "#include <camkes.h>\nint reading_read(int channel) { return channel; }\n",
    "tests/case.camkes": _SYSTEM.replace(
        "component Sensor sensor;", "component Sensor sensor; component Case case;"
    )
    .replace("assembly", "component Case { control; } assembly", 1)
    .replace("controller._priority = 100;", "controller._priority = 100; case._priority = 5;"),
    "tests/case.c": f"""#include <camkes/test.h>
int run(void)
{{
    camkes_case("{_OCTAL}");
    camkes_test_say("failed", __FILE__, __LINE__, "{_OCTAL}");
    return 0;
}}
""",
}


@pytest.mark.long
def test_commands(tmp_path: Path) -> None:
    """Whatever is printed or written of a system in a folder with such a name, and of what it prints."""
    project = write_files(tmp_path / HOSTILE_NAME, _FILES)
    out = tmp_path / "out"
    made = [
        out / name for name in ("t.svg", "t.html", "t.json", "r.json", "g.svg", "g.dot", "j.xml", "s.svg")
    ]
    timeline, page, trace, report, graph, dot, junit, size = made
    out.mkdir()
    results = [
        camkes("check", project),
        camkes("plan", project),
        camkes("dump", "--places", project),
        camkes(
            "run", project, "-o", out / "b", "--for", "5ms", "--timeline", timeline, "--console", out / "c"
        ),
        camkes(
            "run", project, "-o", out / "b", "--for", "5ms", "--timeline", page, "--trace", trace, "--json"
        ),
        camkes("graph", project, "-o", graph),
        camkes("graph", project, "-o", dot),
        camkes("test", project, "-o", out / "tests", "--junit", junit),
        camkes("test", project, "-o", out / "tests", "--tap"),
        camkes("test", project, "-o", out / "tests", "--json"),
        camkes("size", project, "--svg", size),
        camkes("stubs", project, "--print"),
        camkes("new", "component", "More", "--control", "--to", project),
    ]
    assert [each.status for each in results] == [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0]
    report.write_text(results[4].output, encoding="utf-8")
    assert "52;c;" in (out / "c").read_bytes().decode(errors="replace")
    assert "52;c;" in junit.read_text(encoding="utf-8")
    for each in (*results[:3], *results[5:]):
        assert hidden(each.output) == [], each.output
    assert hidden(results[4].output) == []
    for path in made:
        assert hidden(path.read_text(encoding="utf-8")) == [], path
    for data in (results[4].output, trace.read_text(encoding="utf-8"), results[9].output):
        json.loads(data)


def test_messages_are_written_at_once(tmp_path: Path) -> None:
    """Also to a file: whoever waits for a message there sees it while the command goes on."""
    program = "import sys, time\nfrom camkes.process import prepare_streams\nprepare_streams()\n"
    program += "print('ready', file=sys.stderr)\nsys.stdin.read()\n"
    errors = tmp_path / "errors"
    with (
        errors.open("w") as file,
        subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stderr=file) as process,
    ):
        end = time.monotonic() + 30
        while not errors.stat().st_size and time.monotonic() < end:
            time.sleep(0.01)
        assert errors.read_text(encoding="utf-8") == "ready\n"
        process.communicate(b"")


def test_a_terminal_gets_no_sequence_of_others(tmp_path: Path) -> None:
    """Output and messages of commands, with names of files that come from elsewhere."""
    name = HOSTILE.replace("\0", "").replace("[2J", "2J")
    project = write_files(tmp_path / "p", {"a.camkes": f'import "{HOSTILE_NAME}";\n'})
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "camkes"]
    for words in (
        ["check", "a.camkes"],
        ["check", name],
        ["fmt", name],
        ["fmt", "--check", os.fsencode(name)],
    ):
        with subprocess.Popen([*command, *words], cwd=project, stdout=child, stderr=child) as process:
            process.wait(60)
    os.close(child)
    shown = b""
    with suppress(OSError):
        while part := os.read(parent, 1 << 16):
            shown += part
    os.close(parent)
    plain = shown.decode().replace("\r\n", "\n")
    assert "52;c;" in plain
    assert hidden(re.sub(r"\x1b\[[\d;]*m", "", plain)) == []
