# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes lsp`: a server with its features, and the streams it is served on."""

from __future__ import annotations

import gc
import os
import sys

from camkes.editor import editing, navigation, presentation, structure, synchronisation
from camkes.editor.session import Server


def make_server() -> Server:
    """A server with all its features."""
    server = Server()
    modules = (synchronisation, navigation, presentation, structure, editing)
    for feature in (each for module in modules for each in module.FEATURES):
        server.feature(feature.method, feature.options)(feature.answer)
    return server


def serve() -> bool:
    """Serve one editor until it disconnects. Whether it announced that.

    The protocol gets standard output for itself; what anything else prints goes to standard error.
    """
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        server = make_server()
        gc.disable()  # it would stop answers at any time; the server collects when it has time
        server.start_io(stdout=output)
        return server.dismissed
