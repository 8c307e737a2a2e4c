# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Schedulability: whether each task meets its deadline, and why.

`workload` reduces a system and its plan to tasks, CPIs and the number of requests between them; `platform`
has what operations cost. On these alone, `demand` computes execution times, `blocking` blocking, `bounds` the
utilisation bounds and `response` response times; `verdict` puts them together. `obstacles` has what keeps
jobs from having a bound, `unbounded` what follows for others, and `assumptions` what a bound rests on that is
not known. Times are whole nanoseconds.
"""

import os

# NumPy's library starts a thread for each processor, or hangs where a limit forbids that. None is used.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
