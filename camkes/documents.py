# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Documents for other programs."""

from __future__ import annotations

from msgspec import to_builtins


def json_text(document: object) -> str:
    """A document as JSON that people can read, too."""
    import json  # most commands write none

    return json.dumps(to_builtins(document), indent=2, ensure_ascii=False)
