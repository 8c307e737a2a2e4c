# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Source files, spans, diagnostics and codes, from `core`."""

from camkes.diagnostics.core import (
    Code,
    Diagnostic,
    Expansion,
    Label,
    Severity,
    Sink,
    SourceFile,
    Span,
)

__all__ = ["Code", "Diagnostic", "Expansion", "Label", "Severity", "Sink", "SourceFile", "Span"]
