# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The sources of the documentation site, for Sphinx: the pages of docs/, those that are elsewhere in the
repository, and those that are made of the code. Links between them are written as files of the repository.

    python docs/site/pages.py FOLDER    # which is made anew
"""

from __future__ import annotations

import posixpath
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import reference

ROOT = reference.ROOT
DOCS = ROOT / "docs"

#: Pages outside docs/, by their names in the repository.
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "kernel/host/README.md": "kernel/host.md",
    "benchmarks/README.md": "benchmarks.md",
    "examples": "reference/examples.md",
} | {
    f"examples/{page.parent.name}/README.md": f"examples/{page.parent.name}.md"
    for page in sorted((ROOT / "examples").glob("*/README.md"))
}

_LICENCE = re.compile(r"\A(?:<!--.*?-->\n)+", re.DOTALL)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)#\s]*)(#[^)\s]*)?\)")
_TITLED = re.compile(r'^```(\w+) title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def navigation() -> dict[str, list[str]]:
    """The pages of the menu, by heading."""
    return tomllib.loads((DOCS / "site" / "navigation.toml").read_text("utf-8"))


def pages() -> Iterator[tuple[str, str]]:
    """All pages: their names in the site, and their texts as Markdown for Sphinx."""
    found = {path.relative_to(DOCS).as_posix(): path for path in DOCS.rglob("*.md")}
    found |= {name: ROOT / path for path, name in OUTSIDE.items() if (ROOT / path).is_file()}
    for name, path in sorted(found.items()):
        text = linked(_LICENCE.sub("", path.read_text("utf-8")), name, path.relative_to(ROOT).as_posix())
        yield name, with_captions(text) + below(name, sorted(found))
    for name, make in reference.PAGES.items():
        yield name, make()


def linked(text: str, name: str, original: str) -> str:
    """Links to files of the repository lead to their pages; of a file without one only the name stays."""

    def link(match: re.Match[str]) -> str:
        picture, words, target, anchor = match.groups()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(original), target))
        page = OUTSIDE.get(path, path.removeprefix("docs/") if path.startswith("docs/") else "")
        if not page:
            return f"{words} (`{path}`)" if (ROOT / path).exists() else match[0]
        where = posixpath.relpath(page, posixpath.dirname(name) or ".")
        return f"{picture}[{words}]({where}{anchor or ''})"

    return _LINK.sub(link, text)


def with_captions(text: str) -> str:
    """The titles of blocks, as Sphinx wants them."""
    return _TITLED.sub(r"```{code-block} \1\n:caption: \2\n\n\3```", text)


def below(name: str, every: list[str]) -> str:
    """What the menu has below a page."""
    if name == "index.md":
        return "".join(tree(caption, names) for caption, names in navigation().items())
    if name in ("decisions/index.md", "requirements/index.md"):
        folder = name.removesuffix("index.md")
        inside = [each for each in every if each.startswith(folder) and each != name]
        return tree("", [each.removeprefix(folder) for each in inside])
    return ""


def tree(caption: str, names: list[str]) -> str:
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["", "```{toctree}", *options, "", *names, "```", ""])


def write(folder: Path) -> None:
    """All sources, with pictures and JSON schemas."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS / "images", folder / "images")
    texts = dict(pages()) | {name: make() for name, make in reference.SCHEMAS.items()}
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
