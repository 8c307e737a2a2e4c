# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The interface between the pipeline and the backend of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from camkes.capdl.model import CapabilityModel
    from camkes.diagnostics import Sink
    from camkes.model.system import System
    from camkes.project.application import Application
    from camkes.protocols.plan import Plan

Progress = Callable[[str], None]
Code = TypeVar("Code")
Image = TypeVar("Image", covariant=True)
Result = TypeVar("Result")


class Backend(Protocol[Code, Image]):
    """What differs between the kernels that a system can be built for. `Code` is what is generated for a
    kernel and `Image` what is built of that."""

    @property
    def application(self) -> Application: ...

    @property
    def generated(self) -> Path:
        """Where C code is generated."""

    @property
    def calls(self) -> Path:
        """Where code is compiled to read what it calls."""

    @property
    def headers(self) -> Path:
        """Where `camkes.h` is written for that."""

    @property
    def sanitize(self) -> bool:
        """Whether code is compiled for sanitizers."""

    def check(self, system: System, sink: Sink) -> None:
        """Report what of the system cannot be built for this kernel."""

    def alone(self, step: Callable[[], Result], sink: Sink, progress: Progress) -> Result | None:
        """Do a step while no other command builds in the folder; None after a diagnostic."""

    def allocate(self, system: System, plan: Plan, sink: Sink) -> CapabilityModel:
        """Decide the kernel objects and capabilities."""

    def generate(self, system: System, plan: Plan, model: CapabilityModel, sink: Sink) -> Code | None:
        """Write the C code."""

    def build(self, system: System, plan: Plan, code: Code, sink: Sink, progress: Progress) -> Image | None:
        """Make an image, or all that CMake makes one of."""
