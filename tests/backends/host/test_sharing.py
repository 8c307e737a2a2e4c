# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Instances of a component share what is compiled for them, and differ as if they did not."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.backends.host import host
from camkes.backends.host.compiler import find_compiler
from camkes.backends.host.shared_glue import read_glue
from camkes.backends.host.sharing import read_headers, share_objects
from camkes.backends.host.sources import compile_job, sources_and_objects
from camkes.diagnostics import Sink
from camkes.project.builds import ComponentBuild
from tests.backends.host.conftest import Build
from tests.written import write_files

pytestmark = pytest.mark.requirement("HOST-22")

SYSTEM = """
import <std_connector.camkes>;
procedure P { int ask(in int x); }
struct point { int x; string name; }
component Client {
    control; requestor; uses P p;
    attribute int number; attribute int list[]; attribute string word; attribute point at;
}
component Server { provides P p with priority_protocol inherited; attribute int number = 0; }
assembly {
    composition {
        component Client a; component Client b; component Client other;
        component Server s; component Server t;
        connection seL4RPCCall first(from a.p, from b.p, to s.p);
        connection seL4RPCCall second(from other.p, to t.p);
    }
    configuration {
        a._priority = 30; b._priority = 20; other._priority = 10;
        a._period = 1 ms; b._period = 2 ms; other._period = 3 ms;
        a.number = 1; b.number = 0; other.number = 300;
        a.list = [0, 0]; b.list = [7, 8]; other.list = [9];
        a.word = "one /* 1 */"; b.word = "a longer word = {"; other.word = "";
        a.at = {"x": 1, "name": "A"}; b.at = {"x": -2, "name": "the second"}; other.at = {"x": 3, "name": ""};
        t.number = 1000;
    }
}
"""
CLIENT = """
#include <camkes.h>
#include <stdio.h>
int run(void)
{
    for (int job = 0; job < 2 && camkes_next_job(); job++) {
        printf("%s %d [%zu] %d %s %d %s: %d\\n", get_instance_name(), number,
               sizeof list / sizeof *list, list[0], word, at.x, at.name, p_ask(number));
    }
    return 0;
}
"""
SERVER = """
#include <camkes.h>
static int calls;
int p_ask(int x) { return 10 * ++calls + x + number; }
"""
FILES = {"a.camkes": SYSTEM, "Client.c": CLIENT, "Server.c": SERVER}


def compiled(steps: list[str], source: str) -> list[str]:
    """Whose source was compiled, but for what it calls."""
    found = [step.removesuffix(f": {source}") for step in steps if step.endswith(f": {source}")]
    return sorted(step.rpartition(" ")[2] for step in found if step.startswith("component"))


