# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics of a migration."""

from __future__ import annotations

from camkes.diagnostics import Code

LOOK = Code(
    "N0851",
    "look-here",
    """`camkes migrate` changed this place, or left it, and cannot know whether that is what you want.

The message says why. Nothing is written without `--write`; what is shown is what would be written.
""",
)

NOTHING_TO_MIGRATE = Code(
    "N0852",
    "nothing-to-migrate",
    """Nothing in these files belongs to the priority-aware-camkes library: no macro, connector, header or
attribute of it. So nothing is changed, also not what could look like it.
""",
)

NO_FILES = Code(
    "E0853",
    "no-files-to-migrate",
    """There is no application where `camkes migrate` looks for one.

Name its folder, or a `.camkes` file in it:

```
camkes migrate projects/camkes/apps/my-application
```
""",
)

CODES = (LOOK, NOTHING_TO_MIGRATE, NO_FILES)
