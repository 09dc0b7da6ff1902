"""Module, the base class of all modules. Its parts are classes in files of their own, each of which inherits the next:

* ``Module``, here: members, as ``register_parameter`` and ``add_module`` add them; ``train`` and ``eval``;
  ``requires_grad_`` and ``zero_grad``; ``share_memory``; ``extra_repr``
* ``Nested`` in _nesting.py: ``get_submodule``, ``named_modules``, ``named_children``, ``named_parameters``,
  ``named_buffers`` and their short forms; ``apply``
* ``Movable`` in _moves.py: ``to``, ``to_empty``, ``type``; methods named after a dtype or device, as ``half``, ``cuda``
* ``Stateful`` in _state_dict.py: ``state_dict`` and ``load_state_dict``, their hooks, extra state
* ``Hooked`` in _hooks.py: ``register_forward_hook`` and the other hooks, and ``call_hooked``, which runs the hooks; it
  runs backward hooks by _backward_hooks.py
* ``_C._ModuleBase`` in frontend/binding/module_base.cpp: ``__call__``, which calls ``forward`` if there are no
  hooks, else ``call_hooked``; the look-up of attributes; their assignment and deletion, which for members call
  ``_assign``, here; ``note`` in _notes.py, for an exception that leaves a call
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from lamella._C import Tensor
from lamella._devices.names import add_mover
from lamella.nn.modules._hooks import (
    RemovableHandle,
    _global_backward_hooks,
    _global_backward_pre_hooks,
    _global_forward_hooks,
    _global_forward_pre_hooks,
    call_hooked,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from lamella.nn.modules._moves import mover
from lamella.nn.modules._nesting import Nested
from lamella.nn.modules._notes import note
from lamella.nn.modules._state_dict import _IncompatibleKeys  # noqa: F401
from lamella.nn.parameter import Buffer, Parameter

__all__ = [
    "Module",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

Self = TypeVar("Self", bound="Module")
T_destination = TypeVar("T_destination", bound=dict)  # type: ignore[type-arg]
NOTHING = object()

_global_parameter_registration_hooks: dict[int, Any] = {}
_global_buffer_registration_hooks: dict[int, Any] = {}
_global_module_registration_hooks: dict[int, Any] = {}


def _registration_hook(hooks: dict[int, Any], hook: Callable[..., Any]) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def _through_hooks(hooks: dict[int, Any], module: Any, name: str, value: Any) -> Any:
    for hook in list(hooks.values()):
        answer = hook(module, name, value)
        value = value if answer is None else answer
    return value


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, name, param)`` when a module gets a parameter. A result other than None replaces the
    parameter.

    >>> from lamella.nn.modules.module import register_module_parameter_registration_hook
    >>> with register_module_parameter_registration_hook(lambda module, name, param: print(name)):
    ...     m = lamella.nn.Linear(1, 1, bias=False)
    weight
    """
    return _registration_hook(_global_parameter_registration_hooks, hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, name, buffer)`` when a module gets a buffer. A result other than None replaces the buffer.

    >>> from lamella.nn.modules.module import register_module_buffer_registration_hook
    >>> with register_module_buffer_registration_hook(lambda module, name, buffer: print(name)):
    ...     lamella.nn.Identity().register_buffer("count", lamella.zeros(1))
    count
    """
    return _registration_hook(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, name, submodule)`` when a module gets a submodule. A result other than None replaces the
    submodule.

    >>> from lamella.nn.modules.module import register_module_module_registration_hook
    >>> with register_module_module_registration_hook(lambda module, name, submodule: print(name)):
    ...     m = lamella.nn.Sequential(lamella.nn.Identity())
    0
    """
    return _registration_hook(_global_module_registration_hooks, hook)


class _CallSignature:
    """The signature that ``inspect.signature`` reads. A module's call is native code, which takes any arguments. A
    class has none here, so that the signature of its constructor is found."""

    def __get__(self, module: Any, owner: Any = None) -> Any:
        if module is None:
            raise AttributeError("__signature__")
        import inspect

        kinds = {"args": inspect.Parameter.VAR_POSITIONAL, "kwargs": inspect.Parameter.VAR_KEYWORD}
        return inspect.Signature([inspect.Parameter(name, kind) for name, kind in kinds.items()])


