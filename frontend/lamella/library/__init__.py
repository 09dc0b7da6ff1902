"""Registration from Python: operators, kernels, rules and layers, by the interface that native plugins use.

``docs/custom_operators_python.md`` is the tutorial.

>>> @lamella.library.custom_op("mine::twice", mutates_args=())
... def twice(x: lamella.Tensor) -> lamella.Tensor:
...     return x + x
>>> twice(lamella.tensor([1, 2]))
tensor([2, 4])
>>> twice.close()
"""

from __future__ import annotations

from typing import Any

from lamella import _C
from lamella._C import Call, Kernel, Object

from . import _keywords as _keywords
from ._backend import Backend
from ._custom_op import CustomOpDef, custom_op
from ._functions import (
    define,
    error_class,
    get_kernel,
    impl,
    kernels_disabled,
    register_autocast,
    register_autograd,
    register_backend,
    register_fake,
    register_kernel,
    register_layer,
    register_vmap,
)
from ._layer import Layer, fallthrough_kernel
from ._library import Library
from ._objects import ObjectKind
from ._rules import Autocast, Derivative, Rule, Subscription, Vmap, find, on_rule, rules

find_dtype = _C._find_dtype
in_kernel = _C._in_kernel  # whether this thread runs a kernel or a handler written in Python
api = _C._api  # a capsule with the C ABI, for <lamella/python.h>
# Names that are imported when they are first used.
_LATER = {
    "Argument": "_calls",
    "Description": "_calls",
    "OpCheckError": "_opcheck",
    "as_called": "_calls",
    "describe": "_calls",
    "get_ctx": "_torch_dispatch",
    "impl_abstract": "_torch_dispatch",
    "infer_schema": "_schema",
    "opcheck": "_opcheck",
    "register_torch_dispatch": "_torch_dispatch",
}

__all__ = [
    "Argument",
    "Autocast",
    "Backend",
    "Call",
    "CustomOpDef",
    "Derivative",
    "Description",
    "Kernel",
    "Layer",
    "Library",
    "Object",
    "ObjectKind",
    "OpCheckError",
    "Rule",
    "Subscription",
    "Vmap",
    "as_called",
    "custom_op",
    "define",
    "describe",
    "error_class",
    "fallthrough_kernel",
    "find",
    "find_dtype",
    "get_ctx",
    "get_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "kernels_disabled",
    "on_rule",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_backend",
    "register_fake",
    "register_kernel",
    "register_layer",
    "register_torch_dispatch",
    "register_vmap",
    "rules",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        try:
            return _C._error_class(name)
        except ValueError:
            raise AttributeError(f"module 'lamella.library' has no attribute '{name}'") from None
    from importlib import import_module

    globals()[name] = found = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
