# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which method a word `IFACE_METHOD` names, in settings such as `IFACE_METHOD_wcet`.

Names of interfaces and methods have underscores, too. An interface of that whole name is meant rather than a
method, and of several interfaces the one with the longest name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from camkes.model.settings import WCET, WCETS


def method_of(word: str, methods: Mapping[str, Collection[str]]) -> tuple[str, str] | None:
    """The interface and the method that a word names, where `methods` are those of each interface; None
    where it names an interface, or nothing."""
    if word in methods:
        return None
    known = ((name, word.removeprefix(f"{name}_")) for name in _before(word, methods))
    return next(((name, method) for name, method in known if method in methods[name]), None)


def unknown_method(setting: str, methods: Mapping[str, Collection[str]]) -> tuple[str, str] | None:
    """The interface, and what follows its name, in a setting of an execution time that names no method of
    it; None for all others."""
    for known in (WCET, *WCETS):
        word = setting.removesuffix(known.of("_"))
        if word != setting and word not in methods and method_of(word, methods) is None:
            return next(((name, word.removeprefix(f"{name}_")) for name in _before(word, methods)), None)
    return None


def _before(word: str, names: Collection[str]) -> list[str]:
    """The names with which the word begins, before an underscore, the longest first."""
    return sorted((name for name in names if word.startswith(f"{name}_")), key=len, reverse=True)
