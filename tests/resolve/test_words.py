# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Every word that we gave a meaning is still a name, and so is every name that public files use.

For the names of public files: CAMKES_CORPUS (see `tests.resolve.corpus`).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camkes.model.protocols import Protocol
from camkes.model.settings import TABLE, UNTYPED_POOL
from camkes.model.units import NANOSECONDS
from camkes.parser.tables import load as load_tables
from camkes.resolve.program.settings import TIMES
from camkes.resolve.words.keywords import C_KEYWORDS, C_LIBRARY, C_MACROS
from camkes.resolve.words.known import is_known
from tests.resolve import corpus
from tests.resolve.systems import resolve

pytestmark = pytest.mark.requirement("LANG-15")

TABLES = load_tables()

#: Words that mean something somewhere, and are names elsewhere.
WORDS = sorted(
    {
        *TABLES.contextual,
        *NANOSECONDS,
        *TIMES,
        *(protocol.value for protocol in Protocol),
        *("priority", "ceiling", "helpers", "protocol", "next", "Buf", "dtb", "gpio", "list", "dict"),
        *("run", "id"),
    }
)

SYSTEM = """
procedure {w} {{ int {w}(in int {w}, inout {w} again); }}
struct {w} {{ int {w}; {w}_other other; }}
connector {w} {{ from Procedures; to Procedure; attribute {w} {w} = 1; }}
component {w} {{ control; uses {w} {w}; emits {w} sign; maybe dataport {w} port; }}
component Server {{ provides {w} {w}; has mutex mutex_of_it; attribute {w} value; }}
component Setting {{ attribute int {w}; attribute {w} structure; }}
connector Signal {{ from Event; to Events; }}
component Sync {{ has semaphore {w}; consumes E e; }}
component Source {{ emits E {w}; provides {w} p; }}
component Box {{
    provides {w} {w};
    composition {{ component Source {w}; export {w}.p -> {w}; }}
}}
composition {w} {{ component Setting unused; }}
configuration {w} {{ unused.{w} = 1; }}
assembly {w} {{
    composition {{
        component {w} {w};
        component Server server;
        component Box box;
        component Setting setting;
        component Sync sync;
        component Source source;
        connection {w} call({ends});
        connection Signal signal(from source.{w}, to sync.e);
    }}
    configuration {{
        setting.{w} = {value};
        server.value = {{"{w}": 4, "other": {{"x": 1}}}};
        {w}.{w} <- setting.{w};
    }}
}}
"""

GROUPED = """
connector Signal {{ from Event; to Event; }}
component From {{ emits E e; }}
component To {{ consumes E e; attribute int {w}; }}
assembly {{
    composition {{
        group {w} {{ component From {w}; }}
        component To to_it;
        connection Signal c(from {w}.{w}.e, to to_it.e);
    }}
    configuration {{ to_it.{w} = 1; }}
}}
"""

CONNECTED = """
connector Signal {{ from Event; to Event; }}
component From {{ emits E e; }}
component To {{ consumes E e; }}
assembly {{
    composition {{
        component From a;
        component To b;
        connection Signal {w}(from a.e, to b.e);
    }}
    configuration {{ {w}.size = 4096; }}
}}
"""


def name_everywhere(folder: Path, word: str) -> list[str]:
    """What is wrong with a word as the name of everything."""
    other = f"struct {word}_other {{ int x; }}\n"
    ends = f"from {word}.{word}, to server.{word}"
    value = 20 if word.endswith("_budget") else 3  # microseconds: no kernel has a shorter budget
    wrong = []
    for text in (
        other + SYSTEM.format(w=word, ends=ends, value=value),
        GROUPED.format(w=word),
        CONNECTED.format(w=word),
    ):
        system, diagnostics = resolve(folder, text)
        wrong += [f"{word}: {d.message}" for d in diagnostics if d.code.number.startswith("E")]
        if system is not None:
            named = {i.name for i in system.instances} | {c.name for c in system.connections}
            wrong += [] if word in named else [f"{word} is missing"]
    return wrong


@pytest.mark.parametrize("word", WORDS)
def test_contextual_words_are_names(tmp_path: Path, word: str) -> None:
    assert name_everywhere(tmp_path, word) == []


def test_a_reserved_word_cannot_be_a_name(tmp_path: Path) -> None:
    """The test can fail."""
    assert name_everywhere(tmp_path, "uses")


@pytest.mark.skipif(not corpus.corpus(), reason="CAMKES_CORPUS is not set")
def test_every_name_of_public_files(tmp_path: Path) -> None:
    root = corpus.corpus()
    assert root is not None
    comment = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"]*\"|^\s*#[^\n]*", re.DOTALL | re.MULTILINE)
    texts = (file.read_text(errors="replace") for file in corpus.files(root))
    words = {word for text in texts for word in re.findall(r"\b[A-Za-z_]\w*", comment.sub(" ", text))}
    # C keywords cannot be names of methods, upstream or here, nor what C has already of attributes
    words -= {*TABLES.words, *C_KEYWORDS, *C_MACROS, *C_LIBRARY, "main", "camkes"}
    fixed = {"server", "box", "setting", "sync", "source", "Server", "Setting", "Sync", "Source", "Box"}
    fixed |= {"a", "b", "c", "call", "signal", "From", "To", "Signal", "to_it", "unused"}
    fixed |= {"value", "structure", "other", "again", "e", "E", "p", "sign", "port", "mutex_of_it"}
    words = {word for word in words if word.isascii()} - fixed  # names that the systems use themselves
    wrong = [each for word in sorted(words) for each in name_everywhere(tmp_path, word)]
    print(f"\n{len(words)} names of public files")
    assert len(words) > 100
    assert not wrong, "\n".join(wrong[:40])


def test_every_setting_that_the_tool_reads_is_a_known_word() -> None:
    """The words are taken from the table of settings."""
    prefixes = {"thread": ("", "_", "p_"), "instance": ("",)}
    for setting in TABLE.values():
        if setting is not UNTYPED_POOL:
            for prefix in prefixes.get(setting.owner, ("p_",)):
                assert is_known(setting.of(prefix), ["p"]), setting.of(prefix)
    assert is_known("untyped12_pool", [])
    assert not is_known("untyped_pools", [])
