# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The pages about codes, found by number or by name."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from camkes.diagnostics import Code

_EFFECTIVE = " (its own, or that of a request that waits for a lock it holds, if that is higher)"
_CHECKED = """\
`camkes run --verify` checks it at every event of a run, from the trace and the text of the system alone. A
violation in a system that `camkes check` accepts is a defect of the runtime or the kernel, or the work of a
component that calls the kernel on its own. docs/protocols.md says how the protocols work."""


def all_codes() -> tuple[Code, ...]:
    """Every code there is, ordered by number, errors before warnings: each package has them in `codes.py`."""
    package = Path(__file__).parent
    found: dict[str, Code] = {}
    for path in sorted(package.glob("*/codes.py")):
        for value in vars(import_module(f"camkes.{path.parent.name}.codes")).values():
            if isinstance(value, Code):
                found[value.number] = value
    return tuple(found[number] for number in sorted(found))


def find(word: str) -> Code | None:
    """The code with this number or name, in any case."""
    wanted = word.strip().lower()
    return next((c for c in all_codes() if wanted in (c.number.lower(), c.name)), None)


def property_page(word: str) -> str | None:
    """What the property with this letter, or name, demands of a run; None if there is none."""
    from camkes.report.properties import MEANINGS

    wanted = word.strip().lower()
    for letter, meaning in MEANINGS.items():
        name = meaning.partition(":")[0]
        if wanted in (letter.value.lower(), name):
            demand = meaning.replace(", by the definition above", _EFFECTIVE)
            return f"property {letter.value}, {demand}.\n\n{_CHECKED}"
    return None


def nearest(word: str) -> str | None:
    """The number or name that `word` most likely stands for."""
    from difflib import get_close_matches

    codes = all_codes()
    numbers, names = [c.number for c in codes], [c.name for c in codes]
    like_number = any(c.isdigit() for c in word)
    same = [n for n in numbers if n[1:3] == word.strip()[1:3]]  # codes of one subject, where there are some
    found = get_close_matches(word.strip().upper(), same or numbers, n=1) if like_number else []
    found = found or get_close_matches(word.strip().lower(), names, n=1, cutoff=0.5)
    return found[0] if found else None


def page(code: Code) -> str:
    """The page of a code, with its number and name on top."""
    return f"{code.number} {code.name}\n\n{code.explanation.strip() or 'There is no page on this yet.'}"


def listing(codes: Sequence[Code]) -> str:
    """A line for each code."""
    return "\n".join(f"{code.number}  {code.name}" for code in codes)


def to_json(codes: Sequence[Code]) -> str:
    """The codes and their pages for other programs."""
    import json

    described = [
        {"number": c.number, "name": c.name, "severity": c.severity.value, "page": c.explanation.strip()}
        for c in codes
    ]
    return json.dumps(described, indent=2, ensure_ascii=False)