class Module(Nested):
    """A part of a network, with parameters, buffers, submodules and a ``forward``. A call runs ``forward`` and the
    hooks.

    A subclass calls ``super().__init__()`` first. A Parameter, a Buffer or a Module that is assigned to an attribute is
    registered as a member.

    >>> class Scaled(lamella.nn.Module):
    ...     def __init__(self, by):
    ...         super().__init__()
    ...         self.by = lamella.nn.Parameter(lamella.tensor([by]))
    ...     def forward(self, x):
    ...         return (x * self.by).detach()
    >>> m = Scaled(2.0)
    >>> m(lamella.ones(3))
    tensor([2., 2., 2.])
    >>> [name for name, _ in m.named_parameters()]
    ['by']
    """

    dump_patches: bool = False
    __signature__ = _CallSignature()
    training: bool
    call_super_init: bool = False
    forward: Callable[..., Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            given = f"{len(args)} arguments" if args else f"the keyword '{next(iter(kwargs))}'"
            raise TypeError(f"{type(self).__name__}.__init__() takes no arguments for Module, got {given}")
        self.__dict__.update(training=True, _parameters={}, _buffers={}, _modules={})
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any) -> None:  # type: ignore[no-redef]
        """Computes the result of a call. Each subclass implements it.

        >>> lamella.nn.Identity().forward(1)
        1
        """
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # ---- members -----------------------------------------------------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter. None reserves the name.

        Raises:
            KeyError: the name has a dot, is empty, or is that of another attribute
            AttributeError: ``Module.__init__`` was not called before
            TypeError: ``param`` is neither a Parameter nor None, or ``name`` is not a str
            ValueError: ``param`` is the result of an operator, and not a leaf

        >>> m = lamella.nn.Identity()
        >>> m.register_parameter("bias", None)
        >>> m.bias is None
        True
        """
        _check_name(self, "parameter", name)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"{type(self).__name__}: parameter {name!r} must be a Parameter or None, got "
                    f"{type(param).__name__}; lamella.nn.Parameter(tensor) makes one"
                )
            if getattr(param, "grad_fn", None) is not None:
                raise ValueError(
                    f"{type(self).__name__}: parameter {name!r} is the result of an operator; a parameter is a leaf, "
                    "so pass its detach() to Parameter, or compute it in forward()"
                )
            param = _through_hooks(_global_parameter_registration_hooks, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a buffer: a tensor that moves with the module and is not a parameter.

        Args:
            persistent: whether ``state_dict()`` contains it

        >>> m = lamella.nn.Identity()
        >>> m.register_buffer("mean", lamella.zeros(2))
        >>> m.state_dict()
        OrderedDict([('mean', tensor([0., 0.]))])
        """
        _check_name(self, "buffer", name)
        if tensor is not None:
            if not isinstance(tensor, Tensor):
                raise TypeError(
                    f"{type(self).__name__}: buffer {name!r} must be a Tensor or None, got {type(tensor).__name__}"
                )
        self._buffers[name] = _through_hooks(_global_buffer_registration_hooks, self, name, tensor)
        _set_persistent(self, name, persistent)

    def add_module(self, name: str, module: Module | None) -> None:
        """Adds a submodule, or replaces the submodule with that name. The name need not be an identifier: "0" will do.

        >>> m = lamella.nn.Identity()
        >>> m.add_module("0", lamella.nn.Identity())
        >>> m.get_submodule("0")
        Identity()
        """
        _check_name(self, "module", name)
        if module is not None:
            if not isinstance(module, Module):
                raise TypeError(
                    f"{type(self).__name__}: submodule {name!r} must be a Module or None, got {type(module).__name__}"
                )
        self._modules[name] = _through_hooks(_global_module_registration_hooks, self, name, module)

    register_module = add_module

    def __dir__(self) -> list[str]:
        own = (self.__dict__.get(n, ()) for n in ("_parameters", "_buffers", "_modules"))
        names = {*dir(type(self)), *self.__dict__, *(n for members in own for n in members)}
        return sorted(n for n in names if not n[:1].isdigit())

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    # ---- modes and gradients -----------------------------------------------------------------------------------------

    def train(self: Self, mode: bool = True) -> Self:
        """Sets ``training``, which dropout and batch norm read, on the module and all below it; returns the module.

        >>> lamella.nn.Dropout().train(False).training
        False
        """
        if not isinstance(mode, bool):
            raise ValueError(f"train: argument 'mode' must be a bool, got {type(mode).__name__}")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: Self) -> Self:
        """Calls ``train(False)``.

        >>> lamella.nn.Dropout().eval()(lamella.ones(2))
        tensor([1., 1.])
        """
        return self.train(False)

    def requires_grad_(self: Self, requires_grad: bool = True) -> Self:
        """Sets whether all parameters require a gradient; returns the module.

        >>> m = lamella.nn.Linear(1, 1).requires_grad_(False)
        >>> any(getattr(p, "requires_grad", False) for p in m.parameters())
        False
        """
        for param in self.parameters():
            if hasattr(Tensor, "requires_grad_"):
                param.requires_grad_(requires_grad)  # type: ignore[attr-defined]
            elif requires_grad:
                raise RuntimeError("requires_grad_: autograd is not loaded; see lamella.plugins.status()")
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Removes the gradients of all parameters, or without ``set_to_none`` fills them with zeros.

        >>> lamella.nn.Linear(1, 1).zero_grad()
        """
        for param in self.parameters():
            grad = getattr(param, "grad", None)
            if grad is None:
                continue
            if set_to_none:
                param.grad = None
            else:
                if grad.grad_fn is not None:
                    grad.detach_()
                else:
                    grad.requires_grad_(False)
                grad.zero_()

    def share_memory(self: Self) -> Self:
        """Moves parameters, gradients and buffers to memory shared with other processes, by ``Tensor.share_memory_``.

        >>> lamella.nn.Identity().share_memory()
        Identity()
        """
        return self._apply(lambda t: t.share_memory_())  # type: ignore[attr-defined, no-any-return]

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Not supported, as there is no compiler: it raises a NotImplementedError.

        >>> lamella.nn.Identity().compile()
        Traceback (most recent call last):
        NotImplementedError: Module.compile: Lamella has no compiler; call the module as it is
        """
        raise NotImplementedError("Module.compile: Lamella has no compiler; call the module as it is")

    # ---- as text -----------------------------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """Returns the text that ``repr`` shows between its parentheses. Subclasses override it.

        >>> lamella.nn.Linear(2, 3).extra_repr()
        'in_features=2, out_features=3, bias=True'
        """
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_indented(repr(module))}" for name, module in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(" + "".join(f"\n  {line}" for line in (*lines, *children)) + "\n)"


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


# ---- members ---------------------------------------------------------------------------------------------------------


def _check_name(module: Any, what: str, name: Any) -> None:
    """Raises an error for a name that a member cannot have."""
    if "_parameters" not in module.__dict__:
        raise AttributeError(
            f"{type(module).__name__}: a {what} cannot be assigned before Module.__init__; call "
            "super().__init__() first"
        )
    if not isinstance(name, str):
        raise TypeError(f"{type(module).__name__}: the name of a {what} must be a str, got {type(name).__name__}")
    if "." in name or not name:
        raise KeyError(f"{type(module).__name__}: the name of a {what} must not be empty nor contain '.', got {name!r}")
    own = {"parameter": module._parameters, "buffer": module._buffers, "module": module._modules}[what]
    of_class = getattr(type(module), name, None)  # a mover, such as cuda(), does not reserve its name
    if name not in own and not getattr(of_class, "is_mover", False) and hasattr(module, name):
        raise KeyError(f"{type(module).__name__}: attribute {name!r} already exists, and cannot be a {what}")


def _forget(module: Any, name: str, *places: Any) -> None:
    for place in places:
        place.pop(name, None)
    _set_persistent(module, name, True)


def _set_persistent(module: Any, name: str, persistent: bool) -> None:
    """Stores whether ``state_dict()`` contains a buffer."""
    if not persistent:
        module._non_persistent_buffers_set.add(name)
    elif "_non_persistent_buffers_set" in module.__dict__:
        module._non_persistent_buffers_set.discard(name)


def _assign(module: Any, name: str, value: Any = NOTHING) -> None:
    """Handles the assignment of a tensor or a module, or to a member's name. Without a value it deletes the member."""
    held: dict[str, Any] = module.__dict__
    parameters: Any
    buffers: Any
    modules: Any
    parameters, buffers, modules = (held.get(n) for n in ("_parameters", "_buffers", "_modules"))
    if value is NOTHING:
        _forget(module, name, parameters, buffers, modules)
    elif isinstance(value, Parameter):
        if parameters is not None:
            _forget(module, name, held, buffers, modules)
        module.register_parameter(name, value)
    elif parameters is not None and name in parameters:
        if value is not None:
            raise TypeError(
                f"{type(module).__name__}: parameter {name!r} takes a Parameter or None, got {type(value).__name__}; "
                "write lamella.nn.Parameter(tensor), or copy_ into it under no_grad"
            )
        module.register_parameter(name, None)
    elif isinstance(value, Module):
        if modules is None:
            _check_name(module, "module", name)
        _forget(module, name, held, parameters, buffers)
        modules[name] = _through_hooks(_global_module_registration_hooks, module, name, value)
    elif modules is not None and name in modules:
        if value is not None:
            raise TypeError(
                f"{type(module).__name__}: submodule {name!r} takes a Module or None, got {type(value).__name__}"
            )
        modules[name] = _through_hooks(_global_module_registration_hooks, module, name, None)
    elif buffers is not None and name in buffers:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"{type(module).__name__}: buffer {name!r} takes a Tensor or None, got {type(value).__name__}"
            )
        buffers[name] = _through_hooks(_global_buffer_registration_hooks, module, name, value)
        if isinstance(value, Buffer):
            _set_persistent(module, name, value.persistent)
    elif isinstance(value, Buffer):
        module.register_buffer(name, value, value.persistent)
    else:  # a plain tensor is an ordinary attribute
        object.__setattr__(module, name, value)


add_mover(Module, mover)
Module._watch(
    _assign,
    call_hooked,
    note,
    _global_forward_hooks,
    _global_forward_pre_hooks,
    _global_backward_hooks,
    _global_backward_pre_hooks,
)
