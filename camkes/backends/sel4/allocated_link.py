# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""As `link`, with what memory each object is made of, and, for proofs, other names and a file of labels.

    python -c "from camkes.backends.sel4.allocated_link import main; main()" \\
        UNTYPED.yaml LABELS.json SPEC SYSTEM.cdl TABLES.c MOST SIZES.yaml SPACE=IMAGE ...

`LABELS.json` is "-" where no theories are written.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from camkes.backends.sel4.link import finish, linked
from camkes.backends.sel4.memory import read_memory
from camkes.backends.sel4.renamed import renamed
from camkes.capdl.loader_table import loader_table
from camkes.capdl.text import capdl_text


def main() -> None:
    """Read what the command line names, write the distribution, and end the process."""
    untyped, labels, specification, text, tables, most, sizes, *named = sys.argv[1:]
    memory = read_memory(untyped, sizes)

    def make() -> Mapping[str, str]:
        spec, distribution = linked(specification, named)
        if labels != "-":
            Path(labels).write_text(renamed(distribution, spec.names, memory.sizes), encoding="utf-8")
        roots, distribution.children = memory.allocated(distribution.objects)
        distribution.objects += roots
        distribution.check(int(most or sys.maxsize))
        return {text: capdl_text(distribution), tables: loader_table(distribution, memory.sizes)}

    finish(make)
