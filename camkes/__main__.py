# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`python -m camkes`."""

import sys

from camkes.cli import main

sys.exit(main())
