"""Saves a module's state as a dictionary of tensors by name, and loads it."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

from lamella import _C
from lamella._C import Tensor
from lamella.nn.modules._hooks import Hooked, RemovableHandle, _keep
from lamella.nn.parameter import Parameter, is_lazy

EXTRA = "_extra_state"
_LARGE = 1 << 18  # elements


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """The keys that a load did not find, and those that the module does not have."""

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


def _by_child(state: Any, prefix: str) -> dict[str, Any]:
    """Returns, for each submodule, the entries of ``state`` whose names begin with ``prefix`` and the submodule's
    name."""
    parts: dict[str, Any] = {}
    for key, value in state.items():
        if key.startswith(prefix):
            child, dot, _ = key[len(prefix) :].partition(".")
            if dot:
                parts.setdefault(child, OrderedDict())[key] = value
    return parts


def _persistent_buffers(module: Any) -> Any:
    transient = vars(module).get("_non_persistent_buffers_set", ())
    return ((name, b) for name, b in module._buffers.items() if name not in transient)


def _load_one(module: Any, name: str, tensor: Any, value: Any, assign: bool, key: str) -> str | None:
    """Copies or assigns one tensor. Returns an error message if that fails."""
    if not isinstance(value, Tensor):
        return f'"{key}" must be a Tensor, got {type(value).__name__}'
    shapeless, lazy = is_lazy(value), is_lazy(tensor)
    if shapeless and not lazy:
        return f'"{key}" has no shape in the state_dict, since its lazy module was not called; the module\'s has one'
    if not lazy and tensor.shape != value.shape:
        if tensor.ndim == 0 and value.shape == (1,):
            value = value[0]  # old files store numbers with one dimension
        else:
            return (
                f"size mismatch for {key}: the state_dict has shape {tuple(value.shape)}, the module "
                f"{tuple(tensor.shape)}"
            )
    if lazy and not shapeless and not assign:
        tensor.materialize(value.shape)
    try:
        if assign:
            if isinstance(tensor, Parameter):
                wanted = getattr(tensor, "requires_grad", False)
                if not isinstance(value, Parameter):
                    value = Parameter(value, wanted)
                elif getattr(value, "requires_grad", False) != wanted:
                    value.requires_grad_(wanted)  # type: ignore[attr-defined]
            setattr(module, name, value)
        elif not shapeless:
            # Between tensors of the CPU `later` allows a copy that has not ended when copy_ returns. Copies to or from
            # other devices are complete then.
            later = tensor.numel() >= _LARGE and tensor.is_cpu and value.is_cpu
            tensor.detach().copy_(value, later)
            # The states of plugins, such as names, that only `value` has; those of an opaque tensor are its values.
            for slot, saved in () if value.is_opaque else _C._save_slots(value):
                if slot not in dict(_C._save_slots(tensor)):
                    _C._load_slot(tensor, slot, saved)
    except Exception as error:
        return f'"{key}" of shape {tuple(value.shape)} could not be taken: {type(error).__name__}: {error}'
    return None


class Stateful(Hooked):
    """The part of Module that saves and loads its state."""

    _version: int = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: Any
    _state_dict_pre_hooks: Any
    _load_state_dict_pre_hooks: Any
    _load_state_dict_post_hooks: Any

    def get_extra_state(self) -> Any:
        """For subclasses to override: state other than tensors, which ``state_dict()`` stores under ``_extra_state``.

        >>> class Counting(lamella.nn.Identity):
        ...     calls = 3
        ...     def get_extra_state(self):
        ...         return {"calls": self.calls}
        >>> Counting().state_dict()
        OrderedDict([('_extra_state', {'calls': 3})])
        """
        raise RuntimeError(f"{type(self).__name__}: override get_extra_state to keep an extra state")

    def set_extra_state(self, state: Any) -> None:
        """For subclasses that override ``get_extra_state``: ``load_state_dict()`` calls it with the value that
        ``get_extra_state`` returned.

        >>> class Counting(lamella.nn.Identity):
        ...     def get_extra_state(self):
        ...         return {"calls": self.calls}
        ...     def set_extra_state(self, state):
        ...         self.calls = state["calls"]
        >>> m = Counting()
        >>> m.load_state_dict({"_extra_state": {"calls": 3}})
        <All keys matched successfully>
        >>> m.calls
        3
        """
        raise RuntimeError(f"{type(self).__name__}: override set_extra_state to take an extra state")

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, tensor in (*self._parameters.items(), *_persistent_buffers(self)):
            if tensor is not None:
                destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not Stateful.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Returns the parameters and persistent buffers of the module and its submodules, by their dotted names.

        Args:
            destination: a dict to write into, by default a new OrderedDict
            prefix: a prefix of all names
            keep_vars: return the tensors themselves, with their history, and not their ``detach()``

        The tensors share memory with the module's. ``_metadata`` of the result holds each module's version.

        >>> list(lamella.nn.Linear(2, 3).state_dict())
        ['weight', 'bias']
        """
        if args:  # older programs pass these by position
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and not prefix else prefix
            keep_vars = args[2] if len(args) > 2 and not keep_vars else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        every = getattr(destination, "_metadata", None)
        if self._write_state(destination, every, prefix, keep_vars):
            return destination
        metadata = {"version": self._version}
        if every is not None:
            every[prefix[:-1]] = metadata
        held = vars(self)
        for hook in held.get("_state_dict_pre_hooks", {}).values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook, public in held.get("_state_dict_hooks", {}).values():
            answer = hook(self, destination, prefix, metadata)
            if public and answer is not None:
                raise RuntimeError(
                    f"{type(self).__name__}: a hook that is called after state_dict() must return None; it may "
                    "change the dict"
                )
            destination = destination if answer is None else answer
        return destination

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copies tensors by their dotted names into the parameters and buffers of the module and its submodules.

        Args:
            strict: a missing or an unexpected name is an error
            assign: the tensors replace the module's, which determine only whether they require a gradient

        Returns:
            a pair of lists, ``missing_keys`` and ``unexpected_keys``

        Raises:
            TypeError: ``state_dict`` is not a mapping
            RuntimeError: a shape differs or, with ``strict``, a name; one message lists all differences

        >>> m = lamella.nn.Linear(1, 1)
        >>> m.load_state_dict({"weight": lamella.ones(1, 1), "bias": lamella.zeros(1)})
        <All keys matched successfully>
        """
        if not isinstance(state_dict, Mapping):
            kind = type(state_dict).__name__
            raise TypeError(f"load_state_dict: argument 'state_dict' must be a mapping of tensors, got {kind}")
        metadata = getattr(state_dict, "_metadata", None)
        state: Any = OrderedDict(state_dict)
        if metadata is not None:
            state._metadata = metadata
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []

        def load(module: Any, state: Any, prefix: str) -> None:
            local = {} if metadata is None else metadata.get(prefix[:-1], {})
            if assign:
                local["assign_to_params_buffers"] = assign
            module._load_from_state_dict(state, prefix, local, strict, missing, unexpected, errors)
            parts = _by_child(state, prefix)
            for name, child in module._modules.items():
                if child is not None:
                    load(child, parts.get(name, OrderedDict()), f"{prefix}{name}.")
            held = vars(module).get("_load_state_dict_post_hooks", {})
            for hook in held.values():
                if hook(module, _IncompatibleKeys(missing, unexpected)) is not None:
                    raise RuntimeError(
                        f"{type(module).__name__}: a hook that is called after load_state_dict() must return None; it "
                        "may change the lists of keys"
                    )

        load(self, state, "")
        names = [("Missing", missing), ("Unexpected", unexpected)] if strict else []
        lines = [f"{what} key(s) in state_dict: " + ", ".join(f'"{k}"' for k in keys) for what, keys in names if keys]
        if lines or errors:
            report = "".join(f"\n\t{line}" for line in (*lines, *errors))
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:{report}")
        return _IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Loads this module's own entries of a dict, without submodules. Errors are appended to the lists, also if
        ``strict``, which is for hooks, is False."""
        held = vars(self)
        for hook in held.get("_load_state_dict_pre_hooks", {}).values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = {n: t for n, t in (*self._parameters.items(), *_persistent_buffers(self)) if t is not None}
        found = 0
        for name, tensor in own.items():
            key = prefix + name
            if key in state_dict:
                found += 1
                wrong = _load_one(self, name, tensor, state_dict[key], assign, key)
                if wrong:
                    error_msgs.append(wrong)
            else:
                missing_keys.append(key)
        extra = prefix + EXTRA
        if type(self).set_extra_state is not Stateful.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            else:
                missing_keys.append(extra)
        elif extra in state_dict:
            unexpected_keys.append(extra)
        if found < len(state_dict):
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    first, dot, _ = key[len(prefix) :].partition(".")
                    if first not in (self._modules if dot else own):
                        unexpected_keys.append(key)

    # ---- hooks -------------------------------------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls ``hook(module, prefix, keep_vars)`` before this module writes its part of a state dict.

        >>> m = lamella.nn.Identity()
        >>> with m.register_state_dict_pre_hook(lambda module, prefix, keep_vars: print("saved")):
        ...     state = m.state_dict()
        saved
        """
        return _keep(self._state_dict_pre_hooks, hook, False)

    def register_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls ``hook(module, state_dict, prefix, local_metadata)`` after this module wrote its part of a state dict.

        >>> m = lamella.nn.Identity()
        >>> handle = m.register_state_dict_post_hook(lambda module, state, prefix, metadata: state.update(more=1))
        >>> m.state_dict()["more"]
        1
        """
        return _keep(self._state_dict_hooks, (hook, True), False)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Like ``register_state_dict_post_hook``, but if the hook's result is not None, it replaces the state dict."""
        return _keep(self._state_dict_hooks, (hook, False), False)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls a hook before this module loads its part of a state dict. The hook may rename entries.

        Its arguments are module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys and
        error_msgs.

        >>> m = lamella.nn.Linear(1, 1, bias=False)
        >>> def renamed(module, state, prefix, *_):
        ...     state[prefix + "weight"] = state.pop(prefix + "w")
        >>> handle = m.register_load_state_dict_pre_hook(renamed)
        >>> m.load_state_dict({"w": lamella.ones(1, 1)})
        <All keys matched successfully>
        """
        return self._register_load_state_dict_pre_hook(hook, True)

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., Any], with_module: bool = False) -> Any:
        """Like ``register_load_state_dict_pre_hook``; without ``with_module`` the hook is not passed the module."""
        return _keep(self._load_state_dict_pre_hooks, _WithModule(hook, self) if with_module else hook, False)

    def register_load_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Calls ``hook(module, incompatible_keys)`` after this module and its submodules loaded their parts.

        >>> m = lamella.nn.Linear(1, 1, bias=False)
        >>> handle = m.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
        >>> m.load_state_dict({})
        <All keys matched successfully>
        """
        return _keep(self._load_state_dict_post_hooks, hook, False)


class _WithModule:
    """A hook whose first argument is its module. It holds the module weakly."""

    def __init__(self, hook: Callable[..., Any], module: Any):
        import weakref

        self.hook, self.module = hook, weakref.ref(module)

    def __call__(self, *args: Any) -> Any:
        return self.hook(self.module(), *args)

    def __getstate__(self) -> Any:
        return self.hook, self.module()

    def __setstate__(self, state: Any) -> None:
        self.__init__(*state)  # type: ignore[misc]


Hooked._watch_state((Stateful.state_dict, Stateful._save_to_state_dict, Stateful.get_extra_state))
