# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A component has as much memory on the host kernel as in an image for seL4."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import camkes
from tests.written import write_files

pytestmark = pytest.mark.requirement("HOST-18")

SYSTEM = """component Eater { control; }
assembly {
    composition { component Eater small; component Eater usual; component Eater large; }
    configuration { small.heap_size = 65536; large.heap_size = 4194304; }
}
"""
LISTS = """cmake_minimum_required(VERSION 3.16)
project(heap C)
DeclareCAmkESComponent(Eater SOURCES eater.c)
DeclareCAmkESRootserver(system.camkes)
"""
EATER = """#include <camkes.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *volatile block;

static int gets(size_t size)
{
    errno = 0;
    block = malloc(size);
    const int got = block != NULL && errno == 0;
    if (!got && errno != ENOMEM) {
        printf("errno is %d\\n", errno);
    }
    free(block);
    return got;
}

int run(void)
{
    void *aligned = NULL;
    /* what was freed can be had again, however often */
    for (int i = 0; i < 1000; i++) {
        char *text = strdup("a text of some length");
        text = realloc(text, 10000);
        free(text);
        free(aligned_alloc(64, 6400));
        free(calloc(100, 100));
    }
    const int wrong = posix_memalign(&aligned, 4096, (size_t)16 << 20);
    block = calloc(SIZE_MAX / 8, 16);
    printf("%s: %d%d%d%d %d%d\\n", get_instance_name(), gets(40000), gets(900000), gets(1100000),
           gets(4000000), wrong == ENOMEM, block == NULL);
    return 0;
}
"""


@pytest.mark.parametrize("options", [(), ("--fast",), ("--sanitize",)], ids=["isolated", "fast", "sanitize"])
def test_heaps(options: tuple[str, ...], tmp_path: Path) -> None:
    write_files(tmp_path, {"system.camkes": SYSTEM, "CMakeLists.txt": LISTS, "eater.c": EATER})
    done = camkes("run", tmp_path, "--for", "1ms", "-q", "-o", tmp_path / "out", *options)
    assert done.status == 0, done.errors
    lines = sorted(line for line in done.output.splitlines() if ": " in line)
    assert lines == ["large: 1111 11", "small: 1000 11", "usual: 1100 11"]


@pytest.mark.parametrize("size", ["2097152", "0x200000"])
def test_the_default_of_the_application(size: str, tmp_path: Path) -> None:
    option = f"set(CAmkESDefaultHeapSize {size} CACHE STRING x)\nDeclareCAmkESRootserver"
    lists = LISTS.replace("DeclareCAmkESRootserver", option)
    write_files(tmp_path, {"system.camkes": SYSTEM, "CMakeLists.txt": lists, "eater.c": EATER})
    done = camkes("run", tmp_path, "--for", "1ms", "-q", "-o", tmp_path / "out")
    assert "usual: 1110 11" in done.output


LIBRARY = """#define _GNU_SOURCE
#include <camkes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char written[2000];

int run(void)
{
    void *volatile held = malloc(45000);
    for (int i = 0; i < 1000; i++) {
        char *text = NULL;
        size_t size = 16;
        char *line = malloc(size);
        memset(written, 'x', sizeof written - 1);
        FILE *stream = fmemopen(written, sizeof written, "r");
        if (asprintf(&text, "%0100d", i) < 0 || getline(&line, &size, stream) < 1000) {
            printf("failed\\n");
        }
        fclose(stream);
        free(line);
        free(text);
        free(valloc(4096));
    }
    void *volatile more = malloc(40000);
    void *volatile pages = valloc(40000);
    void *volatile less = malloc(15000);
    printf("%s: %d%d%d%d\\n", get_instance_name(), held != NULL, more != NULL, pages != NULL, less != NULL);
    return 0;
}
"""


@pytest.mark.parametrize("options", [(), ("--sanitize",)], ids=["isolated", "sanitize"])
def test_what_the_c_library_allocates_changes_nothing(options: tuple[str, ...], tmp_path: Path) -> None:
    system = SYSTEM.replace("component Eater usual; component Eater large;", "")
    system = system.replace(" large.heap_size = 4194304;", "")
    write_files(tmp_path, {"system.camkes": system, "CMakeLists.txt": LISTS, "eater.c": LIBRARY})
    done = camkes("run", tmp_path, "--for", "1ms", "-q", "-o", tmp_path / "out", *options)
    assert done.status == 0, done.errors
    assert "small: 1001\n" in done.output
