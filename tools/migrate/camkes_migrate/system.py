# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The edits of `.camkes` files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from camkes.diagnostics import Span
from camkes.model.connectors import RPC_CALL
from camkes.model.limits import MAX_PRIORITY
from camkes_migrate.declarations import (
    CONNECTOR,
    INTERFACE_MACRO,
    SYSTEM_FILES,
    TASK_MACRO,
    InstancePath,
    LibraryComponent,
    LibraryDeclarations,
    LibraryInterface,
    LibrarySetting,
)
from camkes_migrate.tokens import Document

#: Reports what a person must review: the place, the label of the place, and why.
Look = Callable[[Span, str, str], None]

#: From this priority on, a fixed CPI of the library is non-preemptive: nothing runs above it.
_HIGHEST = MAX_PRIORITY - 1
_SUFFIXES = ("_priority_protocol", "_num_threads", "_priority")


class SystemEditor:
    """Turns the library's words in `.camkes` files into native ones.

    `used` are the names that remain in the C code of each component: an attribute that it reads stays.
    """

    def __init__(
        self,
        declared: LibraryDeclarations,
        documents: list[Document],
        used: Mapping[str, Collection[str]],
        look: Look,
    ) -> None:
        self.declared = declared
        self.documents = documents
        self.used = used
        self.look = look
        self.library = declared.library_interfaces()

    def edit(self, code: Sequence[Document] = ()) -> None:
        """Add the edits to the documents. `code` are other files of the application, edited already."""
        documents = [*self.documents, *code]
        for procedure in self.procedures():
            self._procedure(procedure)
        for component in self.declared.components.values():
            self._component(component)
        for setting in self.declared.settings:
            self._setting(setting)
        for connection in self.declared.connections:
            if connection.prioritized:
                first, last = connection.connector
                tokens = connection.document.tokens
                connection.document.replace(tokens[first].start, tokens[last].end, RPC_CALL.name)
        words = [place for document in documents for place in _library_words(document)]
        for document, number in words:
            self.look(
                document.span(number),
                "stays",
                "this word of the library is not supported here; replace it with its meaning",
            )
        for document in documents if not words else ():
            self._imports(document)
        for document in self.documents:
            self._definitions(document)

    def procedures(self) -> list[str]:
        """Procedures of the library's interfaces, whose requests carry priority and id."""
        types = {
            self.declared.components[component].interfaces[name].type: None
            for component, name in sorted(self.library)
            if component in self.declared.components
            and name in self.declared.components[component].interfaces
        }
        return list(types)

    def _procedure(self, name: str) -> None:
        procedure = self.declared.procedures.get(name)
        if procedure is None:
            return
        tokens = procedure.document.tokens
        for method in procedure.methods.values():
            if method.name == "nest" and method.carried == method.parameters:
                first = method.opening - 2
                procedure.document.remove_statement(first, tokens.partner[method.opening] + 1)
            elif method.carried:
                procedure.document.remove_last(method.opening, method.carried)

    def _component(self, component: LibraryComponent) -> None:
        document, tokens = component.document, component.document.tokens
        used = self.used.get(component.name, ())
        kept: list[str] = []
        own = [i for i in component.interfaces.values() if (component.name, i.name) in self.library]
        for attribute in component.attributes:
            name = attribute.name
            if not name:  # the macro
                name = tokens.text(attribute.first + 2)
                kept = [f"{name}{s}" for s in _SUFFIXES if f"{name}{s}" in used]
                self._become(document, attribute.first, attribute.last, [_attribute(k) for k in kept])
            elif name in {f"{i.name}{s}" for i in own for s in _SUFFIXES}:
                if name in used:
                    kept.append(name)
                else:
                    document.remove_statement(attribute.first, attribute.last)
            elif name == "requestor" and self._is_task(component):
                words = [] if component.task is not None else ["requestor;"]
                self._become(document, attribute.first, attribute.last, words)
            elif name == "_priority" and self._is_task(component):
                words = [] if self._states_requestor(component) else ["requestor;"]
                if name in used:
                    words.append("attribute int _priority;")
                self._become(document, attribute.first, attribute.last, words)
        for name in kept:
            self.look(
                document.span(component.opening - 1),
                f"`{name}` is kept",
                f"the code of component `{component.name}` reads `{name}`, so the attribute is kept",
            )
        if component.task is not None:
            words = ["requestor;"]
            if "_priority" in used:
                words.append("attribute int _priority;")
            self._become(document, component.task.first, component.task.last, words)
        for interface in own:
            self._protocol(component, interface)

    def _is_task(self, component: LibraryComponent) -> bool:
        """Whether it originates a task: it declares the attributes of one and provides no interfaces."""
        names = {a.name for a in component.attributes} | ({"_priority"} if component.task else set())
        provides = any(i.kind == "provides" for i in component.interfaces.values())
        return bool(names & {"requestor", "_priority"}) and not provides

    def _states_requestor(self, component: LibraryComponent) -> bool:
        return component.task is not None or any(a.name == "requestor" for a in component.attributes)

    def _become(self, document: Document, first: int, last: int, words: list[str]) -> None:
        """Put statements in the place of one, each on a line of its own with the same indent."""
        if not words:
            document.remove_statement(first, last)
            return
        start, end = document.tokens[first].start, document.tokens[last].end
        line = document.text.rfind("\n", 0, start) + 1
        indent = document.text[line:start]
        glue = f"\n{indent}" if not indent.strip() else " "
        document.replace(start, end, glue.join(words))

    # protocols

    def _protocols(self, component: str, interface: str) -> list[tuple[InstancePath, str]]:
        """(instance, protocol) as set; "" where it is not a plain string."""
        found = []
        for setting in self.declared.settings:
            own = self.declared.instances.get(setting.instance) == component
            if own and setting.name == f"{interface}_priority_protocol":
                value = setting.value
                found.append((setting.instance, value[0].text.strip('"') if len(value) == 1 else ""))
        return found

    def _common(self, component: str, interface: str) -> str | None:
        """The protocol that every instance of a component has."""
        instances = [i for i, c in self.declared.instances.items() if c == component]
        found = self._protocols(component, interface)
        words = {protocol for _, protocol in found}
        known = words <= {"propagated", "inherited", "fixed"}
        every = {i for i, _ in found} == set(instances) and len(words) == 1
        return words.pop() if every and known else None

    def _protocol(self, component: LibraryComponent, interface: LibraryInterface) -> None:
        protocol = self._common(component.name, interface.name)
        document = interface.document
        if protocol is not None:
            at = document.tokens[interface.end].start
            document.replace(at, at, f" with priority_protocol {protocol}")
            return
        found = self._protocols(component.name, interface.name)
        if found:
            self.look(
                document.span(interface.end - 1),
                "no protocol here",
                f"instances of `{component.name}` have different protocols, so the settings "
                f"`INSTANCE.{interface.name}_priority_protocol` are kept; they are supported",
            )
        elif interface.marked:
            self.look(
                document.span(interface.end - 1),
                "unknown protocol",
                f"there is no setting `INSTANCE.{interface.name}_priority_protocol`; if no macro generates "
                "one, write `with priority_protocol ...` here",
            )

    # settings

    def _setting(self, setting: LibrarySetting) -> None:
        document = setting.document
        component = self.declared.component_of(setting.instance)
        if component is None:
            return
        if setting.name == "requestor" and any(t.text == "__COUNTER__" for t in setting.value):
            document.remove_statement(setting.first, setting.last)
            return
        for suffix in _SUFFIXES:
            interface = setting.name.removesuffix(suffix)
            if not setting.name.endswith(suffix) or (component.name, interface) not in self.library:
                continue
            if setting.name in self.used.get(component.name, ()):
                return  # its attribute stays
            if suffix == "_priority_protocol":
                if self._common(component.name, interface) is not None:
                    document.remove_statement(setting.first, setting.last)
            elif suffix == "_num_threads":
                document.remove_statement(setting.first, setting.last)
            else:
                self._ceiling(setting, component, interface)
            return

    def _ceiling(self, setting: LibrarySetting, component: LibraryComponent, interface: str) -> None:
        """Ceilings are computed. A fixed CPI at the top is non-preemptive, which has to be stated."""
        protocol = dict(self._protocols(component.name, interface)).get(setting.instance)
        value = _number(setting)
        if protocol == "fixed" and (value is None or value >= _HIGHEST):
            document, tokens = setting.document, setting.document.tokens
            if value is None:
                why = "perhaps this is the highest priority, for a non-preemptive CPI: then write 255, else "
                self.look(document.span(setting.first, setting.last), "stays", f"{why}take it out")
                return
            document.replace(tokens[setting.first + 4].start, tokens[setting.last].start, str(MAX_PRIORITY))
            self.look(
                document.span(setting.first, setting.last),
                "non-preemptive?",
                "a fixed CPI at the highest priority is assumed to be non-preemptive, which is 255 here; "
                "remove the setting to use a computed ceiling",
            )
            return
        setting.document.remove_statement(setting.first, setting.last)

    # what is left

    def _imports(self, document: Document) -> None:
        tokens = document.tokens
        for number, token in enumerate(tokens.all):
            if token.kind == "directive" and "include" in token.text:
                if any(name in token.text for name in SYSTEM_FILES):
                    document.remove_statement(number, number)
            elif token.text == "import" and SYSTEM_FILES[1] in tokens.text(number + 1):
                document.remove_statement(number, number + 2)

    def _definitions(self, document: Document) -> None:
        """Remove definitions of thread counts that nothing uses any more."""
        tokens = document.tokens
        for token in tokens.all:
            words = token.text.split()
            if token.kind != "directive" or words[:1] != ["#define"] or "num_threads" not in token.text:
                continue
            name = words[1].partition("(")[0]
            uses = [
                t
                for d in self.documents
                for t in (d.tokens[i] for i in d.kept())
                if t.kind == "name" and t.text == name
            ]
            rest = document.text.find("\n", token.end)
            line_end = len(document.text) if rest < 0 else rest
            body = document.text[token.end : line_end]
            if not uses and not body.rstrip().endswith("\\"):
                start = document.text.rfind("\n", 0, token.start) + 1
                document.replace(start, min(line_end + 1, len(document.text)), "")


def _library_words(document: Document) -> Iterator[tuple[Document, int]]:
    """The words of the library that no edit touches."""
    for number in document.kept():
        token = document.tokens[number]
        connector = token.text == "rpc" and document.tokens.text(number - 1) == "connection"
        macro = token.text in (TASK_MACRO, INTERFACE_MACRO)
        if token.kind == "name" and (connector or macro or token.text.startswith(CONNECTOR)):
            yield document, number


def _attribute(name: str) -> str:
    kind = "string" if name.endswith("_protocol") else "int"
    return f"attribute {kind} {name};"


def _number(setting: LibrarySetting) -> int | None:
    value = setting.value
    return int(value[0].text) if len(value) == 1 and value[0].text.isdecimal() else None
