# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Every tracked file says its licence: in its first lines, or through an annotation in REUSE.toml."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADER_LINES = 5


def pattern(glob: str) -> re.Pattern[str]:
    """A REUSE glob as a regular expression: `**` crosses folders, `*` does not."""
    parts = re.split(r"(\*\*/|\*\*|\*)", glob)
    translated = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}
    return re.compile("".join(translated.get(part, re.escape(part)) for part in parts) + r"\Z")


def unlicensed(root: Path) -> list[str]:
    """Tracked files without a licence, relative to `root`."""
    reuse = tomllib.loads((root / "REUSE.toml").read_text("utf-8"))
    annotated = [pattern(glob) for entry in reuse["annotations"] for glob in entry["path"]]
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True)
    missing = []
    for name in filter(None, listing.stdout.split("\0")):
        path = root / name
        if path.is_symlink() or not path.is_file() or name.startswith("LICENSES/"):
            continue
        if any(p.match(name) for p in annotated):
            continue
        head = path.read_bytes().split(b"\n", HEADER_LINES)[:HEADER_LINES]
        if not any(b"SPDX-License-Identifier:" in line for line in head):
            missing.append(name)
    return missing


def main() -> int:
    missing = unlicensed(ROOT)
    for name in missing:
        print(f"{name}: no SPDX-License-Identifier in its first {HEADER_LINES} lines")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
