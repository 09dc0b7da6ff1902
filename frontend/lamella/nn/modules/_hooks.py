"""Hooks of modules: functions that are called before and after ``forward``, and with its gradients in backward."""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from lamella._C import _ModuleBase

Hooks = OrderedDict[int, Any]

# The hooks that apply to all modules. Each call runs them before the module's own.
_global_forward_hooks: Hooks = OrderedDict()
_global_forward_pre_hooks: Hooks = OrderedDict()
_global_backward_hooks: Hooks = OrderedDict()
_global_backward_pre_hooks: Hooks = OrderedDict()
_global_forward_hooks_always_called: Hooks = OrderedDict()
_global_forward_hooks_with_kwargs: Hooks = OrderedDict()

_numbers = itertools.count()


class RemovableHandle:
    """Removes a hook: by ``remove()``, or at the end of a ``with``. Another removal does nothing.

    >>> hooks = {}
    >>> handle = lamella.nn.modules.module.RemovableHandle(hooks)
    >>> hooks[handle.id] = print
    >>> handle.remove()
    >>> hooks
    {}
    """

    def __init__(self, hooks: Any, extra_dict: Any = None):
        self.id = next(_numbers)
        self._places = [_Place(d) for d in (hooks, *_several(extra_dict))]

    def remove(self) -> None:
        """Removes the hook."""
        for place in self._places:
            hooks = place()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()

    def __getstate__(self) -> Any:
        return self.id, [place() for place in self._places]

    def __setstate__(self, state: Any) -> None:
        self.id = state[0]
        self._places = [_Place(OrderedDict() if d is None else d) for d in state[1]]


def _several(dicts: Any) -> Any:
    return () if dicts is None else dicts if isinstance(dicts, (list, tuple)) else (dicts,)


class _Place:
    """A weak reference to a dict, so that a handle does not keep it alive. A plain dict, which allows none, is held
    strongly."""

    def __init__(self, hooks: Any):
        self._get = weakref.ref(hooks) if isinstance(hooks, OrderedDict) else lambda: hooks

    def __call__(self) -> Any:
        return self._get()


def _keep(hooks: Hooks, hook: Any, prepend: bool, *marks: Hooks) -> RemovableHandle:
    """Registers a hook. `marks` are dicts whose keys are the numbers of the hooks that have a property."""
    handle = RemovableHandle(hooks, marks)
    hooks[handle.id] = hook
    for mark in marks:
        mark[handle.id] = True
    if prepend:
        for d in (hooks, *marks):
            d.move_to_end(handle.id, last=False)
    return handle


