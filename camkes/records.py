# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Dataclasses and named tuples that are quick to define.

The standard library compiles the methods of such a class when the class is made; for the two hundred classes
of this tool, most of which a run never uses, that takes longer than checking a small system. Here a
constructor is compiled when a class has proved to be in use, and the other methods are shared. A type checker
sees the standard library's names, and its functions (`fields`, `asdict`, ...) work on these classes too.
"""

from __future__ import annotations

from _collections import _tuplegetter  # type: ignore[import-not-found]
from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass, field, replace
    from typing import Any, NamedTuple

__all__ = ["NamedTuple", "as_dict", "dataclass", "field", "is_record", "replace"]

_NOTHING: Any = object()

#: How many objects are made before there is a constructor: compiling one takes longer than making so many.
_FEW = 16


class _Field:
    """What a class says of one of its attributes."""

    __slots__ = ("compare", "default", "factory", "init", "repr")

    def __init__(
        self,
        default: Any = _NOTHING,
        factory: Callable[[], Any] | None = None,
        init: bool = True,
        repr: bool = True,
        compare: bool = True,
    ) -> None:
        self.default = default
        self.factory = factory
        self.init = init
        self.repr = repr
        self.compare = compare


_REQUIRED = _Field()


class _Record:
    """What is known of a class: its fields, and the values that are compared."""

    __slots__ = ("_key", "fields", "frozen", "slots")

    def __init__(self, fields: dict[str, _Field], frozen: bool, slots: bool) -> None:
        self.fields = fields
        self.frozen = frozen
        self.slots = slots
        self._key: Callable[[Any], tuple[Any, ...]] | None = None

    @property
    def key(self) -> Callable[[Any], tuple[Any, ...]]:
        if self._key is None:
            self._key = _getter([name for name, item in self.fields.items() if item.compare])
        return self._key


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda item: tuple(getattr(item, name) for name in names)


class _StandardFields:
    """`__dataclass_fields__`, made when the standard library asks for it."""

    def __get__(self, item: object, owner: Any) -> dict[str, Any]:
        import dataclasses

        missing: Any = dataclasses.MISSING
        specs: list[Any] = []
        for name, field in owner.__record__.fields.items():
            spec = dataclasses.field(
                default=missing if field.default is _NOTHING else field.default,
                default_factory=field.factory or missing,
                init=field.init,
                repr=field.repr,
                compare=field.compare,
            )
            specs.append((name, owner.__annotations__.get(name, "object"), spec))
        standard: Any = dataclasses.make_dataclass(owner.__name__, specs)
        fields: dict[str, Any] = standard.__dataclass_fields__
        return fields


_STANDARD_FIELDS = _StandardFields()


def is_record(item: object) -> bool:
    return hasattr(item, "__record__")


def as_dict(item: Any) -> dict[str, Any]:
    """The fields of an object of such a class, one level deep: a `default` for `json.dumps`."""
    return {name: getattr(item, name) for name in item.__record__.fields}


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    key = self.__record__.key
    return key(self) == key(other)


def _hash(self: Any) -> int:
    return hash(self.__record__.key(self))


def _repr(self: Any) -> str:
    fields = self.__record__.fields.items()
    parts = [f"{name}={getattr(self, name)!r}" for name, field in fields if field.repr]
    return f"{self.__class__.__qualname__}({', '.join(parts)})"


def _set(self: Any, name: str, value: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: Any, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__record__.fields]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__record__.fields, state, strict=True):
        object.__setattr__(self, name, value)


def _dataclass(
    cls: Any = None, *, frozen: bool = False, slots: bool = False, eq: bool = True, repr: bool = True
) -> Any:
    if cls is None:
        return lambda cls: _dataclass(cls, frozen=frozen, slots=slots, eq=eq, repr=repr)
    inherited: dict[str, _Field] = {}
    for base in reversed(cls.__mro__[1:]):
        if "__record__" in base.__dict__:
            inherited |= base.__record__.fields
    own: dict[str, _Field] = {}
    space = dict(cls.__dict__)
    for name, annotation in space.get("__annotations__", {}).items():
        if not str(annotation).startswith("ClassVar"):
            default = space.get(name, _REQUIRED)
            own[name] = default if isinstance(default, _Field) else _Field(default)
    record = _Record({**inherited, **own}, frozen, slots)
    added: dict[str, Any] = {
        "__record__": record,
        "__dataclass_fields__": _STANDARD_FIELDS,
        "__match_args__": tuple(name for name, item in record.fields.items() if item.init),
    }
    if repr:
        added["__repr__"] = _repr
    if eq:
        added["__eq__"] = _eq
        added["__hash__"] = _hash if frozen else None
    if frozen:
        added["__setattr__"] = _set
        added["__delattr__"] = _delete
        if slots:
            added["__getstate__"] = _get_state
            added["__setstate__"] = _set_state
    added = {name: value for name, value in added.items() if name not in space}  # what the class says itself
    has_constructor = "__init__" in space
    if slots:
        for name in own:
            space.pop(name, None)
        space.pop("__dict__", None)
        space.pop("__weakref__", None)
        space |= added
        space["__slots__"] = tuple(name for name in own if name not in inherited)
        qualified = cls.__qualname__
        cls = type(cls)(cls.__name__, cls.__bases__, space)
        cls.__qualname__ = qualified
    else:
        for name, value in own.items():
            if isinstance(cls.__dict__.get(name), _Field):
                delattr(cls, name)
                if value.default is not _NOTHING:
                    setattr(cls, name, value.default)
        for name, value in added.items():
            setattr(cls, name, value)
    if not has_constructor:
        cls.__init__ = _constructor_of(cls)
    return cls


def _constructor_of(cls: Any) -> Callable[..., None]:
    """A constructor for the first objects, which then compiles one that takes its place."""
    calls = 0

    def __init__(self: Any, *args: Any, **named: Any) -> None:  # noqa: N807
        nonlocal calls
        calls += 1
        if calls > _FEW or not _fill(self, cls.__record__.fields, args, named):
            cls.__init__ = init = _compile(cls)
            init(self, *args, **named)

    return __init__


def _fill(self: Any, fields: dict[str, _Field], args: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Give an object its values one by one; false where they are not those that its class takes."""
    position = taken = 0
    for name, field in fields.items():
        if field.init and position < len(args):
            value = args[position]
            position += 1
        elif field.init and name in named:
            value = named[name]
            taken += 1
        elif field.factory is not None:
            value = field.factory()
        elif field.default is not _NOTHING:
            value = field.default
        elif field.init:
            return False
        else:
            continue
        object.__setattr__(self, name, value)
    if position < len(args) or taken < len(named):
        return False
    if hasattr(self, "__post_init__"):
        self.__post_init__()
    return True


