# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The names that are available to a template while it is rendered."""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import numbers
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

from msgspec import Struct, field

from camkes.backends.upstream_templates import macros, objects, view
from camkes.backends.upstream_templates.macros import TemplateError
from camkes.backends.upstream_templates.objects import (
    AllocatedFrame,
    CapHandle,
    ObjectType,
    Recorder,
    fill_source,
)
from camkes.capdl.details import Rights
from camkes.capdl.fill import Fill
from camkes.capdl.model import Mapping
from camkes.capdl.uses import Variable
from camkes.model.units import PAGE, round_up


class OrderedSet(dict[Any, None]):
    """What templates call `set`: in the order in which things were added."""

    def __init__(self, items: Iterable[Any] = ()) -> None:
        super().__init__(dict.fromkeys(items))

    def add(self, item: Any) -> None:
        self[item] = None


class Counter:
    """Survives the scopes of Jinja."""

    def __init__(self) -> None:
        self.value = 0

    def set(self, value: int) -> None:
        self.value = value

    def get(self) -> int:
        return self.value

    def increment(self) -> None:
        self.value += 1

    def __repr__(self) -> str:
        return str(self.value)


#: variables of which an address space has one
LIBRARY_VARIABLES = frozenset({"dtb_symbol"})


class Session(Struct):
    """What all templates of one system share: what they allocated, what they left for each other, and the
    number of the next symbol."""

    composition: view.CompositionView
    configuration: view.ConfigurationView
    recorder: Recorder
    options: SimpleNamespace
    stash: dict[tuple[str, str], Any] = field(default_factory=dict)
    symbols: int = 0

    def context(self, me: view.EndView | view.InstanceView) -> dict[str, Any]:
        """The names for a template that is rendered for `me`."""
        return {
            **_PYTHON,
            **_constants(),
            **_LIBRARY,
            "me": me,
            "composition": self.composition,
            "configuration": self.configuration,
            "options": self.options,
            **_Functions(self, me).names(),
            "stash": functools.partial(self._stash, me.label()),
            "pop": functools.partial(self._pop, me.label()),
            "guard": functools.partial(self._guard, me.label()),
            "_stash": functools.partial(self._stash, ""),
            "_pop": functools.partial(self._pop, ""),
            "c_symbol": self._symbol,
            "included": set(),
        }

    def _stash(self, owner: str, key: str, value: Any) -> str:
        self.stash[owner, key] = value
        return ""

    def _pop(self, owner: str, key: str) -> Any:
        return self.stash.pop((owner, key), None)

    def _guard(self, owner: str, make: Callable[..., Any], key: str, **arguments: Any) -> Any:
        value = self._pop(owner, key)
        if value is None:
            value = make(**arguments)
        self._stash(owner, key, value)
        return value

    def _symbol(self, tag: str = "") -> str:
        """A new name for a C symbol."""
        self.symbols += 1
        return f"_camkes_{tag}_{self.symbols - 1}"


class _Functions:
    """The functions that allocate, for one template."""

    def __init__(self, session: Session, me: view.EndView | view.InstanceView) -> None:
        self.recorder = session.recorder
        self.label = me.label()
        self.instance = me.instance.name
        self.space = me.instance.address_space

    def names(self) -> dict[str, Any]:
        cspace = self.recorder.spaces[self.space]
        return {
            "alloc_obj": self.alloc_obj,
            "alloc_cap": self.alloc_cap,
            "alloc": self.alloc,
            "Cap": CapHandle,
            "my_cnode": cspace.cnode,
            "cap_space": cspace,
            "my_pd": objects.Allocated(self.recorder.vspaces[self.space]),
            "obj_space": SimpleNamespace(alloc=self._alloc_anywhere),
            "register_shared_variable": self.register_shared_variable,
            "get_shared_variable_backing_frames": self.backing_frames,
            "register_fill_frame": self.register_fill_frame,
            "register_dma_pool": self.register_dma_pool,
        }

    def alloc_obj(self, name: str, type: Any, label: str = "", **settings: Any) -> objects.Allocated:
        return self.recorder.object(self.label, name, type, **settings)

    def alloc_cap(self, name: str, obj: objects.Allocated | None, **rights: Any) -> int:
        return self.recorder.cap(self.space, self.instance, self.label, name, obj, **rights)

    def alloc(self, name: str, type: Any, label: str = "", **settings: Any) -> int:
        return self.alloc_cap(name, self.alloc_obj(name, type, label, **settings), **settings)

    def _alloc_anywhere(self, type: Any, name: str, label: str = "", **settings: Any) -> objects.Allocated:
        return self.recorder.object("", name, type, **settings)

    def register_shared_variable(
        self,
        global_name: str,
        symbol: str,
        size: int,
        frame_size: int | None = None,
        paddr: int | None = None,
        perm: str = "RWX",
        cached: bool = True,
        label: str = "",
        with_mapping_caps: list[int] | None = None,
    ) -> str:
        """The variable `symbol` is the shared memory `global_name`. `with_mapping_caps` receives the slots of
        capabilities to its frames. The result is C code that checks the variable's declaration."""
        size = int(size)
        frames = self.recorder.shared(global_name, size, frame_size, paddr)
        if not frames:
            return ""
        page = frames[0].size
        rights = Rights.of("".join(letter for letter in "RWX" if letter in perm))
        mapping = Mapping(self._variable(symbol), frames[0].name, rights, bool(cached))
        self.recorder.map(self.space, self.instance, mapping)
        for frame in frames if with_mapping_caps is not None else ():
            slot = self.recorder.spaces[self.space].alloc(
                frame, read="R" in perm, write="W" in perm, grant="X" in perm, cached=bool(cached)
            )
            handle = self.recorder.spaces[self.space].cnode[slot]
            assert handle is not None and with_mapping_caps is not None
            handle.set_mapping_deferred()
            with_mapping_caps.append(slot)
        return (
            f'extern __typeof__({symbol}) {symbol} __attribute__((aligned({page}), visibility("default")));\n'
            f"_Static_assert(sizeof({symbol}) <= {size} && sizeof({symbol}) % {page} == 0,\n"
            f'               "{symbol} must be whole pages, at most {size} bytes");\n'
        )

    def _variable(self, name: str) -> Variable:
        """A variable of the instance; libraries find some by name, so that no instance hides them."""
        return Variable("" if name in LIBRARY_VARIABLES else self.instance, name)

    def backing_frames(
        self, global_name: str, size: int, frame_size: int | None = None, label: str = ""
    ) -> list[AllocatedFrame]:
        return self.recorder.shared(global_name, int(size), frame_size, None)

    def register_fill_frame(self, symbol: str, fill: str, size: int = PAGE) -> str:
        """The loader copies `fill` to the variable `symbol`."""
        filled = (Fill(0, round_up(int(size)), fill_source(fill)),)
        frames = self.recorder.shared(f"{self.label}.{symbol}", int(size), PAGE, None, filled)
        self.recorder.map(
            self.space, self.instance, Mapping(self._variable(symbol), frames[0].name, Rights.READ)
        )
        return f'_Static_assert(sizeof({symbol}) == {size}, "{symbol} must have {size} bytes");\n'

    def register_dma_pool(self, symbol: str, page_size: int, caps: list[int]) -> None:
        """The variable `symbol` is the frames that the capabilities in these slots are of."""
        for number, slot in enumerate(caps):
            cap = self.recorder.spaces[self.space].cnode[slot]
            if cap is None or not isinstance(cap.referent, AllocatedFrame):
                raise TemplateError(f"slot {slot} has no frame")
            cap.set_mapping_deferred()
            frozen = cap.frozen(slot)
            mapping = Mapping(
                self._variable(symbol), frozen.object, frozen.rights, cap.cached, number * int(page_size)
            )
            self.recorder.map(self.space, self.instance, mapping)


