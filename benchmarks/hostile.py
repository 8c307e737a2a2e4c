# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Generated hostile clients: what others notice of them, see tests/runtime/hostile.py.

The number of a case chooses the server, the kernel, and what the attacker sends when; a failing one is
repeated with `--first NUMBER --count 1`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.runtime.hostile import SERVERS, cases


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="number of cases (default: 200)")
    parser.add_argument("--first", type=int, default=0, help="number of the first one (default: 0)")
    parser.add_argument("--server", choices=[server.name for server in SERVERS], help="only with this server")
    options = parser.parse_args()
    done: Counter[str] = Counter()
    failed = 0
    for case in cases(options.count, options.first):
        if options.server in (None, case.server.name):
            with tempfile.TemporaryDirectory() as folder:
                found = case.differences(Path(folder))
            done[f"{case.server.name}{' (MCS)' if case.mcs else ''}"] += 1
            failed += bool(found)
            for line in found:
                print(f"{case.seed} {case.server.name}: {line}", flush=True)
    for name, count in done.items():
        print(f"{name}: {count}")
    print(f"{sum(done.values())} hostile clients, {failed} noticed by others or not named")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