def _compile(cls: Any) -> Callable[..., None]:
    record: _Record = cls.__record__
    simple = record.slots and all(field.init and field.factory is None for field in record.fields.values())
    if simple and not hasattr(cls, "__post_init__"):
        return _from_template(cls, record.fields)
    parameters, body = ["self"], []
    known: dict[str, Any] = {"_nothing": _NOTHING, "_set": object.__setattr__}
    for name, field in record.fields.items():
        value = name
        if field.factory is not None:
            known[f"_make_{name}"] = field.factory
            value = f"_make_{name}()"
            if field.init:
                parameters.append(f"{name}=_nothing")
                value += f" if {name} is _nothing else {name}"
        elif field.default is not _NOTHING:
            known[f"_default_{name}"] = field.default
            if field.init:
                parameters.append(f"{name}=_default_{name}")
            else:
                value = f"_default_{name}"
        elif field.init:
            parameters.append(name)
        else:
            continue
        body.append(f"_set(self, {name!r}, {value})" if record.frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    lines = [f"def __init__({', '.join(parameters)}):", *(f"    {line}" for line in body or ["pass"])]
    exec("\n".join(lines), known)
    init: Callable[..., None] = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


#: Constructors by the number of their parameters, to be given names and defaults.
_templates: dict[int, Any] = {}


def _from_template(cls: Any, fields: dict[str, _Field]) -> Callable[..., None]:
    """A constructor that only stores its arguments: most are, and so need no compiler."""
    count = len(fields)
    if count not in _templates:
        known: dict[str, Any] = {}
        parameters = "".join(f", _{i}" for i in range(count))
        body = "".join(f" _set{i}(self, _{i});" for i in range(count))
        exec(f"def __init__(self{parameters}):{body} return", known)
        _templates[count] = known["__init__"]
    template = _templates[count]
    code = template.__code__.replace(co_varnames=("self", *fields))
    setters = {f"_set{i}": getattr(cls, name).__set__ for i, name in enumerate(fields)}
    defaults = tuple(field.default for field in fields.values() if field.default is not _NOTHING)
    init: Callable[..., None] = type(template)(code, setters, "__init__", defaults or None)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


class _TupleOfNames(type):
    """Makes the classes that say `NamedTuple`."""

    def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> Any:
        if not bases:
            return type.__new__(cls, name, bases, space)  # `NamedTuple` itself
        names = tuple(space.get("__annotations__", ()))
        defaults = tuple(space[n] for n in names if n in space)
        made: Any = type.__new__(
            type,
            name,
            (tuple,),
            {
                "__repr__": _repr_of_tuple,
                "__getnewargs__": lambda self: tuple(self),
                "_asdict": lambda self: dict(zip(names, self, strict=True)),
                "_replace": _replace_in_tuple,
                **space,
                "__slots__": (),
                "__match_args__": names,
                "_fields": names,
                "_field_defaults": dict(zip(names[len(names) - len(defaults) :], defaults, strict=True)),
                **{n: _tuplegetter(i, f"Field {i}.") for i, n in enumerate(names)},
            },
        )
        made.__new__ = _constructor_of_tuple(made, names, defaults)
        return made


def _replace_in_tuple(self: Any, /, **changes: Any) -> Any:
    return self.__class__(**{**self._asdict(), **changes})


def _repr_of_tuple(self: Any) -> str:
    parts = [f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)]
    return f"{self.__class__.__name__}({', '.join(parts)})"


