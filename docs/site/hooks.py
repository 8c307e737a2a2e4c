# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What mkdocs does in addition: pages made of the code, pages of the repository outside `docs/`, and links
between them, which are written as files of the repository."""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
import reference

ROOT = reference.ROOT

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


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    for name, make in (reference.PAGES | reference.SCHEMAS).items():
        files.append(File.generated(config, name, content=make()))
    for path, name in OUTSIDE.items():
        if (ROOT / path).is_file():
            files.append(File.generated(config, name, content=(ROOT / path).read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to files of the repository lead to their pages; of a file without one only the name stays."""
    markdown = _LICENCE.sub("", markdown)  # mkdocs looks for the title in the first line
    source = page.file.src_uri
    original = next((path for path, name in OUTSIDE.items() if name == source), f"docs/{source}")
    if source in reference.PAGES:
        return markdown

    def link(match: re.Match[str]) -> str:
        picture, words, target, anchor = match.groups()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(original), target))
        name = OUTSIDE.get(path, path.removeprefix("docs/") if path.startswith("docs/") else "")
        if not name:
            return f"{words} (`{path}`)" if (ROOT / path).exists() else match[0]
        where = posixpath.relpath(name, posixpath.dirname(source) or ".")
        return f"{picture}[{words}]({where}{anchor or ''})"

    return _LINK.sub(link, markdown)
