# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The kinds of diagnostics of the parser: E01xx."""

from __future__ import annotations

from camkes.diagnostics import Code

# Reading files ------------------------------------------------------------------------------------
FILE_UNREADABLE = Code("E0101", "file-unreadable")
FILE_NOT_TEXT = Code("E0102", "file-not-text")
FILE_TOO_LARGE = Code("E0103", "file-too-large")

# The C preprocessor -------------------------------------------------------------------------------
PREPROCESSOR_MISSING = Code("E0110", "preprocessor-missing")
PREPROCESSOR_ERROR = Code("E0111", "preprocessor-error")
PREPROCESSOR_LIMIT = Code("E0112", "preprocessor-limit")

# Characters and words -----------------------------------------------------------------------------
ILLEGAL_CHARACTER = Code("E0120", "illegal-character")
UNTERMINATED_STRING = Code("E0121", "unterminated-string")
STRING_ESCAPE = Code("E0122", "string-escape")
UNTERMINATED_COMMENT = Code("E0123", "unterminated-comment")
BAD_NUMBER = Code("E0124", "bad-number")
RESERVED_WORD = Code("E0125", "reserved-word")

# Sentences ----------------------------------------------------------------------------------------
SYNTAX_ERROR = Code("E0130", "syntax-error")
MISSING_SEMICOLON = Code("E0131", "missing-semicolon")
UNCLOSED_BRACKET = Code("E0132", "unclosed-bracket")
UNKNOWN_ITEM = Code("E0133", "unknown-item")
NESTED_TOO_DEEPLY = Code("E0134", "nested-too-deeply")

# Sentences that are well formed and still not of the language -------------------------------------
MAYBE_NOT_ALLOWED = Code("E0140", "maybe-not-allowed")
COMPONENT_ORDER = Code("E0141", "component-order")
CONNECTOR_ENDS = Code("E0142", "connector-ends")
SCHEDULE_TOO_SHORT = Code("E0143", "schedule-too-short")
SETTING_PATH = Code("E0144", "setting-path")
EMPTY_ASSEMBLY = Code("E0145", "empty-assembly")
