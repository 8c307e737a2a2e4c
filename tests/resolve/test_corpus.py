# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Public CAmkES files get the verdict that the original tool gives them.

Needs CAMKES_CORPUS (see `tests.resolve.corpus`) and CAMKES_CORPUS_VERDICTS, a table "repository <tab> path
<tab> verdict". Where camkes-tool itself is installed, `test_upstream` compares more.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from camkes.diagnostics import Severity, Sink
from camkes.resolve import codes, load
from tests.resolve import corpus

pytestmark = pytest.mark.requirement("LANG-2")

VERDICTS = os.environ.get("CAMKES_CORPUS_VERDICTS")

#: Headers of repositories that are not part of the corpus.
ELSEWHERE = ("rumprun_camkes.h",)


def rows() -> Iterator[tuple[Path, str]]:
    root = corpus.corpus()
    if not root or not VERDICTS:
        return
    for line in Path(VERDICTS).read_text(encoding="utf-8").splitlines():
        repository, path, verdict = line.split("\t")
        file = root / repository / path
        if verdict.startswith(("ACCEPT", "REJECT", "FRAGMENT")) and file.exists():
            yield file, verdict


@pytest.mark.skipif(
    not (corpus.corpus() and VERDICTS), reason="CAMKES_CORPUS and CAMKES_CORPUS_VERDICTS are not set"
)
def test_corpus() -> None:
    root = corpus.corpus()
    assert root is not None
    wrong, right, elsewhere = [], 0, 0
    for file, verdict in rows():
        sink = Sink()
        match = re.search(r"platform (\S+?)\)", verdict)
        load(file, corpus.options(root, file, match[1] if match else None), sink)
        errors = [d for d in sink.diagnostics if d.severity is Severity.ERROR]
        if any(name in d.message for d in errors for name in ELSEWHERE):
            elsewhere += 1
        elif agrees(verdict, [d.code.number for d in errors]):
            right += 1
        else:
            wrong.append(f"{file}: {verdict[:60]}: {errors[0].message if errors else 'accepted'}")
    print(f"\n{right} of {right + len(wrong)} as the original; {elsewhere} need files from elsewhere")
    assert not wrong, "\n".join(wrong)


def agrees(verdict: str, errors: list[str]) -> bool:
    if verdict.startswith("ACCEPT all"):
        return not errors
    if verdict.startswith("REJECT"):
        return bool(errors)
    if "stage4" in verdict or "needs IOPort" in verdict:  # a part that counts on what is imported before it
        return codes.UNKNOWN_NAME.number in errors
    return codes.NO_ASSEMBLY.number in errors or codes.NO_INSTANCES.number in errors
