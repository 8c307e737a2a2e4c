# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Renders templates, and turns their errors into diagnostics."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from os.path import normpath
from pathlib import Path
from typing import Any, Protocol

import jinja2

from camkes.backends.upstream_templates.codes import NO_TEMPLATE, TEMPLATE_ERROR, TEMPLATE_FAILED
from camkes.backends.upstream_templates.macros import TemplateError
from camkes.backends.upstream_templates.view import AssemblyView, ConfigurationView, EndView, InstanceView
from camkes.diagnostics import Diagnostic, Label, SourceFile, Span
from camkes.generate.render import c_environment
from camkes.project.codes import NOT_TRUSTED

#: our classes, as Jinja names them
_CLASS = re.compile(r"'camkes\.backends\.upstream_templates\.(?:\w+\.)*(\w+)")


class RenderError(Exception):
    """A template could not be rendered; the diagnostic has the reason."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class _NotTrustedError(Exception):
    """A template may not run; `path` is where it is."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path


class _Loader(jinja2.BaseLoader):
    """Finds a template by the path that is given, in the first of the folders that has it."""

    def __init__(self, folders: Sequence[Path], may_run: Callable[[Path], bool]) -> None:
        self.folders = tuple(folders)
        self.may_run = may_run
        self.files: dict[str, str] = {}

    def get_source(self, environment: jinja2.Environment, template: str) -> tuple[str, str, Any]:
        for folder in self.folders:
            path = Path(normpath(folder / template))  # as it is judged
            if path.is_file():
                if not self.may_run(path):
                    raise _NotTrustedError(path)
                text = path.read_text(encoding="utf-8")
                self.files[str(path)] = text
                return text, str(path), None
        raise jinja2.TemplateNotFound(template)


class TemplateSession(Protocol):
    """What templates of one system share."""

    @property
    def configuration(self) -> ConfigurationView: ...

    def context(self, me: Any) -> Mapping[str, Any]: ...


class TemplateRenderer:
    """Renders the templates of one system."""

    def __init__(
        self, folders: Sequence[Path], session: TemplateSession, may_run: Callable[[Path], bool]
    ) -> None:
        self.session = session
        self._loader = _Loader(folders, may_run)
        self._environment = c_environment(
            self._loader,
            extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
            auto_reload=False,
        )

    @property
    def files(self) -> tuple[Path, ...]:
        """The templates that were read."""
        return tuple(Path(path) for path in self._loader.files)

    def render(self, template: str, me: EndView | InstanceView | AssemblyView) -> str:
        try:
            return self._environment.get_template(template).render(self.session.context(me))
        except Exception as error:  # templates run any code
            raise RenderError(self._diagnostic(template, error, me)) from error

    def _diagnostic(
        self, template: str, error: Exception, me: EndView | InstanceView | AssemblyView
    ) -> Diagnostic:
        what = _description(me)
        if isinstance(error, _NotTrustedError):
            return Diagnostic(
                NOT_TRUSTED,
                "this needs a template, which is a program in Python, of a folder that is not trusted",
                me.span,
                what,
                notes=(f"the template is {error.path}",),
                help=f"if you trust its author, run `camkes trust {error.path.parent}`",
            )
        if isinstance(error, jinja2.TemplateNotFound):
            message = f'there is no template "{error.name}"'
            if error.name != template:
                message += f', which is used by "{template}"'
            folders = [f"looked for in {folder}" for folder in self._loader.folders]
            return Diagnostic(NO_TEMPLATE, message, me.span, what, notes=tuple(folders))
        place = self._place(error)
        said = isinstance(error, TemplateError)
        if said:
            message = str(error) or "the template gives no reason"
        else:
            text = _CLASS.sub(r"'\1", str(error).strip()) or "there are no details"
            message = f'template "{template}" failed: {text}'
        span = _named_setting(str(error), self.session.configuration)
        related = [Label(place, "raised by the template" if said else "here")] if place is not None else []
        if span is not None:
            related.insert(0, Label(me.span, what))
        return Diagnostic(
            TEMPLATE_ERROR if said else TEMPLATE_FAILED,
            message,
            span or me.span,
            "" if span is not None else what,
            related=tuple(related),
        )

    def _place(self, error: Exception) -> Span | None:
        """The line of the template that was being rendered."""
        if isinstance(error, jinja2.TemplateSyntaxError) and error.filename is not None:
            return self._line(error.filename, error.lineno)
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            if frame.filename in self._loader.files:
                return self._line(frame.filename, frame.lineno or 1)
        return None

    def _line(self, path: str, line: int) -> Span | None:
        text = self._loader.files.get(path)
        if text is None:
            return None
        lines = text.splitlines() or [""]
        line = min(max(line, 1), len(lines))
        start = len(lines[line - 1]) - len(lines[line - 1].lstrip()) + 1
        return Span(SourceFile(Path(path), text), line, start, line, len(lines[line - 1]) + 1)


def _description(me: EndView | InstanceView | AssemblyView) -> str:
    if isinstance(me, AssemblyView):
        return str(me)
    if isinstance(me, InstanceView):
        return f"instance {me.name}"
    return f"{me}, an end of {me.parent.type.name}"


def _named_setting(message: str, configuration: ConfigurationView) -> Span | None:
    """A setting that a message names, in the form INSTANCE.SETTING."""
    for name in re.findall(r"[A-Za-z_][\w.]*", message):
        instance, _, attribute = name.rstrip(".").rpartition(".")
        setting = configuration.settings_dict.get(instance, {}).get(attribute)
        if setting is not None:
            return setting.span
    return None
