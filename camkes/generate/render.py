# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Renders templates.

A text is kept in the user's cache, under a digest of all that it is made of: a build that needs nothing new
need not load the template engine, which takes as long as all the rest. Compiled templates are kept there too.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from camkes.cache import cache_folder, forget_older
from camkes.files import write_changed
from camkes.generate.procedures import declare
from camkes.resources import TEMPLATES

if TYPE_CHECKING:
    from typing import Any

    import jinja2
    from msgspec import Struct

#: how many texts are kept: there are three for each instance
MOST_KEPT = 4000

#: after so many new texts it is looked whether these are too many, which lists the folder
_LOOK_AFTER = 250


def _cache(name: str) -> Path | None:
    """A folder of the user's cache, if there can be one."""
    kept = cache_folder(name)
    if kept is None:
        return None
    folder = Path(kept)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


class Renderer:
    """Renders with delimiters that leave a template looking like C."""

    def __init__(self, folder: Path = TEMPLATES) -> None:
        self._folder = folder
        self._kept = _cache("texts")
        self._made_of = _state(folder) + _state(Path(__file__).parent)
        self._environment: jinja2.Environment | None = None
        self._new = 0

    def render(self, template: str, me: Struct) -> str:
        """The text of a template; `me` is its context, one of frozen structs."""
        if self._kept is None:
            return self._render(template, me)
        key = hashlib.sha256(f"{self._made_of}\0{template}\0{me!r}".encode()).hexdigest()
        file = self._kept / key
        with suppress(OSError):
            digest, _, kept = file.read_bytes().partition(b"\n")
            if digest == _digest(kept):
                return kept.decode()
        text = self._render(template, me)
        with suppress(OSError):
            write_changed(file, _digest(text.encode()) + b"\n" + text.encode())
            self._new += 1
            if self._new % _LOOK_AFTER == 1:
                forget_older(self._kept, MOST_KEPT)
        return text

    def _render(self, template: str, me: Struct) -> str:
        if self._environment is None:
            self._environment = _environment(self._folder)
        return self._environment.get_template(template).render(me=me)


def _digest(text: bytes) -> bytes:
    """What is kept before a text: one that is damaged is made again."""
    return hashlib.sha256(text).hexdigest().encode()


def _state(folder: Path) -> str:
    """The files of a folder, and when they changed."""
    found = []
    for path, _, names in os.walk(folder):
        for name in sorted(names):
            if not name.endswith(".pyc"):
                status = os.stat(f"{path}/{name}")  # noqa: PTH116
                found.append(f"{path}/{name} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_size}")
    return "\n".join(found)


def c_environment(loader: jinja2.BaseLoader, **more: Any) -> jinja2.Environment:
    """For templates that look like C: statements are in comments. Compiled ones are kept between runs."""
    import jinja2

    class Cache(jinja2.FileSystemBytecodeCache):
        def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
            with suppress(OSError):  # the cache is full, or was removed
                super().dump_bytecode(bucket)

    folder = _cache("templates")
    return jinja2.Environment(
        loader=loader,
        block_start_string="/*-",
        block_end_string="-*/",
        variable_start_string="/*?",
        variable_end_string="?*/",
        comment_start_string="/*#",
        comment_end_string="#*/",
        undefined=jinja2.StrictUndefined,
        bytecode_cache=None if folder is None else Cache(str(folder)),
        **more,
    )


def _environment(folder: Path) -> jinja2.Environment:
    import jinja2

    environment = c_environment(
        jinja2.FileSystemLoader(folder),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.globals["declare"] = declare
    return environment
