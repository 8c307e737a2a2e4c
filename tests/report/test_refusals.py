# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Errors of messages have one list of numbers and words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camkes.resources import RUNTIME
from camkes.running.refusals import WORDS, MessageError
from tests.command import camkes
from tests.documents import conforming
from tests.end_to_end.support import system

pytestmark = pytest.mark.requirement("RT-33")


def test_the_runtime_has_the_same_errors() -> None:
    text = (RUNTIME / "include/camkes/message_error.h").read_text()
    found = {
        name: (int(number), words)
        for name, number, words in re.findall(r'X\((\w+), (\d+), \w+, "(.*?)"\)', text)
    }
    assert found == {error.name: (int(error), WORDS[error]) for error in MessageError}


SYSTEM = """
procedure P { void go(in string names[]); }
component T { control; requestor; uses P p; }
component S { provides P p with priority_protocol inherited; }
assembly {
    composition {
        component T t; component T u; component S s;
        connection seL4RPCCall c(from t.p, from u.p, to s.p);
    }
    configuration {
        t._priority = 10; t._period = 10 ms;
        u._priority = 20; u._period = 10 ms; u._offset = 5 ms;
    }
}
"""
TASK = """
#include <string.h>
int run(void) {
    SETUP
    char text[800] = "a";
    char *names[] = {text, "b"};
    while (camkes_next_job()) {
        p_go(2, names);
        memset(text, 'a', sizeof text - 1); // more than what an earlier request gave back
    }
    return 0;
}
"""
#: has no memory for the third request and those after it
SERVER = """
#include <stdlib.h>
void p_go(size_t count, char **names) {
    static int served;
    (void)count; (void)names;
    if (++served == 2) {
        void *volatile block; // or the compiler leaves malloc() out
        while ((block = malloc(1 << 16)) != NULL) { }
        while ((block = malloc(1)) != NULL) { }
    }
}
"""
IGNORE = """
static camkes_error_action_t ignore(camkes_error_t *error) { (void)error; return CEA_DISCARD; }
"""


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize("handled", [False, True])
def test_a_refused_message_is_reported_once(handled: bool, tmp_path: Path) -> None:
    """At the line where the client stopped because of it; where it is connected, if it went on."""
    task = TASK.replace("SETUP", "camkes_register_error_handler(ignore);" if handled else "")
    sources = {"t.c": (IGNORE if handled else "") + task, "s.c": SERVER}
    path = system(tmp_path, SYSTEM, sources)
    done = camkes(
        "run", path, "-o", tmp_path / "out", "--for", "40ms", "--memory-limit", "16M", "--json", "--verify"
    )
    report = conforming("run", done.output)
    assert done.status == 1
    code = "E0807" if handled else "E0729"
    assert re.findall(r"error\[(\w+)\]", done.errors) == [code, code]
    for client in "tu":
        assert re.search(
            rf"(`{client}.p` sent|thread {client}: unhandled error).*`s.p`.*out of memory", done.errors
        )
    assert [(f["component"], f["function"]) for f in report["faults"]] == (
        [] if handled else [("t", "run"), ("u", "run")]
    )
    count = 3 if handled else 1
    line = 1 + next(i for i, text in enumerate(path.read_text().splitlines()) if "from t.p" in text)
    assert report["refused"] == [
        {
            "client": f"{client}.p",
            "server": "s.p",
            "what": "the server is out of memory",
            "count": count,
            "time": time,
            "file": path.name,
            "line": line,
        }
        for client, time in (("t", 10_000_000), ("u", 15_000_000))
    ]
    assert report["violations"] == []
