# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Public code is accepted.

CAMKES_CORPUS names a folder of checked-out repositories, each in a folder of its own name. A file
verdicts.tsv in it (repository, path, verdict; also named by CAMKES_VERDICTS) says what upstream's parser
makes of each file. Without CAMKES_CORPUS there is nothing to test.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.parser.files import read_source
from camkes.parser.parse import ParseOptions, parse
from tests.parser.support import in_order, place

CORPUS = os.environ.get("CAMKES_CORPUS", "")
# Headers that upstream's build makes, or takes from elsewhere, are not in the repositories.
ELSEWHERE = ("E0111",)

pytestmark = [
    pytest.mark.requirement("LANG-2"),
    pytest.mark.skipif(not CORPUS, reason="CAMKES_CORPUS names no folder of public code"),
]


def include_path(root: Path) -> tuple[Path, ...]:
    """The folders of the corpus that hold headers for .camkes files; one platform of each kind."""
    folders = [
        *root.glob("*/components/*/include/plat/pc99"),
        *root.glob("*/components/*/include/plat/tx2"),
        *root.glob("**/camkes-include"),
        *root.glob("*/apps/*/include"),
        *root.glob("*/apps/*/components/*/src"),
        *root.glob("*/apps/*/src"),
        *root.glob("*/libsel4camkes/include"),
    ]
    return tuple(sorted(folder for folder in folders if folder.is_dir()))


def nearest_first(folders: tuple[Path, ...], file: Path) -> tuple[Path, ...]:
    """The folders in the order in which a build of the file's own application would name them."""
    return tuple(sorted(folders, key=lambda folder: -len(os.path.commonpath([folder, file]))))


def verdicts(root: Path) -> dict[str, str]:
    path = Path(os.environ.get("CAMKES_VERDICTS", root / "verdicts.tsv"))
    if not path.exists():
        return {}
    rows = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    return {f"{row[0]}/{row[1]}": row[2] for row in rows}


def test_the_corpus() -> None:
    root = Path(CORPUS)
    folders = include_path(root)
    flags = ("-DCAMKES_TOOL_PROCESSING", '-DPICOSERVER_IP_ADDR="10.0.0.1"')
    expected = verdicts(root)
    wrong, files = [], 0
    for path in sorted([*root.rglob("*.camkes"), *root.rglob("*.idl4")]):
        verdict = expected.get(path.relative_to(root).as_posix(), "unknown")
        sink = Sink()
        source = read_source(path, sink)
        options = ParseOptions(cpp_flags=flags, include_path=nearest_first(folders, path))
        tree = parse(source, sink, options=options) if source is not None else None
        files += 1
        problems = [each for each in in_order(sink) if each.code.number not in ELSEWHERE]
        # Whatever upstream refuses after its grammar is not the parser's to refuse.
        refused = verdict.startswith(("REJECT at stage0", "REJECT at stage1:"))
        if verdict != "unknown" and (refused != (tree is None)) and (problems or refused):
            wrong += [f"{path}:{place(each.span)} {each.message} ({verdict})" for each in problems] or [
                str(path)
            ]
    assert files
    assert not wrong, "\n".join(wrong)
