# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Draws how many task sets each test accepts, over the utilisation; needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.papers.sweep import Row
from camkes.files import OutputError

_TESTS = {
    "plain": ("hyperbolic, without blocking", "-", "#555555"),
    "hyperbolic": ("hyperbolic, with blocking", "-", "#0072b2"),
    "liu_layland": ("Liu and Layland, with blocking", "--", "#d55e00"),
    "response": ("response times", ":", "#009e73"),
}


def draw(rows: Sequence[Row], title: str, path: Path) -> None:
    """A figure with a plot for each configuration, in the format of the path's suffix (.svg, .png, .pdf).
    Raises ImportError, OutputError."""
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "camkes"  # names in the file do not change from run to run
    from matplotlib import pyplot

    names = list(dict.fromkeys(row.configuration for row in rows))
    columns = min(len(names), 2)
    lines = -(-len(names) // columns)
    figure, axes = pyplot.subplots(lines, columns, figsize=(5.2 * columns, 3.6 * lines), squeeze=False)
    for place, axis in enumerate(axes.flat):
        if place >= len(names):
            axis.set_axis_off()
            continue
        shown = [row for row in rows if row.configuration == names[place]]
        for field, (label, style, color) in _TESTS.items():
            percent = [100 * getattr(row, field) / row.sets for row in shown]
            axis.plot([row.utilisation for row in shown], percent, style, color=color, label=label)
        missed = [row for row in shown if row.missed]
        if missed:
            percent = [100 * (1 - row.missed / row.simulated) for row in missed]
            axis.plot([row.utilisation for row in missed], percent, "x", color="#cc0000", label="simulation")
        axis.set_title(names[place])
        axis.set_xlabel("utilisation")
        axis.set_ylabel("accepted sets (%)")
        axis.set_xlim(0, 1.01)
        axis.set_ylim(-2, 102)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8, loc="lower left")
    figure.suptitle(title)
    figure.tight_layout()
    try:
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from error
    finally:
        pyplot.close(figure)
