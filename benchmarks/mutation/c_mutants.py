# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""All mutants of a C source, written into it at once: a number selects the one that is active.

Changed are, in bodies of functions:

- guards: conditions of `if`, `while`, `for` and `?:`, and each `&&`, `||` and `!` elsewhere, become true and
  false. An operand of `&&` becomes true, one of `||` false: otherwise the whole does;
- comparisons become their neighbours: `<` and `<=`, `>` and `>=`, `==` and `!=`;
- stores (assignments of any kind, `++`, `--`) are left out;
- calls whose result is not used are left out, macros such as CAMKES_TRACE included; other results become 0;
- numbers grow by one, `true` and `false` are exchanged, and so are `+` and `-`, and `&` and `|`.

Not changed are constant expressions (cases, sizes, initialisers of static data), macros, initialisers of
variables as such (what is in those is), and calls that only tests need.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import tree_sitter_c
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_c.language()))
NEIGHBOURS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
EXCHANGED = {"+": "-", "-": "+", "&": "|", "|": "&"}
#: nothing in them is an expression that is evaluated each time, or of this language
_LEFT = {
    *("sizeof_expression", "alignof_expression", "offsetof_expression", "type_descriptor"),
    *("attribute_specifier", "attribute_declaration", "gnu_asm_expression", "enumerator"),
    *("preproc_def", "preproc_function_def", "preproc_call", "preproc_include", "field_declaration_list"),
    *("string_literal", "char_literal", "comment", "subscript_designator", "generic_expression"),
    *("static_assert_declaration",),
}
_LEFT_FUNCTIONS = (
    "va_arg",
    "va_start",
    "va_end",
    "offsetof",
    "_Static_assert",
    "static_assert",
    "__typeof__",
)
_OUTSIDE = ("translation_unit", "linkage_specification", "declaration_list", "ERROR")
#: macros that the parser would not understand, before functions
_NOT_C = re.compile(rb"\b(CAMKES_INLINE(_HERE)?|EXPORTED|_Noreturn)\b|__attribute__\(\(.*?\)\)")
#: where tests try preemptions; empty on seL4
_FOR_TESTS = ("camkes_point",)
_CALLED_WITHIN = re.compile(r"\w\(|\+\+|--|[^=!<>]=[^=]|atomic")


@dataclass(frozen=True)
class Mutant:
    """`before` and `after` are texts, at `start` and `end` of the file in bytes."""

    number: int
    file: str
    line: int
    kind: str
    before: str
    after: str
    start: int
    end: int