def test_instances_that_differ_in_values_share_code(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """`other` has an array of another size, and `t` has fewer callers, so that their code is their own."""
    shared = build(FILES)
    assert compiled(shared.steps, "Client.c") == ["a", "other"]
    assert compiled(shared.steps, "Server.c") == ["s"]
    assert compiled(shared.steps, "glue.c") == ["a", "other", "s", "t"]
    said = shared.run()
    monkeypatch.setattr(host, "MOST", 1)
    assert compiled(build({}).steps, "glue.c") == ["a", "b"]
    assert build({}).run()[0] == said[0]
    assert "b 0 [2] 7 a longer word = { -2 the second: " in said[0]
    monkeypatch.undo()
    assert build({}).run()[0] == said[0]
    assert build({}).run(fast=True)[0] == said[0]
    monkeypatch.setattr(host, "MOST", 1)
    assert {"linking a", "linking b"} <= set(build({}).steps)  # what is there was made of a shared image


@pytest.mark.long
def test_sanitizers_see_tables_as_they_are(build: Build) -> None:
    """An access beyond a table of an instance is found where the values are those of another one's image."""
    beyond = CLIENT.replace("list[0],", "list[0] + (number == 0 && list[2]),")
    built = build({**FILES, "Client.c": beyond}, sanitize=True)
    said, result = built.run()
    assert "b 0 [2] 7 a longer word" in said
    assert {each.component for each in result.findings} == {"b"}


def test_a_value_that_changes_is_that_of_its_instance(build: Build) -> None:
    build(FILES)
    changed = build({"a.camkes": SYSTEM.replace("b.number = 0", "b.number = 5")})
    assert compiled(changed.steps, "Client.c") == []
    assert "b 5 [2] 7" in changed.run()[0]


def test_what_uses_a_value_as_a_constant_is_compiled_with_it(build: Build) -> None:
    """Also if it begins to, or the header that does so is another one's."""
    build(FILES)
    constant = CLIENT.replace("at.x, at", "(int)sizeof(char[CAMKES_CONST_ATTR(number) + 1]), at")
    built = build({"Client.c": constant})
    assert compiled(built.steps, "Client.c") == ["a", "b", "other"]
    said = built.run()[0]
    assert "a 1 [2] 0 one /* 1 */ 2 A: " in said
    assert "b 0 [2] 7 a longer word = { 1 the second: " in said
    assert compiled(build({"Client.c": CLIENT}).steps, "Client.c") == ["a", "other"]


@pytest.mark.parametrize(
    "code",
    [
        "int x = n_DEF;",
        "#define CAT(a, b) a##b\nint x = CAT(n_, DEF);",
        "#define CAT(a, b) a##b\nint x = CAT(n,\\\n_DEF);",
        "int x = n_D\\\nEF;",
        "#ifdef n_DEF\nint x;\n#endif",
        "#if defined n_DEF && n_DEF > 1\nint x;\n#endif",
        "#if n_DEF > 1\nint x;\n#endif",
        "#define LATER n_DEF",
        "#undef n_DEF\n#define n_DEF 1",
        '#include "more.h"',
    ],
)
def test_every_use_of_a_value_is_found(code: str, tmp_path: Path) -> None:
    assert groups_of(code, tmp_path) == [["a"], ["b"]]


@pytest.mark.parametrize(
    "code", ["", "extern int n; int x(void) { return n; }", "/* n_DEF */", "#if 0\nn_DEF\n#endif"]
)
def test_a_source_without_uses_is_shared(code: str, tmp_path: Path) -> None:
    assert groups_of(code, tmp_path) == [["a", "b"]]


def groups_of(code: str, folder: Path) -> list[list[str]]:
    """Which of two instances with different values share the object of a source."""
    header = "#pragma once\nextern const int n;\n#define n_DEF "
    write_files(
        folder,
        {
            "a/camkes.h": f"{header}{{1, \\\n    2}}\n",
            "b/camkes.h": f"{header}2\n",
            "A.c": f"#include <camkes.h>\n{code}\n",
            "more.h": "int x = n_DEF;\n",
        },
    )
    compiler = find_compiler(False, Sink())
    assert compiler is not None
    build = ComponentBuild((folder / "A.c",), includes=(folder,))
    return [
        names
        for names, _ in share_objects(
            {"a": build, "b": build},
            {name: read_headers([folder / name / "camkes.h"]) for name in "ab"},
            lambda name: [
                compile_job(compiler, source, output, (folder / name, folder), (), name)
                for source, output in sources_and_objects(build, folder / "out")
            ],
            folder / "asked",
            lambda _: None,
        )
    ]


GLUE = """\
/* Generated from a.camkes: instance "%s". */
static const struct camkes_instance camkes__instance = {
    .name = "%s",
    .number = %s,
    .tasks = (const uint8_t[]){%s},
};
struct camkes_thread camkes_instance_%s__control;

int code(void)
{
    return %s; /* %s */
}
"""


def outline(name: str, *, number: str = "1", tasks: str = "1", code: str = "1") -> str:
    return read_glue(GLUE % (name, name, number, tasks, name, code, name)).outline


def test_glue_with_other_values_is_shared_and_with_other_code_is_not() -> None:
    first = outline("a")
    assert outline("b", number="1000000", tasks="0, 0, 128") == first
    assert outline("b", code="2") != first
    assert outline("b", number="NULL") != first
    assert outline("b", number="&camkes__start") != first
