# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Documents for other programs."""

from __future__ import annotations

from msgspec import to_builtins

from camkes.visible import visible_json


def json_text(document: object, indent: int | None = 2) -> str:
    """A document as JSON that people can read, too; on one line without an `indent`."""
    import json  # most commands write none

    return visible_json(json.dumps(to_builtins(document), indent=indent, ensure_ascii=False))