@dataclass
class Source:
    """A source, of which `text` has the mutants from number `first` on. `refused`: places that do not
    compile, as kind and start."""

    file: str
    source: bytes
    first: int
    refused: frozenset[tuple[str, int]] = frozenset()
    mutants: list[Mutant] = field(default_factory=list)
    not_compiled: list[Mutant] = field(default_factory=list)
    initialisers: int = 0
    left: list[int] = field(default_factory=list)  # lines of functions that are not understood
    text: str = ""

    def __post_init__(self) -> None:
        tree = _PARSER.parse(_NOT_C.sub(lambda found: b" " * len(found[0]), self.source))
        self.text = self._outside(tree.root_node)

    # ---- text ----

    def _raw(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode()

    def _flat(self, node: Node) -> str:
        """In one line, without mutants."""
        return " ".join(re.sub(r"/\*.*?\*/", " ", self._raw(node), flags=re.DOTALL).split())

    def _joined(self, node: Node, children: dict[int, str]) -> str:
        """The text of a node with other texts of children, by their ids."""
        parts, at = [], node.start_byte
        for child in node.children:
            if child.id in children:
                parts += [self.source[at : child.start_byte].decode(), children[child.id]]
                at = child.end_byte
        return "".join([*parts, self.source[at : node.end_byte].decode()])

    def _new(self, node: Node, kind: str, after: str) -> int | None:
        refused = (kind, node.start_byte) in self.refused
        number = self.first + len(self.mutants)
        (self.not_compiled if refused else self.mutants).append(
            Mutant(
                number,
                self.file,
                node.start_point[0] + 1,
                kind,
                self._flat(node),
                after,
                node.start_byte,
                node.end_byte,
            )
        )
        return None if refused else number

    # ---- what is where ----

    def _outside(self, node: Node) -> str:
        if node.type == "function_definition" and node.has_error:
            self.left.append(node.start_point[0] + 1)
        elif node.type == "function_definition":
            body = node.child_by_field_name("body")
            assert body is not None
            return self._joined(node, {body.id: self._within(body)})
        elif node.type in _OUTSIDE or (node.type.startswith("preproc_") and node.type not in _LEFT):
            return self._joined(node, {c.id: self._outside(c) for c in node.children})
        return self._raw(node)

    def _within(self, node: Node) -> str:
        """A node of a function's body whose value, if it is an expression, is used."""
        if node.type in _LEFT or not node.is_named:
            return self._raw(node)
        visit = getattr(self, f"_{node.type}", None)
        return visit(node) if visit is not None else self._children(node)

    def _children(self, node: Node, but: tuple[str, ...] = ()) -> str:
        skipped = {c.id for name in but for c in node.children_by_field_name(name)}
        return self._joined(node, {c.id: self._within(c) for c in node.children if c.id not in skipped})

    # ---- statements ----

    def _declaration(self, node: Node) -> str:
        words = {self._raw(c) for c in node.children if c.type == "storage_class_specifier"}
        return self._raw(node) if "static" in words or "extern" in words else self._children(node)

    def _init_declarator(self, node: Node) -> str:
        self.initialisers += 1
        return self._children(node, but=("declarator",))

    def _case_statement(self, node: Node) -> str:
        return self._children(node, but=("value",))

    def _preproc_if(self, node: Node) -> str:
        return self._children(node, but=("condition", "name"))

    _preproc_elif = _preproc_ifdef = _preproc_if

    def _if_statement(self, node: Node) -> str:
        condition = node.child_by_field_name("condition")
        assert condition is not None
        inner = condition.named_children[-1] if condition.type == "parenthesized_expression" else condition
        made = (
            self._joined(condition, {inner.id: self._guard(inner)})
            if inner is not condition
            else self._guard(inner)
        )
        others = {c.id: self._within(c) for c in node.children if c.id != condition.id}
        return self._joined(node, {**others, condition.id: made})

    _while_statement = _do_statement = _conditional_expression = _if_statement

    def _for_statement(self, node: Node) -> str:
        made = {c.id: self._within(c) for c in node.children_by_field_name("body")}
        made |= {
            c.id: self._within(c)
            for c in node.children_by_field_name("initializer")
            if c.type == "declaration"
        }
        made |= {
            c.id: self._unused(c)
            for c in node.children_by_field_name("initializer")
            if c.type != "declaration"
        }
        made |= {c.id: self._guard(c) for c in node.children_by_field_name("condition")}
        made |= {c.id: self._unused(c) for c in node.children_by_field_name("update")}
        return self._joined(node, made)

    def _expression_statement(self, node: Node) -> str:
        if not node.named_children:
            return self._raw(node)
        inner = node.named_children[0]
        return (
            self._joined(node, {inner.id: self._unused(inner)})
            if inner.type != "call_expression"
            else self._call_statement(node, inner)
        )

    def _call_statement(self, node: Node, call: Node) -> str:
        if self._flat(call).partition("(")[0] in _FOR_TESTS:
            return self._raw(node)
        number = self._new(call, "call", "(void)0")
        text = self._joined(node, {call.id: self._children(call, but=("function",))})
        return text if number is None else f"{{ if (!MUTANT({number})) {{ {text} }} }}"

    def _unused(self, node: Node) -> str:
        """An expression whose value is not used."""
        if node.type == "comma_expression":
            return self._joined(node, {c.id: self._unused(c) for c in node.named_children})
        if node.type in ("assignment_expression", "update_expression"):
            return self._store(node, used=False)
        if node.type == "cast_expression" and self._flat(node).startswith("(void)"):
            value = node.child_by_field_name("value")
            assert value is not None
            return self._joined(node, {value.id: self._unused(value)})
        if node.type == "call_expression":
            number = self._new(node, "call", "(void)0")
            text = self._children(node, but=("function",))
            return text if number is None else f"(MUTANT({number}) ? (void)0 : (void)({text}))"
        return self._within(node)

    # ---- expressions ----

    def _guard(self, node: Node) -> str:
        """A condition."""
        if node.type in ("number_literal", "true", "false") or "if" in self._flat(node).split():
            return self._raw(node)
        yes = self._new(node, "guard", "true")
        no = self._new(node, "guard", "false") if yes is not None else None
        text = self._connected(node)
        return text if no is None else f"MUTANT_GUARD({yes}, {text})"

    def _connected(self, node: Node) -> str:
        """The operands of a condition."""
        operator = self._operator(node)
        if operator in ("&&", "||"):
            kind, name = ("true", "TRUE") if operator == "&&" else ("false", "FALSE")
            made = {}
            for side in ("left", "right"):
                operand = node.child_by_field_name(side)
                assert operand is not None
                number = self._new(operand, "guard", kind)
                text = self._connected(operand)
                made[operand.id] = text if number is None else f"MUTANT_{name}({number}, {text})"
            return self._joined(node, made)
        if node.type == "parenthesized_expression":
            inner = node.named_children[-1]
            return self._joined(node, {inner.id: self._connected(inner)})
        if operator == "!":
            argument = node.child_by_field_name("argument")
            assert argument is not None
            return self._joined(node, {argument.id: self._connected(argument)})
        return self._within(node)

    def _operator(self, node: Node) -> str:
        if node.type not in ("binary_expression", "unary_expression"):
            return ""
        operator = node.child_by_field_name("operator")
        return self._raw(operator) if operator is not None else ""

    def _unary_expression(self, node: Node) -> str:
        return self._guard(node) if self._operator(node) == "!" else self._children(node)

    def _binary_expression(self, node: Node) -> str:
        operator = self._operator(node)
        if operator in ("&&", "||"):
            return self._guard(node)
        other = NEIGHBOURS.get(operator) or EXCHANGED.get(operator)
        if other is None:
            return self._children(node)
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        assert left is not None and right is not None
        after = f"{self._flat(left)} {other} {self._flat(right)}"
        number = self._new(node, "comparison" if operator in NEIGHBOURS else "arithmetic", after)
        text = self._children(node)
        if number is None:
            return text
        chosen = f"MUTANT({number})"
        if operator in ("<", "<=", ">", ">=") and not _CALLED_WITHIN.search(self._flat(node)):
            chosen = f"MUTANT_WHERE({number}, ({self._flat(left)}) == ({self._flat(right)}))"
        return f"({chosen} ? ({after}) : ({text}))"

    def _assignment_expression(self, node: Node) -> str:
        return self._store(node, used=True)

    _update_expression = _assignment_expression

    def _store(self, node: Node, used: bool) -> str:
        if node.type == "assignment_expression":
            right = node.child_by_field_name("right")
            assert right is not None
            kept = self._flat(right)
        else:
            argument = node.child_by_field_name("argument")
            assert argument is not None
            kept = self._flat(argument)
        number = self._new(node, "store", f"({kept})" if used else f"(void)({kept})")
        text = self._children(node)
        if number is None:
            return text
        cast = "" if used else "(void)"
        return f"(MUTANT({number}) ? {cast}({kept}) : {cast}({text}))"

    def _call_expression(self, node: Node) -> str:
        function = node.child_by_field_name("function")
        assert function is not None
        name = self._raw(function)
        if name in _LEFT_FUNCTIONS:
            return self._raw(node)
        number = None if name.isupper() else self._new(node, "result", "0")
        text = self._children(node, but=("function",))
        return text if number is None else f"(MUTANT({number}) ? MUTANT_ZERO({self._flat(node)}) : {text})"

    def _number_literal(self, node: Node) -> str:
        value = self._raw(node)
        number = self._new(node, "constant", f"({value} + 1)")
        return value if number is None else f"(MUTANT({number}) ? {value} + 1 : {value})"

    def _true(self, node: Node) -> str:
        value = self._raw(node)
        number = self._new(node, "constant", "false" if value == "true" else "true")
        return value if number is None else f"(MUTANT({number}) ? !{value} : {value})"

    _false = _true

    def _array_declarator(self, node: Node) -> str:
        return self._children(node, but=("size",))
