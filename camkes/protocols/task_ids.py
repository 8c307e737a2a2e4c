# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The numbers that messages carry for tasks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from camkes.model.system import Task


def assign_ids(tasks: Sequence[Task]) -> dict[str, int]:
    """Task ids by instance: those stated, and in the gaps the others in the order of their names."""
    taken = {task.stated_id for task in tasks}
    free = (number for number in count() if number not in taken)
    ids = {task.instance: task.stated_id for task in tasks if task.stated_id is not None}
    for name in sorted(task.instance for task in tasks if task.stated_id is None):
        ids[name] = next(free)
    return ids
