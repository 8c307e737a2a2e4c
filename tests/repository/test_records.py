# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes.records` does what the standard library's dataclasses do."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from camkes import records


def define(library: Any) -> SimpleNamespace:
    """The same classes, made by either library."""

    @library.dataclass(frozen=True, slots=True)
    class Point:
        x: int
        y: int = 2

        @property
        def sum(self) -> int:
            return self.x + self.y

    @library.dataclass(frozen=True, slots=True)
    class Named(Point):
        name: str = "p"
        size: int = library.field(init=False, repr=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "size", len(self.name))

    @library.dataclass(slots=True)
    class Bag:
        items: list[int] = library.field(default_factory=list)

    @library.dataclass(frozen=True, slots=True, eq=False)
    class Node:
        value: int

    @library.dataclass
    class Open:
        label: str
        places: dict[str, int] = library.field(default_factory=dict)

    @library.dataclass(eq=False, repr=False)
    class Plain:
        label: str = "l"

    return SimpleNamespace(Point=Point, Named=Named, Bag=Bag, Node=Node, Open=Open, Plain=Plain)


def define_in_use(library: Any) -> SimpleNamespace:
    """The same, after so many objects that ours has compiled the constructors."""
    classes = define(library)
    for made in vars(classes).values():
        for number in range(records._FEW + 1):
            made(*([number] if made not in (classes.Bag, classes.Plain) else []))
    return classes


DEFINE = {"first": define, "later": define_in_use}

CLAIMS: dict[str, Callable[[Any], object]] = {
    "default": lambda c: (c.Point(1).x, c.Point(1).y, c.Point(1, y=5).sum),
    "repr": lambda c: repr(c.Point(1)).replace("define.<locals>.", ""),
    "repr of a subclass": lambda c: repr(c.Named(1)).replace("define.<locals>.", ""),
    "post init": lambda c: (c.Named(1, 2, "long").size, c.Named(1).name),
    "equal": lambda c: (c.Point(1) == c.Point(1), c.Point(1) == c.Point(2), c.Point(1) == 1),
    "no equality with a subclass": lambda c: c.Point(1) == c.Named(1),
    "hash": lambda c: len({c.Point(1), c.Point(1), c.Point(3)}),
    "hash of what can change": lambda c: c.Bag.__hash__,
    "not compared": lambda c: c.Named(1) == c.Named(1, 2, "p"),
    "identity": lambda c: c.Node(1) == c.Node(1),
    "own containers": lambda c: c.Bag().items is c.Bag().items,
    "container given": lambda c: c.Bag([1]).items,
    "change": lambda c: setattr(c.Open("a"), "label", "b"),
    "slots": lambda c: hasattr(c.Point(1), "__dict__"),
    "default of a class without slots": lambda c: (c.Plain.label, c.Plain().label, c.Plain("m").label),
    "replace": lambda c: repr(dataclasses.replace(c.Point(1), y=7)).replace("define.<locals>.", ""),
    "own replace": lambda c: records.replace(define(records).Named(1), name="abc").size,
    "fields": lambda c: [(f.name, f.init, f.repr, f.compare) for f in dataclasses.fields(c.Named)],
    "as a dictionary": lambda c: dataclasses.asdict(c.Open("a", {"b": 1})),
    "is a dataclass": lambda c: dataclasses.is_dataclass(c.Point(1)),
    "copy": lambda c: repr(copy.copy(c.Named(4))).replace("define.<locals>.", ""),
    "match": lambda c: c.Named.__match_args__,
    "names": lambda c: (c.Point.__name__, c.Point.__qualname__, c.Point.__module__),
}

MISTAKES: dict[str, Callable[[Any], object]] = {
    "assign": lambda c: setattr(c.Point(1), "x", 3),
    "delete": lambda c: delattr(c.Point(1), "x"),
    "no value": lambda c: c.Point(),
    "too many values": lambda c: c.Point(1, 2, 3),
    "unknown name": lambda c: c.Point(1, z=3),
    "value given twice": lambda c: c.Point(1, x=1),
    "value that is not asked for": lambda c: c.Named(1, 2, "n", 4),
    "name that is not asked for": lambda c: c.Named(1, size=4),
}


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
@pytest.mark.parametrize("defined", DEFINE.values(), ids=DEFINE)
def test_does_what_the_standard_library_does(
    claim: Callable[[Any], object], defined: Callable[[Any], Any]
) -> None:
    assert claim(defined(records)) == claim(defined(dataclasses))


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
@pytest.mark.parametrize("defined", DEFINE.values(), ids=DEFINE)
def test_a_mistake_is_the_same_error(mistake: Callable[[Any], object], defined: Callable[[Any], Any]) -> None:
    errors = []
    for library in (records, dataclasses):
        classes = defined(library)
        with pytest.raises((AttributeError, TypeError)) as caught:
            mistake(classes)
        errors.append(caught.type)
    assert errors[0] is errors[1]


class StandardPlace(NamedTuple):
    line: int
    column: int = 1


class Place(records.NamedTuple):
    line: int
    column: int = 1


@pytest.mark.parametrize("objects", [0, records._FEW + 1], ids=DEFINE)
def test_named_tuples_are_those_of_the_standard_library(objects: int) -> None:
    for made in (Place, StandardPlace):
        for number in range(objects):
            made(number)
        assert [tuple(made(2)), tuple(made(2, 3)), tuple(made(column=4, line=5))] == [(2, 1), (2, 3), (5, 4)]
        assert (made(6).line, made(6)._replace(column=7), made(8)) == (6, (6, 7), made(8, 1))
        for wrong in (lambda m: m(), lambda m: m(1, 2, 3), lambda m: m(1, z=2), lambda m: m(1, line=2)):
            with pytest.raises(TypeError):
                wrong(made)


@records.dataclass(frozen=True, slots=True)
class Kept:
    text: str
    numbers: tuple[int, ...] = ()


def test_pickle() -> None:
    assert pickle.loads(pickle.dumps(Kept("a", (1, 2)))) == Kept("a", (1, 2))


def test_as_dict_is_one_level() -> None:
    inner = Kept("b")
    assert records.as_dict(Kept("a", (inner,))) == {"text": "a", "numbers": (inner,)}  # type: ignore[arg-type]
