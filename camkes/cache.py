# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The cache folder of the tool. Its contents may be deleted at any time."""

from __future__ import annotations

import os
from contextlib import suppress


def cache_folder(name: str = "") -> str | None:
    """A folder of the user's cache, which need not exist; None for a user without a home."""
    return user_path("XDG_CACHE_HOME", ".cache", name)


def user_path(variable: str, default: str, name: str) -> str | None:
    """Where the tool keeps `name`: below the folder that an environment variable of the XDG Base Directory
    Specification names, or below `default` in the user's home; None for a user without a home."""
    base = os.environ.get(variable) or ""
    if not base.startswith("/"):
        home = os.path.expanduser("~")  # noqa: PTH111 - pathlib raises where there is none
        if not home.startswith("/"):
            return None
        base = f"{home}/{default}"
    return f"{base}/camkes-rt/{name}".rstrip("/")


def mark_used(path: str | os.PathLike[str]) -> None:
    """What is in use is not among the older of its folder."""
    with suppress(OSError):  # of another user, or gone
        os.utime(path)


def forget_older(folder: str | os.PathLike[str], most: int) -> None:
    """Remove the older half of what is in a folder where there is more than `most`. Others may do so too."""
    import shutil

    if len(os.listdir(folder)) <= most:  # noqa: PTH208
        return
    times: dict[str, int] = {}
    for entry in os.scandir(folder):
        with suppress(FileNotFoundError):
            times[entry.path] = entry.stat().st_mtime_ns
    for path in sorted(times, key=times.__getitem__)[: -most // 2]:
        if os.path.isdir(path):  # noqa: PTH112
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(FileNotFoundError):
                os.unlink(path)  # noqa: PTH108
