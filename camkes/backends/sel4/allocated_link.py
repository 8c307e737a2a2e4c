# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""As `link`, with what memory each object is made of, and, for proofs, other names and a file of labels.

    python -c "from camkes.backends.sel4.allocated_link import main; main()" \\
        UNTYPED.yaml SIZES.yaml LABELS.json SPEC SYSTEM.cdl MOST SPACE=IMAGE ...

`LABELS.json` is "-" where no theories are written.
"""

from __future__ import annotations

import sys
from pathlib import Path

from camkes.backends.sel4.link import finish, linked
from camkes.backends.sel4.memory import read_memory
from camkes.backends.sel4.renamed import renamed


def main() -> None:
    """Read what the command line names, write the distribution, and end the process."""
    untyped, sizes, labels, specification, output, most, *named = sys.argv[1:]
    memory = read_memory(untyped, sizes)

    def text() -> str:
        spec, distribution = linked(specification, named)
        if labels != "-":
            Path(labels).write_text(renamed(distribution, spec.names, memory.sizes), encoding="utf-8")
        distribution.objects += memory.allocated(distribution.objects)
        return distribution.text(int(most or sys.maxsize))

    finish(text, output)
