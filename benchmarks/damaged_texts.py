# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Changed texts of systems through check, fmt, plan and dump, in one process.

    python benchmarks/damaged_texts.py [--count N] [--seed N] [--longest SECONDS]

Each text is a system of this repository with one to four changes: tokens that are left out, repeated,
exchanged or from another text, blocks within blocks, macros, bytes. For none of them a command may end with a
defect, write a traceback or a hidden character, or need more than `--longest` seconds of a processor. Why one
fails is printed with the text, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from camkes.visible import visible  # noqa: E402
from tests.command import camkes  # noqa: E402

_TOKEN = re.compile(rb'"[^"\n]*"|<[^<>\n]*>|[A-Za-z_]\w*|\d+|\s+|.', re.DOTALL)
_LARGEST = 6000  # bytes of a text to change
_MACROS = b"""#define TWO(a, b) a b
#define EMPTY
#define NUMBER 3
#if NUMBER > 2
#define NAME(x) x##_NUMBER
#else
#error no
#endif
"""
_ODD = (
    *(b"\x1b[2J", b"\x00", b"\xff", "\u202e".encode(), "\ufeff".encode(), b"\r", b"\\\n"),
    *(b"/*", b"*/", b"//", b'"', b"#", b'#include "x"\n', b"#if 0\n", b"#endif\n", b'\n#line 5 "a"\n'),
    *(b"9" * 400, b"1e999", b"-", b"0x", b"<-", b"??=", b"EMPTY", b"NUMBER", b"TWO(,)", b"NAME(a)"),
    *(b"{" * 50, b"}" * 50, b"(" * 200, b"[" * 200, b"x." * 300, b"component C { composition { " * 120),
    *(b"group g { ", b"1 + " * 300, b'"' + b"a" * 5000 + b'"'),
)


def seeds() -> list[bytes]:
    paths = [*ROOT.glob("examples/*/*.camkes"), *ROOT.glob("tests/*/golden/**/*.camkes")]
    paths += [*ROOT.glob("tests/resolve/*/*.camkes"), *ROOT.glob("tests/parser/*.camkes")]
    texts = sorted({path.read_bytes() for path in paths})
    kept = [text for text in texts if len(text) <= _LARGEST]
    return [*kept, *(_MACROS + text for text in kept[::3]), _nested(99), _nested(300)]


def _nested(levels: int) -> bytes:
    """A system whose components contain each other, the innermost first."""
    lines = ["component C0 { control; }"]
    lines += [f"component C{n} {{ composition {{ component C{n - 1} x; }} }}" for n in range(1, levels)]
    lines.append(f"assembly {{ composition {{ component C{levels - 1} top; }} }}")
    return "\n".join(lines).encode()


def changed(random: random.Random, texts: list[bytes]) -> bytes:
    tokens = _TOKEN.findall(random.choice(texts))
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        _changes(random, tokens, texts)
        if not tokens:
            break
    return b"".join(tokens)


def _changes(random: random.Random, tokens: list[bytes], texts: list[bytes]) -> None:
    """One change, in place."""
    first = random.randrange(len(tokens))
    last = min(first + random.choice((1, 1, 1, 2, 3, 8, 40)), len(tokens))
    part = tokens[first:last]
    other = _TOKEN.findall(random.choice(texts)) or [b""]
    at = random.randrange(len(other))

    def bits() -> list[bytes]:
        data = bytearray(b"".join(part))
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        return [bytes(data)]

    kinds: tuple[Callable[[], list[bytes]], ...] = (
        list,
        lambda: part * random.choice((2, 3, 30)),
        lambda: part[::-1],
        lambda: [random.choice(tokens)],
        lambda: [*part, *other[at : at + random.choice((1, 5, 30))]],
        lambda: other[at : at + len(part)],
        lambda: [random.choice(_ODD)],
        lambda: [*part, random.choice(_ODD)],
        bits,
    )
    if random.randrange(20) == 0:
        del tokens[last:]
    tokens[first:last] = random.choice(kinds)()


def commands(number: int) -> Iterator[list[str]]:
    """Those that a text is given to. The preprocessor, which is another program, reads it once."""
    yield ["check", *(["--json"] if number % 5 == 0 else [])]
    yield ["fmt", "--check"]
    yield ["plan", "--nocpp"]
    yield ["dump", "--nocpp"]


def problem(number: int, path: Path, longest: float, good: Counter[str]) -> str:
    """The first mistake of the commands about a file; empty if there is none."""
    for words in commands(number):
        begin = time.process_time()
        result = camkes(*words, path)
        took = time.process_time() - begin
        good[words[0]] += result.status == 0
        said = result.output + result.errors
        if result.status not in (0, 1) or "Traceback" in said:
            return f"{words[0]}: status {result.status}\n{said[-3000:]}"
        if visible(said) != said:
            return f"{words[0]}: hidden characters"
        if took > longest:
            return f"{words[0]}: {took:.1f} s"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000, help="how many texts (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="of the first text (default: 0)")
    parser.add_argument("--longest", type=float, default=10, help="seconds a command may need (default: 10)")
    arguments = parser.parse_args()
    texts = seeds()
    good: Counter[str] = Counter()
    failed = 0
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.camkes")
        for number in range(arguments.seed, arguments.seed + arguments.count):
            text = changed(random.Random(number), texts)
            path.write_bytes(text)
            wrong = problem(number, path, arguments.longest, good)
            if wrong:
                failed += 1
                print(f"seed {number}: {wrong}\n{visible(text[:2000].decode(errors='surrogateescape'))}\n")
            if number % 1000 == 999:
                print(f"{number + 1 - arguments.seed} texts, {failed} failed", file=sys.stderr, flush=True)
    took = time.process_time() - begin
    print(f"{arguments.count} texts of {len(texts)} systems, {failed} failed; {took:.0f} s of this process")
    print("good: " + ", ".join(f"{name} {count}" for name, count in good.items()))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
