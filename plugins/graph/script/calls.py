"""Calls: of operators, scripted functions, methods, classes, modules, and containers of modules."""

from __future__ import annotations

import ast
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

import lamella.plugins.graph.script.members as members
from lamella.plugins.graph.script.attributes import Attributes
from lamella.plugins.graph.script.builtin_calls import Builtins
from lamella.plugins.graph.script.emit import UNKNOWN, Value
from lamella.plugins.graph.script.matching import too_many
from lamella.plugins.graph.script.statics import BuiltinMethod, Known, Method, Python, Sequence, SuperOf
from lamella.plugins.graph.script.types import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    SCALAR,
    STR,
    TENSOR,
    Dict,
    Future,
    List,
    Object,
    Optional,
    Tuple,
    Type,
    Union,
    is_subtype,
    named,
    shown,
    without_none,
)


class Calls(Builtins, Attributes):
    """Compiles calls."""

    inline: Callable[..., Any]
    owner: type | None = None
    """The class in which the method that is compiled was written, for ``super()``."""

    def call(self, node: ast.Call) -> Any:  # type: ignore[override]
        if isinstance(node.func, ast.Name) and node.func.id == "super" and self.scope.find("super") is None:
            return self.super_call(node)
        called = self.expression(node.func)
        if isinstance(called, Python):
            special = self.special_call(called.object, node)
            if special is not None:
                return special()
        wishes = self.wishes(called)
        args: list[Any] = []
        for i, e in enumerate(node.args):
            if isinstance(e, ast.Starred):
                args += self.starred(e)
            else:
                args.append(self.expression(e, wishes.get(i)))
        kwargs: dict[str, Any] = {}
        for k in node.keywords:
            if k.arg is None and self.is_empty(k.value):
                continue
            if k.arg is None:
                raise self.error("'**' in a call is not admitted; name the arguments", k.value)
            kwargs[k.arg] = self.expression(k.value, wishes.get(k.arg))
        return self.call_thing(called, args, kwargs)

    def is_empty(self, node: ast.expr) -> bool:
        """Returns whether ``**`` stands before a dictionary of Python without elements."""
        found = self.expression(node)
        return isinstance(found, Python) and found.object == {}

    def starred(self, node: ast.Starred) -> list[Any]:
        inner = self.expression(node.value)
        if isinstance(inner, Sequence):
            return list(inner.items)
        value = self.value(inner, node)
        if isinstance(value.type, Tuple):
            return self.unpacked(value)
        if isinstance(value.type, List) and value.items is not None:
            return list(value.items)
        if value.type == List(INT):
            return [value]  # as in x.view(*sizes): an operator takes the list itself
        raise self.error(f"'*' in a call takes a tuple, got {named(value.type)}", node)

    def super_call(self, node: ast.Call) -> Any:
        bound = self.scope.find("self")
        if self.owner is None or bound is None or not isinstance(getattr(bound, "value", None), Value):
            raise self.error("super() is admitted in a method of a class only", node)
        return SuperOf(bound.value, self.owner)  # type: ignore[union-attr]

    def wishes(self, called: Any) -> dict[Any, Type]:
        """Returns the types of a scripted function's parameters, by position and by name."""
        signature = None
        if isinstance(called, Method):
            if self.is_inlined(called):
                return {}
            signature = self.program.method_signature(self, called)
        elif isinstance(called, Python):
            function = self.program.scripted(called.object)
            if function is not None and not self.program.is_template(function):
                signature = self.program.function(self, function)
        elif isinstance(called, BuiltinMethod):
            return _element_wishes(called)
        if signature is None:
            return {}
        found: dict[Any, Type] = {}
        for i, p in enumerate(signature.parameters):
            found[i] = found[p.name] = p.type
        return found

    # ---- what is called ----

    def call_thing(self, called: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Calls a compiled expression with compiled arguments."""
        if isinstance(called, Python):
            return self.call_python(called.object, args, kwargs)
        if isinstance(called, Method) and (self.is_inlined(called) or self.takes_more(called, args, kwargs)):
            info = called.self.type.info  # type: ignore[attr-defined]
            static = isinstance(inspect.getattr_static(info.python, called.name, None), staticmethod)
            given = args if static else [called.self, *args]
            return self.inline(called.function, given, kwargs, info.owner_of(called.name))
        if isinstance(called, Method):
            return self.call_method(called, self.values(args), self.named_values(kwargs))
        if isinstance(called, BuiltinMethod):
            return self.call_builtin_method(called, args, kwargs)
        if isinstance(called, Known) and not args and not kwargs:
            return called.result
        if isinstance(called, Sequence) and called.owner is not None:
            return self.call_thing(called.owner, args, kwargs)
        if isinstance(called, Value) and isinstance(called.type, Object):
            info = called.type.info
            name = "forward" if info.is_module else "__call__"
            found = self.find_attribute(called, name)
            if not isinstance(found, Method):
                raise self.error(f"{named(called.type)} cannot be called, since it has no {name}()")
            return self.call_thing(found, args, kwargs)
        what = f"{named(called.type)}" if isinstance(called, Value) else called.what
        raise self.error(f"{what} cannot be called")

    def is_inlined(self, method: Method) -> bool:
        """Returns whether a method is one of the package's, beside ``forward``, so that its calls are inlined."""
        return method.name != "forward" and self.program.is_template(method.function)

    def takes_more(self, method: Method, args: list[Any], kwargs: dict[str, Any]) -> bool:
        """Returns whether a call gives arguments for parameters of a package's ``forward`` that have no type."""
        if not self.program.is_template(method.function) or method.name != "forward":
            return False
        info = self.program.method_signature(self, method)
        return bool(info.fixed) and (len(args) > info.before_fixed or any(k in info.fixed for k in kwargs))

    def values(self, things: list[Any]) -> list[Value]:
        return [self.value(t) for t in things]

    def named_values(self, things: dict[str, Any]) -> dict[str, Value]:
        return {k: self.value(t) for k, t in things.items()}

    def call_python(self, target: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        import lamella

        if isinstance(target, lamella.library.CustomOpDef):
            target = type(target).__call__  # the operator
        if isinstance(target, type(lamella.ops.aten.add)):
            return self.call_operator(
                members.operator_name(target),
                self.values(args),
                self.named_values(kwargs),
                str(target).split("::")[-1][:-1],
            )
        recorded = self.program.recorded_function(target)
        if recorded is not None:
            inputs = self.bound(recorded, self.values(args), self.named_values(kwargs))
            return self.one("prim::CallFunction", inputs, recorded.returned, name=recorded.name)
        if self.program.is_template(target):
            return self.inline(target, args, kwargs)
        if isinstance(target, types.BuiltinMethodType) and isinstance(target.__self__, (dict, list, tuple, str)):
            return self.call_known(target, args, kwargs)
        function = self.program.scripted(target)
        if function is not None:
            return self.call_function(function, self.values(args), self.named_values(kwargs))
        if isinstance(target, type) or isinstance(target, (types.GenericAlias, typing._GenericAlias)):  # type: ignore[attr-defined]
            return self.construct(target, self.values(args), self.named_values(kwargs))
        if isinstance(target, lamella.nn.Module):
            raise self.error(
                f"the module {type(target).__name__} is a global; make it an attribute of the module that calls it"
            )
        name = getattr(target, "__name__", type(target).__name__)
        raise self.error(
            f"'{name}' cannot be called from a script: it has no source in Python that could be scripted, and is none "
            "of the admitted builtins; jit.ignore lets a script call it in Python"
        )

    def call_known(self, target: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Calls a method of a container of Python, whose arguments are known, too."""
        known = []
        for a in args:
            found = a.constant if isinstance(a, Value) else getattr(a, "object", None)
            if found is UNKNOWN or kwargs:
                raise self.error(f"{target.__name__}() of a Python {type(target.__self__).__name__} takes known values")
            known.append(found)
        if target.__name__ not in ("get", "index", "count", "keys", "values", "items", "lower", "upper", "copy"):
            raise self.error(
                f"{target.__name__}() would change a Python {type(target.__self__).__name__} of the module"
            )
        result: Any = target(*known)
        views: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
        return self.program.static(self, list(result) if isinstance(result, views) else result)  # type: ignore[call-overload]

    def call_function(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Calls a Python function as a scripted one, or as a call of Python where jit.ignore says so."""
        info = self.program.function(self, function)
        inputs = self.bound(info, args, kwargs)
        returns = self.program.returns(self, info)
        if info.ignored:
            return self.one("prim::PythonCall", inputs, returns, name=info.name)
        return self.one("prim::CallFunction", inputs, returns, name=info.name)

    def method(self, base: Value, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:  # type: ignore[override]
        """Calls a method of an object by its name."""
        found = self.find_attribute(base, name)
        if not isinstance(found, Method):
            if found is not None:
                return self.call_thing(found, args, kwargs)
            raise self.error(f"{named(base.type)} has no method '{name}'")
        return self.call_method(found, args, kwargs)

    def call_method(self, method: Method, args: list[Value], kwargs: dict[str, Value]) -> Value:
        info = self.program.method_signature(self, method)
        inputs = self.bound(info, args, kwargs)
        returns = self.program.returns(self, info)
        if info.ignored:
            inputs = inputs if info.static else [method.self, *inputs]
            return self.one("prim::PythonCall", inputs, returns, name=info.name)
        if info.static:
            return self.one("prim::CallFunction", inputs, returns, name=info.name)
        name = info.name.rpartition(".")[2]
        return self.one("prim::CallMethod", [method.self, *inputs], returns, name=name)

    def bound(self, info: Any, args: list[Value], kwargs: dict[str, Value]) -> list[Value]:
        """Returns the arguments in the order of the parameters, with defaults."""
        left, out = dict(kwargs), []
        positional = [p for p in info.parameters if not p.keyword_only]
        if len(args) > len(positional):
            raise self.error(f"{info.title} {too_many(len(positional), len(args))}")
        for i, p in enumerate(info.parameters):
            given = args[i] if i < len(args) and not p.keyword_only else None
            if p.name in left:
                if given is not None:
                    raise self.error(f"{info.title} gets the argument '{p.name}' twice")
                given = left.pop(p.name)
            if given is None:
                if p.default is inspect.Parameter.empty:
                    raise self.error(f"{info.title} misses the argument '{p.name}'")
                given = self.default(p)
            if without_none(p.type) == FLOAT and given.type == INT and self.program.is_library(info.python):
                given = self.as_float(given)
            out.append(self.argument(given, p.type, f"the argument '{p.name}' of {info.title}"))
        if left:
            raise self.error(f"{info.title} has no argument '{next(iter(left))}'")
        return out

    def default(self, p: Any) -> Value:
        if isinstance(p.default, (list, tuple)) and not p.default and isinstance(p.type, List):
            return self.list_of([], p.type.element)
        if isinstance(p.default, int) and p.type == FLOAT:
            return self.constant(float(p.default))
        return self.constant(p.default)

    def argument(self, value: Value, wanted: Type, what: str) -> Value:
        """Returns a value as an argument: a tensor becomes a number, a tuple a list where that is wanted."""
        if value.type == TENSOR and wanted in (INT, FLOAT, SCALAR) and not is_subtype(TENSOR, wanted):
            return self.op(
                {INT: "aten::IntImplicit", FLOAT: "aten::FloatImplicit"}.get(wanted, "aten::ScalarImplicit"), value
            )
        if isinstance(wanted, List) and isinstance(value.type, Tuple):
            items = self.unpacked(value)
            if all(is_subtype(v.type, wanted.element) for v in items):
                return self.list_of(items, wanted.element)
        return self.converted(value, wanted, lambda: what)

    def construct(self, python: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Makes a named tuple, an object of a class, or an empty container of a written type."""
        import lamella

        if isinstance(python, type) and issubclass(python, lamella.nn.Module):
            raise self.error("a module cannot be made in a script; make it in __init__, as an attribute")
        if isinstance(python, type) and issubclass(python, BaseException):
            raise self.error("an exception is admitted behind 'raise' only")
        t = self.program.annotation(python, self)
        if isinstance(t, (List, Dict)):
            if args or kwargs:
                raise self.error(f"{shown(t)}() takes no arguments")
            return self.list_of([], t.element) if isinstance(t, List) else self.one("prim::DictConstruct", [], t)
        if isinstance(t, Tuple):
            return self.make_named_tuple(t, args, kwargs)
        if not isinstance(t, Object):
            raise self.error(f"{named(t)} cannot be made so")
        t.info.compile_init(self)
        made = self.one("prim::CreateObject", [], t)
        if t.info.method("__init__") is not None:
            self.method(made, "__init__", args, kwargs)
        elif args or kwargs:
            raise self.error(f"{t.name}() takes no arguments, since it has no __init__")
        return made

    def make_named_tuple(self, t: Tuple, args: list[Value], kwargs: dict[str, Value]) -> Value:
        given = dict(zip(t.fields, args, strict=False)) | kwargs
        defaults = getattr(t.python, "_field_defaults", {})
        if len(args) > len(t.fields) or set(given) - set(t.fields):
            raise self.error(f"{t.name} has the fields {', '.join(t.fields)}")
        items = []
        for name, wanted in zip(t.fields, t.items, strict=True):
            if name not in given and name not in defaults:
                raise self.error(f"{t.name} misses the field '{name}'")
            value = given[name] if name in given else self.constant(defaults[name])
            items.append(self.converted(value, wanted, lambda name=name: f"the field '{name}'"))  # type: ignore[misc]
        return self.tuple_of(items, t)

    # ---- methods of builtin types ----

    def call_builtin_method(self, m: BuiltinMethod, things: list[Any], named: dict[str, Any]) -> Any:
        args, kwargs, t, name = self.values(things), self.named_values(named), m.self.type, m.name
        if t == TENSOR:
            return self.call_tensor_method(m.self, name, args, kwargs)
        if t == STR and name == "format":
            return self.formatted(m.self, args, kwargs)
        if isinstance(t, Tuple):
            return self.tuple_method(m.self, name, args, kwargs)
        if isinstance(t, Future):
            return self.op("aten::wait", m.self)
        if isinstance(t, List) and name in ("append", "insert", "remove", "index", "count") and args:
            what = f"the element for {name}()"
            args[-1] = self.converted(args[-1], t.element, lambda: what)
        if isinstance(t, List) and name == "numel":
            return self.call_function(self.program.library_function("product"), [m.self], {})
        if isinstance(t, List) and name == "extend":
            args[0] = self.as_list(args[0])
        if isinstance(t, Dict) and args and name in ("get", "setdefault", "pop"):
            args[0] = self.converted(args[0], t.key, lambda: "the key of the dictionary")
            if len(args) == 2 and not is_subtype(args[1].type, t.value) and args[1].type == NONE and name == "get":
                args.pop()
        return self.call_operator(f"aten::{name}", [m.self, *args], kwargs, f"{shown(t)}.{name}")

    def tuple_method(self, value: Value, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        t = value.type
        assert isinstance(t, Tuple)
        items = self.unpacked(value)
        if name in ("count", "index"):
            return self.call_operator(
                f"aten::{name}", [self.list_of(items, self.element_type(items, None, "it")), *args], {}
            )
        if name == "_replace" and not args and set(kwargs) <= set(t.fields):
            return self.tuple_of([kwargs.get(f, v) for f, v in zip(t.fields, items, strict=True)], t)
        raise self.error(f"the method '{name}' of a tuple is not admitted so")

    def call_tensor_method(self, tensor: Value, name: str, args: list[Value], kwargs: dict[str, Value]) -> Any:
        import lamella

        if name in members.DTYPE_METHODS and not args:
            wanted = self.block.constant(members.dtype(members.DTYPE_METHODS[name]), members.DTYPE, self.place)
            return self.call_operator("aten::to", [tensor, wanted], kwargs, name)
        if name == "to":
            return self.convert_tensor(tensor, args, kwargs)
        if name == "tolist":
            return self.to_list(tensor)
        if name in members.TENSOR_METHODS:
            return self.call_operator(members.TENSOR_METHODS[name], [tensor, *args], kwargs, f"Tensor.{name}")
        if name in members.SECOND_METHODS and args:
            return self.call_operator(f"aten::{name}", [args[0], tensor, *args[1:]], kwargs, f"Tensor.{name}")
        if name in members.LIBRARY_METHODS:
            if name.startswith("new_") and args and all(v.type == INT for v in args):
                args = [self.list_of(args, INT)]  # as in x.new_zeros(2, 3)
            return self.call_function(self.program.library_function(name), [tensor, *args], kwargs)
        operator = members.operator_of(lamella.Tensor, name)
        if operator is None:
            return self.call_python(members.contributed(name), [tensor, *args], kwargs)
        return self.call_operator(operator, [tensor, *args], kwargs, f"Tensor.{name}")

    def convert_tensor(self, tensor: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """Compiles ``tensor.to(...)``; keywords without a device are the form with a dtype."""
        if not args and "dtype" in kwargs and "device" not in kwargs:
            args = [kwargs.pop("dtype")]
        return self.call_operator("aten::to", [tensor, *args], kwargs, "Tensor.to")

    def to_list(self, tensor: Value) -> Value:
        wished = self.wished
        inner: Any = wished
        while isinstance(inner, List):
            inner = inner.element
        if inner not in (INT, FLOAT, BOOL, members.COMPLEX) or wished is None:
            raise self.error(
                "tolist() has a type that depends on the tensor; write it: 'values: List[float] = x.tolist()'"
            )
        return self.one("aten::tolist", [tensor], wished)

    def as_list(self, value: Value) -> Value:
        if isinstance(value.type, Tuple):
            items = self.unpacked(value)
            return self.list_of(items, self.element_type(items, None, "the tuple"))
        return value


def _element_wishes(called: BuiltinMethod) -> dict[Any, Type]:
    """Returns the types that a container's methods want, for literals without elements."""
    t = called.self.type
    if isinstance(t, List):
        return {"append": {0: t.element}, "insert": {1: t.element}, "extend": {0: t}}.get(called.name, {})  # type: ignore[dict-item,return-value]
    if isinstance(t, Dict) and called.name in ("get", "setdefault", "pop"):
        return {0: t.key, 1: t.value}
    return {}


__all__ = ["Callable", "Calls", "Optional", "Union"]