def _constructor_of_tuple(made: Any, names: tuple[str, ...], defaults: tuple[Any, ...]) -> Any:
    """As `_constructor_of`."""
    calls = 0

    def __new__(cls: Any, *args: Any, **named: Any) -> Any:  # noqa: N807
        nonlocal calls
        calls += 1
        missing = len(names) - len(args)
        if calls <= _FEW and not named and 0 <= missing <= len(defaults):
            return tuple.__new__(cls, args + defaults[len(defaults) - missing :])
        known: dict[str, Any] = {"_new": tuple.__new__}
        parameters = ", ".join(names)
        exec(f"def __new__(_cls, {parameters}): return _new(_cls, ({parameters},))", known)
        new = known["__new__"]
        new.__defaults__ = defaults or None
        made.__new__ = new
        return new(cls, *args, **named)

    return __new__


def _field(
    *,
    default: Any = _NOTHING,
    default_factory: Callable[[], Any] | None = None,
    init: bool = True,
    repr: bool = True,
    compare: bool = True,
) -> Any:
    return _Field(default, default_factory, init, repr, compare)


def _replace(item: Any, /, **changes: Any) -> Any:
    for name, field in item.__record__.fields.items():
        if field.init and name not in changes:
            changes[name] = getattr(item, name)
    return item.__class__(**changes)


if not TYPE_CHECKING:

    class NamedTuple(metaclass=_TupleOfNames):
        """As that of `typing`."""

    dataclass, field, replace = _dataclass, _field, _replace
