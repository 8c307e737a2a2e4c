# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Conversion from the priority-aware-camkes library to the native syntax: `.camkes` files, C code and
CMakeLists.txt.

Files are read as tokens, not as what the preprocessor makes of them: the library need not be there, and
comments and layout stay.
"""
