# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Finds the known name nearest to an unknown one."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, candidates: Iterable[str], least: float = 0.6) -> str | None:
    """The candidate that `word` is most likely a slip of, or None if none is close. `least` is how close, up
    to 1 for equal words (`difflib.SequenceMatcher.ratio`)."""
    from difflib import get_close_matches  # slow to import, and only mistakes need it

    names = sorted(set(candidates) - {word})
    folded = {name.lower(): name for name in reversed(names)}
    parts = set(word.lower().split("_"))
    longer = [name for name in folded if len(parts) > 1 and parts <= set(name.split("_"))]  # a part left out
    found = get_close_matches(word.lower(), longer or folded, n=1, cutoff=0.5 if longer else least)
    return next((folded[name] for name in found), None)


def suggestion(word: str, candidates: Iterable[str]) -> str:
    """A help text that names the nearest candidate; empty if none is close."""
    found = nearest(word, candidates)
    return f"did you mean `{found}`?" if found else ""


def suggested(help: str) -> str | None:
    """What a help text of `suggestion`, or of that form, suggests."""
    before, quote, word = help.partition("did you mean `")
    return word.removesuffix("`?") if not before and quote and word.endswith("`?") else None