# what is the same for all templates


def assembly_names(assembly: view.AssemblyView) -> dict[str, Any]:
    """Those of a template that is rendered for the whole system and allocates nothing."""
    return {
        **_PYTHON,
        **_constants(),
        **_LIBRARY,
        "me": assembly,
        "composition": assembly.composition,
        "configuration": assembly.configuration,
        "get_policy_extra": set,  # of `add_policy_extra`, which no template calls
        "included": set(),
    }


def _constants() -> dict[str, Any]:
    return {
        **ObjectType.__members__,
        **objects.ObjectRights.__members__,
        **objects.ARMIRQMode.__members__,
    }


def _raise(exception: Exception | Callable[[], Exception]) -> str:
    raise exception if isinstance(exception, Exception) else exception()


def _assert(condition: object, message: str = "") -> str:
    if not condition:
        raise AssertionError(message or "an assertion of the template does not hold")
    return ""


def _lambda(text: str) -> Any:
    return eval(f"lambda {text}", {})


def _receive(options: SimpleNamespace, endpoint: object, badge: str, reply: object) -> str:
    more = f", {reply}" if options.realtime else ""
    return f"seL4_Recv({endpoint}, {badge}{more})"


def _signal_receive(
    options: SimpleNamespace,
    result: str,
    target: object,
    info: str,
    endpoint: object,
    badge: str,
    reply: object,
) -> str:
    if options.realtime:
        return f"{result} = seL4_NBSendRecv({target}, {info}, {endpoint}, {badge}, {reply})"
    return f"seL4_Signal({target}); {result} = seL4_Recv({endpoint}, {badge})"


def _reply_receive(options: SimpleNamespace, endpoint: object, info: str, badge: str, reply: object) -> str:
    more = f", {reply}" if options.realtime else ""
    return f"seL4_ReplyRecv({endpoint}, {info}, {badge}{more})"


_PYTHON = {name: value for name, value in vars(builtins).items() if not name.startswith("__")}

_SIX = SimpleNamespace(
    string_types=(str,),
    integer_types=(int,),
    text_type=str,
    binary_type=bytes,
    moves=SimpleNamespace(range=range, filter=filter, map=map, zip=zip),
    iteritems=lambda mapping: iter(mapping.items()),
    itervalues=lambda mapping: iter(mapping.values()),
)

_LIBRARY: dict[str, Any] = {
    "macros": macros,
    "TemplateError": TemplateError,
    "camkes": SimpleNamespace(ast=view),
    "capdl": objects,
    "raise": _raise,
    "assert": _assert,
    "lambda": _lambda,
    "set": OrderedSet,
    "Counter": Counter,
    "uniq": lambda items: list(dict.fromkeys(items)),
    "flatMap": lambda function, items: [y for x in items for y in function(x)],
    "flatten": lambda lists: [x for items in lists for x in items],
    "functools": functools,
    "itertools": itertools,
    "math": math,
    "numbers": numbers,
    "os": os,
    "re": re,
    "six": _SIX,
    "sys": sys,
    "textwrap": textwrap,
    "generate_seL4_Recv": _receive,
    "generate_seL4_SignalRecv": _signal_receive,
    "generate_seL4_ReplyRecv": _reply_receive,
}
