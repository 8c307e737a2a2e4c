# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""SDKs for seL4: archives, made from a workspace, from which applications are built without one."""
