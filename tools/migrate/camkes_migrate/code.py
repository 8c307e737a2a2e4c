# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The edits of C files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from camkes_migrate.declarations import HEADERS, LibraryComponent, LibraryDeclarations, LibraryMethod
from camkes_migrate.system import Look
from camkes_migrate.tokens import Document

_NO_TYPE = ("return", "else", "case", "do", "goto", "sizeof", "typedef")
_VALUES = {"priority": "camkes_request_priority()", "requestor": "camkes_requestor()"}
_STEPS = tuple("+-*/%|&^")
_INTEGERS = ("int", "unsigned", "long", "short", "char")


class _InterfaceFunction(Struct, frozen=True):
    """A function of an interface: `served` if the component defines it, else it is called."""

    method: LibraryMethod
    served: bool


class CodeEditor:
    """Turns the library's words in the C code of components into native ones.

    `components` are those that a file is compiled for. `procedures` are those that the library serves.
    """

    def __init__(self, declared: LibraryDeclarations, procedures: Iterable[str], look: Look) -> None:
        self.declared = declared
        self.procedures = frozenset(procedures)
        self.library = declared.library_interfaces()
        self.look = look

    def edit(self, document: Document, components: list[LibraryComponent]) -> None:
        """Add the edits to a document."""
        functions: dict[str, _InterfaceFunction] = {}
        inits: set[str] = set()
        task = False
        for component in components:
            task = (
                task or component.task is not None or any(a.name == "requestor" for a in component.attributes)
            )
            for interface in component.interfaces.values():
                if interface.type not in self.procedures or interface.type not in self.declared.procedures:
                    continue
                served = interface.kind == "provides"
                for method in self.declared.procedures[interface.type].methods.values():
                    functions[f"{interface.name}_{method.name}"] = _InterfaceFunction(method, served)
                if (component.name, interface.name) in self.library:
                    inits.add(f"{interface.name}_init")
        self._includes(document)
        self._macros(document, functions)
        for number, token in enumerate(document.tokens.all):
            if token.kind != "name":
                continue
            if token.text in functions and document.tokens.text(number + 1) == "(":
                self._function(document, number, functions[token.text])
            elif token.text in functions:
                self._no_call(document, number, functions[token.text].method)
            elif document.tokens.texts(number - 2, 2) == ["#", "#"]:
                self._pasted(document, number, functions, inits)
            elif token.text in inits and token.text not in functions:
                document.replace(token.start, token.end, f"{token.text.removesuffix('_init')}__init")
        if task:
            self._requestor(document)

    def _includes(self, document: Document) -> None:
        for number, token in enumerate(document.tokens.all):
            if token.kind != "directive" or "include" not in token.text:
                continue
            if any(f"/{name}" in token.text or f'"{name}' in token.text for name in HEADERS):
                document.remove_statement(number, number)

    def _macros(self, document: Document, functions: dict[str, _InterfaceFunction]) -> None:
        tokens = document.tokens
        for number, token in enumerate(tokens.all):
            closing = tokens.partner.get(number + 1)
            if closing is None or tokens.text(number + 1) != "(":
                continue
            if token.text == "NEST" and tokens.depth[number] == 0:
                document.remove_statement(number, closing + (tokens.text(closing + 1) == ";"))
            elif token.text == "REQUEST":
                self._request(document, number, functions)

    def _request(self, document: Document, number: int, functions: dict[str, _InterfaceFunction]) -> None:
        """REQUEST(from, to, method, ...) is a call."""
        tokens = document.tokens
        parts = tokens.arguments(number + 1)
        if len(parts) < 3:
            return
        name = "_".join(tokens.text(first) for first, _ in parts[1:3])
        given = parts[3:]
        function = functions.get(name)
        if function is not None:
            stay = function.method.parameters - function.method.carried
            if len(given) not in (stay, function.method.parameters):
                self.look(
                    document.span(number),
                    "number of arguments",
                    f"`{name}` takes {stay} without priority and requestor, but {len(given)} are given",
                )
            given = given[:stay] if len(given) == function.method.parameters else given
        else:
            self.look(
                document.span(number), "unknown", f"`{name}` is not declared; is it a `uses` interface?"
            )
        end = tokens[parts[2][1]].end  # of the comma, or the parenthesis is next
        if given:
            end += len(document.text[end:]) - len(document.text[end:].lstrip())
        else:
            end = tokens[tokens.partner[number + 1]].start
        document.replace(tokens[number].start, end, f"{name}(")
        if given and len(given) < len(parts) - 3:
            document.remove_last(number + 1, len(parts) - 3 - len(given))

    def _function(self, document: Document, number: int, function: _InterfaceFunction) -> None:
        tokens, method = document.tokens, function.method
        opening = number + 1
        closing = tokens.partner.get(opening)
        if closing is None or not method.carried:
            return
        parts = tokens.arguments(opening)
        before = tokens.all[number - 1] if number else None
        declares = (
            tokens.depth[number] == 0
            and before is not None
            and (before.text == "*" or (before.kind == "name" and before.text not in _NO_TYPE))
        )
        if len(parts) != method.parameters:
            stays = method.parameters - method.carried
            if len(parts) != stays and not (parts == [] or tokens.texts(opening + 1, 2) == ["void", ")"]):
                self.look(
                    document.span(number),
                    "number of arguments",
                    f"`{tokens.text(number)}` should have {method.parameters} parameters with priority and "
                    f"requestor, and has {len(parts)} here",
                )
            return
        carried = parts[len(parts) - method.carried :]
        if declares:
            document.remove_last(opening, method.carried, "void")
            if tokens.text(closing + 1) == "{":
                names = [tokens.text(last - 1) for _, last in carried]
                if method.name == "nest":
                    self.look(document.span(number), "no longer called", "nested inheritance needs no method")
                self._body(document, closing + 1, dict(zip(names, _VALUES, strict=False)))
            return
        document.remove_last(opening, method.carried)
        for first, last in carried:
            written = any(tokens[i].kind == "name" and self._changes(document, i) for i in range(first, last))
            if written or any(tokens.text(i) == "(" for i in range(first, last)):
                self.look(
                    document.span(first, last - 1),
                    "left out",
                    "this argument was more than a number; it is no longer evaluated",
                )

    def _no_call(self, document: Document, number: int, method: LibraryMethod) -> None:
        if method.carried:
            self.look(
                document.span(number),
                "not called here",
                f"`{document.tokens.text(number)}` has lost its last {_count(method.carried)}; check calls "
                "through this pointer",
            )

    def _pasted(
        self,
        document: Document,
        number: int,
        functions: Mapping[str, _InterfaceFunction],
        inits: Collection[str],
    ) -> None:
        ending = document.tokens.text(number)
        found = [n for n, f in functions.items() if f.method.carried] + sorted(inits)
        names = [name for name in found if name.endswith(ending)]
        if ending.startswith("_") and names:
            self.look(
                document.span(number),
                "generated by a macro",
                f"where this generates `{names[0]}`, make the same change by hand",
            )

    def _body(self, document: Document, opening: int, names: dict[str, str]) -> None:
        """What a handler did with its priority and requestor."""
        tokens = document.tokens
        closing = tokens.partner.get(opening, opening)
        for name, meaning in names.items():
            value = _VALUES[meaning]
            uses = [
                i
                for i in range(opening + 1, closing)
                if tokens.text(i) == name and tokens.text(i - 1) not in (".", ">")
            ]
            if any(self._changes(document, i) for i in uses):
                at = tokens[opening].end
                line = document.text.find("\n", at)
                indent = "    "
                following = tokens[opening + 1].start
                if 0 <= line < following:
                    indent = document.text[document.text.rfind("\n", 0, following) + 1 : following]
                document.replace(at, at, f"\n{indent}int {name} = {value};")
                self.look(document.span(uses[0]), "now a variable", f"`{name}` is changed here")
                continue
            for i in uses:
                document.replace(tokens[i].start, tokens[i].end, value)

    def _changes(self, document: Document, number: int) -> bool:
        """Whether a variable is written here, or its address taken, or another declared."""
        tokens = document.tokens
        first, second = tokens.texts(number + 1, 2)
        before, earlier = tokens.text(number - 1), tokens.text(number - 2)
        assigned = first == "=" and second != "="
        stepped = first in _STEPS and second in ("=", first) and (first in "+-" or second == "=")
        stepped_before = before == earlier and before in ("+", "-")
        operand = earlier == ")" or (number > 1 and tokens[number - 2].kind in ("name", "number"))
        address = before == "&" and earlier != "&" and (not operand or earlier == "return")
        return assigned or stepped or stepped_before or address or before in _INTEGERS

    def _requestor(self, document: Document) -> None:
        """A task's id was an attribute."""
        for number in list(document.kept()):
            token = document.tokens[number]
            if token.text != "requestor" or token.kind != "name":
                continue
            before = document.tokens.all[number - 1] if number else token
            declared = before.kind == "name" and before.text not in _NO_TYPE
            if declared or before.text in (".", ">"):
                continue
            document.replace(token.start, token.end, _VALUES["requestor"])


def _count(carried: int) -> str:
    return "parameter" if carried == 1 else f"{carried} parameters"
