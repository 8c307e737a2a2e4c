# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which blocks of the documentation are not followed as they are, and why; this is the only list of them.

All others are executed: commands in blocks `console` are run and compared, titled files are written for them,
`camkes` is checked, C files are compiled, settings of tests are read. Commands of those that are not run are
parsed by `test_examples.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.docs.test_examples import PAGES, ROOT

pytestmark = pytest.mark.requirement("TOOL-26")

FENCED = re.compile(
    r"^```(?P<kind>\w+)(?P<title> title=[^\n]*)?\n(?P<text>.*?)^```\n", re.MULTILINE | re.DOTALL
)
INDENTED = re.compile(r"(?<=\n\n)(?: {4}.*\n)+")

#: For each reason the blocks, by pages and by how they begin.
NOT_RUN: dict[str, dict[str, tuple[str, ...]]] = {
    "it installs something": {
        "docs/editor.md": ("python -m pip install",),
        "docs/install.md": ("pipx install", "podman build"),
        "docs/sel4.md": ("sudo apt-get install",),
    },
    "a server or pre-commit does it; tests/repository/test_used_by_others.py runs the commands": {
        "docs/how-to/continuous-integration.md": ("steps:", "repos:"),
    },
    ".ci/run does it, in its steps demo, first-steps, extension and grammar": {
        "README.md": ("make demo", "camkes new drone"),
        "docs/editor.md": ("editors/vscode/build", "editors/tree-sitter/build"),
        "docs/install.md": ("python -m pip wheel",),
    },
    "it needs a workspace for seL4; .ci/run sel4 and .ci/first-steps boot images where there is one": {
        "docs/analysis.md": ("camkes paths examples/nested",),
        "docs/applications.md": ("../init-build.sh",),
        "docs/costs.md": (*("SEL4_WORKSPACE=DIR",) * 9, ".venv/bin/python"),
        "docs/debugging.md": (
            "camkes debug examples/inversion --kernel sel4",
            "(camkes seL4) camkes threads",
        ),
        "docs/flight.md": ("export SEL4_WORKSPACE", "camkes build examples/flight"),
        "docs/how-to/board.md": (*("camkes measure --platform",) * 2, "chmod +x lab.sh"),
        "docs/how-to/size.md": ("camkes size examples/flight --kernel sel4",),
        "docs/how-to/sdk.md": ("export CAMKES_SDK", "camkes sdk", "camkes sdk -o virt.sdk"),
        "docs/paths.md": ("camkes paths", "SEL4_WORKSPACE=DIR"),
        "docs/safety-manual.md": ("camkes evidence PATH",),
        "docs/sel4.md": (
            "camkes run examples/nested --kernel sel4 --sdk",
            "./repo-init.sh",
            "cd ~/camkes-workspace",
            "export SEL4",
            "$ camkes run",
            "camkes run examples/inversion --for 100ms",
            "./simulate",
        ),
        "docs/virtual-machines.md": (
            "./repo-init.sh",
            "camkes check vm_minimal",
            "# ask stressed",
            "apt-get download",
        ),
        "docs/features.md": ("python benchmarks/features.py", "cmake -G Ninja"),
        "examples/guest/README.md": ("ln -s $PWD/examples/guest",),
        "docs/testing.md": ("export SEL4_WORKSPACE",),
        "docs/tutorial/6-sel4.md": ("./repo-init.sh", "camkes build . --kernel sel4"),
    },
    "it needs several machines": {
        "docs/sweeps.md": ("dask scheduler",),
    },
    "it takes minutes or more": {
        "docs/analysis.md": ("python -m benchmarks.papers chain",),
        "docs/isolation.md": (".venv/bin/python benchmarks/hostile.py",),
        "docs/mcs.md": (".venv/bin/python benchmarks/hostile.py",),
        "docs/protocols.md": (
            *(".venv/bin/python benchmarks/explore_topologies.py",) * 6,
            ".venv/bin/camkes explore examples/nested/nested.camkes",
        ),
        "docs/safety-manual.md": ("make test",),
    },
    "it is for code of others, which is not in the repository": {
        "docs/compatibility.md": ("pytest -s tests/resolve/test_upstream.py",),
        "docs/porting.md": ("camkes check priority-protocols-sample",),
    },
    "it configures a program that tests do not have": {
        "docs/how-to/board.md": ("picocom",),
        "docs/editor.md": (
            "vim.filetype",
            "vim.api",
            "(define-derived-mode",
        ),
    },
    "a test of the command has the same system": {"docs/domains.md": ("$ camkes schedule",)},
    "tests/analysis/test_certificates.py has the same system": {
        "docs/certificates.md": ("camkes plan", "4 of 4", "nested.jsonl:8", '{"line"'),
    },
    "it needs GCC 14; tests/runtime/test_coverage_of_units.py runs it where that is": {
        "docs/coverage.md": ("make coverage",),
    },
    "test_fragments.py runs it, with what it needs": {
        "docs/debugging.md": ("camkes debug examples/nested ", "(camkes 2.5 ms) camkes threads"),
        "docs/editor.md": ("{", "[language-server", "[[grammar]]"),
        "docs/language.md": ("if (more_wait_until(",),
        "docs/testing.md": ("pump/", "mock_reading_read_answer("),
    },
    "tests/report/test_queries.py runs it": {
        "docs/how-to/query-traces.md": (
            *("SELECT thread.name AS jobs", "SELECT thread.name AS task", "SELECT thread.name AS task"),
            *("SELECT slice.name AS interface", "SELECT thread.name AS heir", "import json"),
        ),
    },
    "it is a formula, a layout of bits or an algorithm": {
        "docs/analysis.md": ("R = C + B(R)", "sbf_d(R)"),
        "docs/certificates.md": ("(k + 1) C", "B(w) + sum"),
        "docs/domains.md": ("domain  |1", "task  priority"),
        "docs/protocols.md": (
            "eff(o)",
            "64-bit",
            "operation 0",
            "take:",
            "nested =",
            "effective =",
            "eff(o)",
            "wait:",
        ),
    },
}


def not_executed(page: str, text: str) -> Iterator[str]:
    """How the blocks of a page begin that no test executes."""
    for block in FENCED.finditer(text):
        executed = (
            block["title"]
            or block["kind"] in ("console", "camkes")
            or (block["kind"] == "c" and "#include" in block["text"])
            or (block["kind"] == "toml" and page == "docs/testing.md")
        )
        if not executed:
            yield block["text"].splitlines()[0]
    for block in INDENTED.finditer(FENCED.sub("\n", text)):
        yield block[0].splitlines()[0].strip()


def test_every_block_is_executed_or_has_a_reason() -> None:
    left = {page: list(not_executed(page, (ROOT / page).read_text())) for page in names()}
    for pages in NOT_RUN.values():
        for page, beginnings in pages.items():
            for beginning in beginnings:
                first = next((line for line in left.get(page, ()) if line.startswith(beginning)), None)
                assert first is not None, f"{page} has no such block any more: {beginning}"
                left[page].remove(first)
    assert {page: lines for page, lines in left.items() if lines} == {}


def names() -> list[str]:
    return [str(page.relative_to(ROOT)) for page in PAGES]


def test_a_block_that_is_new_is_found() -> None:
    executed = '```console\n$ camkes -V\n```\n\n```c title="a.c"\nint x;\n```\n'
    text = f"{executed}\n```sh\nrm -r x\n```\n\n    make it\n"
    assert list(not_executed("docs/new.md", text)) == ["rm -r x", "make it"]
