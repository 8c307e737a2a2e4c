# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A command line that is read without argparse means what it means to argparse."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camkes import cli
from camkes.words import Arguments

OPTIONS = """-D -I -o -q -MD -h --import-path --cpp-flag --cpp-bin --cpp --nocpp --dtb --format --color
    --ascii --quiet --places --json --for --choices --window --timeslice --kernel --verify --output --import
    --form -- --version --help --write --stdin --sanitize
    --allow-forward-references --disallow-forward-references"""
VALUES = ["x.camkes", "folder", "A=1", "A", "A==", "2s", "150ms", "json", "text", "never", "host", "0:1ms"]
STRANGE = [
    "",
    "-",
    " ",
    "a b",
    "-1",
    "-x",
    "-DA=1",
    "-DA",
    "-D=A",
    "-D",
    "-Ifolder",
    "-I=x",
    "-ofile",
    "-qx",
    "=",
    "1:0",
]
WORDS = st.one_of(
    st.sampled_from(OPTIONS.split()),
    st.sampled_from(VALUES),
    st.sampled_from(VALUES + STRANGE),
    st.builds("{}={}".format, st.sampled_from(OPTIONS.split()), st.sampled_from(VALUES + STRANGE)),
)


def as_argparse_reads(words: Sequence[str]) -> dict[str, object] | None:
    """The values, or None for a mistake or a call for help."""
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            return vars(cli.make_parser(words[0]).parse_args(words, Arguments()))
    except SystemExit:
        return None


@settings(max_examples=1500, deadline=None)
@given(st.sampled_from([*cli.COMMANDS]), st.lists(WORDS, max_size=6))
def test_what_is_read_is_what_argparse_reads(command: str, rest: list[str]) -> None:
    words = cli.with_flags_joined([command, *rest])
    plain = cli.plain_arguments(words)
    assert plain is None or vars(plain) == as_argparse_reads(words)


@pytest.mark.parametrize(
    "line",
    [
        "check x.camkes",
        "check -q x.camkes --format json -DA=1 -D B=2 -I one --import-path=two --cpp-flag -DX --nocpp",
        "dump --places x.camkes -MD x.d",
        "plan x --json",
        "run x --for 2s --choices random:3 --window 0:1ms --verify",
    ],
)
def test_usual_lines_do_without_argparse(line: str) -> None:
    words = cli.with_flags_joined(line.split())
    plain = cli.plain_arguments(words)
    assert plain is not None
    assert vars(plain) == as_argparse_reads(words)
