# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Plans, analyses and runs for people and for other programs: tables, pictures, pages, JSON. Nothing is
decided here."""