class Hooked(_ModuleBase):
    """The part of Module that registers hooks and calls them."""

    _forward_hooks: Hooks
    _forward_pre_hooks: Hooks
    _forward_hooks_with_kwargs: Hooks
    _forward_hooks_always_called: Hooks
    _forward_pre_hooks_with_kwargs: Hooks
    _backward_hooks: Hooks
    _backward_pre_hooks: Hooks
    _is_full_backward_hook: bool | None = None
    # These members, dicts and one set, are created at their first use.
    _made_on_use = dict.fromkeys(
        (
            "_forward_hooks",
            "_forward_pre_hooks",
            "_forward_hooks_with_kwargs",
            "_forward_hooks_always_called",
            "_forward_pre_hooks_with_kwargs",
            "_backward_hooks",
            "_backward_pre_hooks",
            "_state_dict_hooks",
            "_state_dict_pre_hooks",
            "_load_state_dict_pre_hooks",
            "_load_state_dict_post_hooks",
        ),
        OrderedDict,
    ) | {"_non_persistent_buffers_set": set}

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Calls ``hook(module, args)`` before ``forward``. If it does not return None, its result replaces the
        arguments: a tuple of them, or the only one.

        Args:
            prepend: the hook runs before the module's other hooks
            with_kwargs: the hook is called as ``hook(module, args, kwargs)``, and returns None or (args, kwargs)

        >>> m = lamella.nn.Identity()
        >>> handle = m.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
        >>> m(lamella.zeros(1))
        tensor([1.])
        >>> handle.remove()
        """
        marks = (self._forward_pre_hooks_with_kwargs,) if with_kwargs else ()
        return _keep(self._forward_pre_hooks, hook, prepend, *marks)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Calls ``hook(module, args, output)`` after ``forward``. If it does not return None, its result replaces the
        output.

        Args:
            prepend: the hook runs before the module's other hooks
            with_kwargs: the hook is called as ``hook(module, args, kwargs, output)``
            always_call: the hook is called also if ``forward`` or a hook raises; without a result the output is None

        >>> m = lamella.nn.Identity()
        >>> with m.register_forward_hook(lambda module, args, output: output * 2):
        ...     m(lamella.ones(1))
        tensor([2.])
        """
        marks = [self._forward_hooks_with_kwargs] if with_kwargs else []
        if always_call:
            marks.append(self._forward_hooks_always_called)
        return _keep(self._forward_hooks, hook, prepend, *marks)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls ``hook(module, grad_input, grad_output)`` when the gradients of the inputs are known.

        If it does not return None, its result replaces the gradients of the inputs. ``grad_input`` has an element for
        each positional argument, ``grad_output`` for each output: None for one that is no tensor. If no input requires
        a gradient, the hook is called when the gradients of the outputs are known.

        Raises:
            RuntimeError: the module has hooks of ``register_backward_hook``

        >>> m = lamella.nn.Identity()
        >>> m.register_full_backward_hook(lambda module, grad_input, grad_output: None).remove()
        """
        _settle_kind(self, True)
        return _keep(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls ``hook(module, grad_output)`` when the gradients of the outputs are known.

        If it does not return None, its result replaces the gradients of the outputs.

        >>> m = lamella.nn.Identity()
        >>> m.register_full_backward_pre_hook(lambda module, grad_output: None).remove()
        """
        return _keep(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Calls ``hook(module, grad_input, grad_output)`` at the last operator of ``forward``.

        The gradients are those of that operator alone. Those of the module need ``register_full_backward_hook``.

        >>> m = lamella.nn.Identity()
        >>> m.register_backward_hook(lambda module, grad_input, grad_output: None).remove()
        """
        _settle_kind(self, False)
        return _keep(self._backward_hooks, hook, False)


def _settle_kind(module: Any, full: bool) -> None:
    """Stores which kind of backward hooks the module has; raises a RuntimeError if it has the other kind."""
    if module._is_full_backward_hook is (not full):
        first, second = ("register_full_backward_hook", "register_backward_hook")[:: -1 if full else 1]
        raise RuntimeError(
            f"{type(module).__name__}: {second} is refused, since the module has hooks of {first}; backward hooks of a "
            "module are of one kind"
        )
    module._is_full_backward_hook = full


class _Call:
    """A call of a module with hooks: its current arguments and result, and which hooks were called."""

    def __init__(self, module: Any, args: Any, kwargs: Any):
        self.module, self.args, self.kwargs = module, args, kwargs
        self.result: Any = None
        self.called: set[int] = set()

    def forward_hook(self, number: int, hook: Any) -> Any:
        module = self.module
        if number in module._forward_hooks_with_kwargs or number in _global_forward_hooks_with_kwargs:
            return hook(module, self.args, self.kwargs, self.result)
        return hook(module, self.args, self.result)

    def run(self) -> Any:
        module = self.module
        for number, hook in (*_global_forward_pre_hooks.items(), *module._forward_pre_hooks.items()):
            if number in module._forward_pre_hooks_with_kwargs:
                changed = hook(module, self.args, self.kwargs)
                if changed is not None:
                    if not (isinstance(changed, tuple) and len(changed) == 2):
                        raise RuntimeError(
                            f"{type(module).__name__}: a forward pre-hook with kwargs must return None or a tuple "
                            f"(args, kwargs), got {changed!r:.200}"
                        )
                    self.args, self.kwargs = changed
            else:
                changed = hook(module, self.args)
                if changed is not None:
                    self.args = changed if isinstance(changed, tuple) else (changed,)
        before = [*_global_backward_pre_hooks.values(), *module._backward_pre_hooks.values()]
        after = [*_global_backward_hooks.values(), *module._backward_hooks.values()]
        full = list(_global_backward_hooks.values()) if module._is_full_backward_hook is False else after
        watch = None
        if before or after:
            import lamella.nn.modules._backward_hooks as _backward_hooks  # it needs autograd

            watch = _backward_hooks.Watch(module, before, full) if before or full else None
        if watch:
            self.args = watch.inputs(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        for number, hook in (*_global_forward_hooks.items(), *module._forward_hooks.items()):
            self.called.add(number)
            changed = self.forward_hook(number, hook)
            if changed is not None:
                self.result = changed
        if watch:
            self.result = watch.outputs(self.result)
        if module._is_full_backward_hook is False and module._backward_hooks:
            _backward_hooks.watch_last(module, list(module._backward_hooks.values()), self.result)
        return self.result


def call_hooked(module: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls ``forward`` and the hooks. For a module without hooks the base class calls ``forward`` directly
    instead."""
    call = _Call(module, args, kwargs)
    if not (module._forward_hooks_always_called or _global_forward_hooks_always_called):
        return call.run()
    try:
        return call.run()
    except Exception:
        always = {**_global_forward_hooks_always_called, **module._forward_hooks_always_called}
        for number, hook in (*_global_forward_hooks.items(), *module._forward_hooks.items()):
            if number in always and number not in call.called:
                try:
                    changed = call.forward_hook(number, hook)
                    call.result = call.result if changed is None else changed
                except Exception as error:
                    warnings.warn(
                        f"{type(module).__name__}: a forward hook with always_call=True raised {error!r} after "
                        "another error, which alone is raised",
                        stacklevel=2,
                    )
        raise


# ---- hooks of all modules --------------------------------------------------------------------------------------------


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, args)`` before the ``forward`` of every module; see Module.register_forward_pre_hook.

    >>> from lamella.nn.modules.module import register_module_forward_pre_hook
    >>> with register_module_forward_pre_hook(lambda module, args: print(type(module).__name__)):
    ...     y = lamella.nn.Identity()(lamella.ones(1))
    Identity
    """
    return _keep(_global_forward_pre_hooks, hook, False)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Calls ``hook(module, args, output)`` after the ``forward`` of every module; see Module.register_forward_hook.

    >>> from lamella.nn.modules.module import register_module_forward_hook
    >>> with register_module_forward_hook(lambda module, args, output: output + 1):
    ...     lamella.nn.Identity()(lamella.zeros(1))
    tensor([1.])
    """
    marks = [_global_forward_hooks_with_kwargs] if with_kwargs else []
    if always_call:
        marks.append(_global_forward_hooks_always_called)
    return _keep(_global_forward_hooks, hook, False, *marks)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, grad_input, grad_output)`` in the backward of every module.

    >>> from lamella.nn.modules.module import register_module_full_backward_hook
    >>> register_module_full_backward_hook(lambda module, grad_input, grad_output: None).remove()
    """
    return _keep(_global_backward_hooks, hook, False)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, grad_output)`` before the backward of every module.

    >>> from lamella.nn.modules.module import register_module_full_backward_pre_hook
    >>> register_module_full_backward_pre_hook(lambda module, grad_output: None).remove()
    """
    return _keep(_global_backward_pre_hooks, hook, False)
