# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Instances that share an address space have heaps of their own. Needs a workspace: SEL4_WORKSPACE=DIR."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from camkes.backends.sel4.workspace import console, make
from camkes.diagnostics import Sink

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")
pytestmark = [
    pytest.mark.requirement("SEL4-16"),
    pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace"),
]

ADL = """
import <std_connector.camkes>;
procedure Text { string twice(in string word); }
component Client { control; uses Text direct; uses Text remote; }
component Server { provides Text direct; provides Text remote; }
assembly {
    composition {
        group together { component Client c; component Server s; }
        connection seL4DirectCall d(from together.c.direct, to together.s.direct);
        connection seL4RPCCall r(from together.c.remote, to together.s.remote);
    }
    configuration { c.heap_size = 65536; s.heap_size = 262144; }
}
"""

#: takes blocks of a kind until there are none, and gives them back
TAKE = """
#include <camkes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern size_t morecore_size;
static unsigned take(size_t size)
{
    void *last = NULL;
    unsigned count = 0;
    for (void **block; (block = malloc(size)) != NULL; count++) {
        memset(block, 1, size);
        *block = last;
        last = block;
    }
    while (last != NULL) {
        void *next = *(void **)last;
        free(last);
        last = next;
    }
    return count;
}
static char *twice(const char *word)
{
    char *both = malloc(2 * strlen(word) + 1);
    return strcat(strcpy(both, word), word);
}
"""

CLIENT = """
int run(void)
{
    char *text = direct_twice("ab");
    text = realloc(text, 100);
    free(text);
    const unsigned once = take(1000);
    printf("client: %d, size %zu\\n", once > 40 && once < 66, morecore_size);
    printf("again: %d\\n", take(1000) == once);
    text = remote_twice("cd");
    printf("server, while the client has none left: %s\\n", text);
    free(text);
    void *aligned = aligned_alloc(4096, 5000), *zeros = calloc(300, 3);
    printf("aligned: %d, zeros: %d\\n", (unsigned long)aligned % 4096 == 0, memchr(zeros, 1, 900) == NULL);
    free(aligned);
    free(zeros);
    printf("end\\n");
    return 0;
}
"""

SERVER = """
char *direct_twice(const char *word) { return twice(word); }
char *remote_twice(const char *word)
{
    const unsigned count = take(1000);
    printf("server: %d, size %zu\\n", count > 200 && count < 263, morecore_size);
    return twice(word);
}
"""

OUTPUT = [
    "client: 1, size 65536",
    "again: 1",
    "server: 1, size 262144",
    "server, while the client has none left: cdcd",
    "aligned: 1, zeros: 1",
]


def run(folder: Path, platform: str) -> Iterator[str]:
    application = folder / "application"
    application.mkdir()
    (application / "groups.camkes").write_text(ADL)
    (application / "client.c").write_text(TAKE.replace("static char *twice", "char *twice") + CLIENT)
    (application / "server.c").write_text(TAKE + SERVER)
    (application / "CMakeLists.txt").write_text(
        "DeclareCAmkESComponent(Client SOURCES client.c)\n"
        "DeclareCAmkESComponent(Server SOURCES server.c)\n"
        "DeclareCAmkESRootserver(groups.camkes)\n"
    )
    sink = Sink()
    settings = {"PLATFORM": platform, "CAmkESCPP": "ON"}
    assert make(Path(WORKSPACE), application, folder / "build", settings, sink, lambda *_: None), (
        sink.diagnostics
    )
    for line in console(folder / "build", seconds=60):
        yield line.strip()


@pytest.mark.parametrize(("platform", "qemu"), [("x86_64", "x86_64"), ("ia32", "i386")])
def test_heaps_are_apart(platform: str, qemu: str, tmp_path: Path) -> None:
    if shutil.which(f"qemu-system-{qemu}") is None:
        pytest.skip(f"qemu-system-{qemu} is not installed")
    lines = list(takewhile(lambda line: line != "end", run(tmp_path, platform)))
    assert lines[-len(OUTPUT) :] == OUTPUT
