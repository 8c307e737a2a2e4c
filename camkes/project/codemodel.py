# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How sources are compiled, according to CMake: the compile groups of its file API (codemodel version 2)."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from camkes.project.records import CodemodelGroup, read_made

QUERY = "codemodel-v2"
#: Libraries that recorder.cmake makes of components: COMPONENT or COMPONENT.INSTANCE follows.
UNIT = "camkes_unit."
#: What CMake's Ninja files call the commands to run before a target's sources are compiled; its name follows.
READY = "cmake_object_order_depends_target_"
#: what compilers call a language
_LANGUAGES = {"C": "c", "CXX": "c++", "ASM": "assembler-with-cpp"}
_PRECOMPILED = "/cmake_pch."  # the header that includes those to be precompiled, which are listed


def read_groups(build: Path, stand_in: str) -> dict[str, list[CodemodelGroup]]:
    """The groups of each target in the build folder; none where CMake did not come that far. Sources whose
    paths begin with `stand_in` represent all others."""
    reply = build / ".cmake/api/v1/reply"
    found: dict[str, list[CodemodelGroup]] = {}
    for model in sorted(reply.glob(f"{QUERY}-*.json")):
        try:
            content = _read(model)
            top = content["paths"]["source"]
            for target in content["configurations"][0]["targets"]:
                groups = list(_groups(_read(reply / target["jsonFile"]), top, stand_in))
                if groups:
                    found[str(target["name"])] = groups
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            continue  # the application has put it there
    return found


def _read(path: Path) -> Any:
    return json.loads(read_made(path).decode("utf-8", "surrogateescape"))


def _groups(target: Mapping[str, Any], top: str, stand_in: str) -> Iterator[CodemodelGroup]:
    paths: list[list[str]] = [[] for _ in target.get("compileGroups", [])]
    for source in target.get("sources", []):
        if "compileGroupIndex" in source and _PRECOMPILED not in source["path"]:
            path = os.path.normpath(os.path.join(top, source["path"]))  # noqa: PTH118
            paths[source["compileGroupIndex"]].append("" if path.startswith(stand_in) else path)
    for group, sources in zip(target.get("compileGroups", []), paths, strict=True):
        folders = [(folder["path"], folder.get("isSystem", False)) for folder in group.get("includes", [])]
        flags = [f"-D{each['define']}" for each in group.get("defines", [])]
        flags += [word for path, is_system in folders if is_system for word in ("-isystem", path)]
        words = [
            word for each in group.get("compileCommandFragments", []) for word in _words(each["fragment"])
        ]
        flags += [w for each in group.get("precompileHeaders", []) for w in _include(each["header"])]
        flags += _without_language(_without_precompiled(words), str(group["language"]))
        if sources:
            own = [path for path, is_system in folders if not is_system]
            yield CodemodelGroup(str(group["language"]), sources, own, flags)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()  # a quotation mark without its partner


def _include(header: str) -> tuple[str, str]:
    return "-include", header.strip('<>"')


def _without_language(words: list[str], language: str) -> list[str]:
    """Without the `-x` for its language that CMake adds to a source with the property LANGUAGE."""
    name = _LANGUAGES.get(language)
    drop = {i for i, (a, b) in enumerate(pairwise(words)) if a == "-x" and b == name}
    return [w for i, w in enumerate(words) if i not in drop and i - 1 not in drop]


def _without_precompiled(words: list[str]) -> list[str]:
    """Without the flags that name the header which CMake makes of those to be precompiled."""
    if not any(_PRECOMPILED in word for word in words):
        return words
    drop = {i for i, (a, b) in enumerate(pairwise(words)) if a == "-include" and _PRECOMPILED in b}
    drop |= {i + 1 for i in drop}
    return [
        w for i, w in enumerate(words) if i not in drop and w not in ("-Winvalid-pch", "-fpch-preprocess")
    ]
