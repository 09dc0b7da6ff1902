"""Selective checkpoints: a policy says for each operator whether its result is saved or computed again.

The operators are those below autograd, with which ``TorchDispatchMode`` is called: for example ``linear``, where torch
has ``addmm``. ``lamella.utils.checkpoint`` has the public names.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

from lamella import Tensor
from lamella.utils._python_dispatch import TorchDispatchMode
from lamella.utils._pytree import tree_map


class CheckpointPolicy(enum.Enum):
    """The results of a policy. MUST and PREFER have the same meaning.

    >>> lamella.utils.checkpoint.CheckpointPolicy.MUST_SAVE
    <CheckpointPolicy.MUST_SAVE: 0>
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


SAVED = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
OFFLOADED = (CheckpointPolicy.MUST_CPU_OFFLOAD, CheckpointPolicy.PREFER_CPU_OFFLOAD)
SAC_IGNORED_OPS = {"aten::detach", "aten::alias"}  # computed again in any case, since they cost nothing


class SelectiveCheckpointContext:
    """The first argument of a policy.

    Attributes:
        is_recompute: whether the function runs for the second time
        op_output: the operator's result in the first run; None in the second

    >>> lamella.utils.checkpoint.SelectiveCheckpointContext(is_recompute=True).op_output is None
    True
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None):
        self.is_recompute, self.op_output = is_recompute, op_output


def _name(func: Any) -> str:
    """Returns an overload's full name, as "aten::mm" for the default one and "aten::mul.Tensor" for others."""
    return str(func.schemas[0]).partition("(")[0]


class _Kept:
    """The result of an operator in the first run: its tensors, cut off from their history."""

    def __init__(self, output: Any, offload: bool, may_change: bool):
        self.may_change = may_change
        self.places: list[Any] = []

        def keep(x: Any) -> Any:
            if not isinstance(x, Tensor):
                return x
            x = x.detach()
            self.places.append((x.device, x, x._version))
            return x.cpu() if offload else x

        self.output = tree_map(keep, output)
        self.offload = offload
        if offload:
            self.places = [(device, None, 0) for device, _, _ in self.places]

    def get(self, name: str) -> Any:
        """Returns the result. Raises a RuntimeError if the program has written it since."""
        places = iter(self.places)

        def restore(x: Any) -> Any:
            if not isinstance(x, Tensor):
                return x
            device, held, version = next(places)
            if held is not None and held._version != version and not self.may_change:
                raise RuntimeError(
                    f"checkpoint: the saved result of {name} has been written in place since; save another result, or "
                    "pass allow_cache_entry_mutation=True"
                )
            return x.to(device) if self.offload else x.detach()

        return tree_map(restore, self.output)


class _Mode(TorchDispatchMode):
    """Reads the policy for each operator."""

    def __init__(self, policy: Callable[..., Any], storage: dict[str, list[_Kept]], may_change: bool):
        self.policy, self.storage, self.may_change = policy, storage, may_change

    def answer(self, context: SelectiveCheckpointContext, func: Any, args: Any, kwargs: Any) -> CheckpointPolicy:
        found = self.policy(context, func, *args, **kwargs)
        if isinstance(found, bool):
            return CheckpointPolicy.MUST_SAVE if found else CheckpointPolicy.PREFER_RECOMPUTE
        if not isinstance(found, CheckpointPolicy):
            raise TypeError(f"checkpoint: a policy must return a CheckpointPolicy, got {type(found).__name__}")
        return found


class _First(_Mode):
    """Saves results in the first run."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        output = func(*args, **(kwargs or {}))
        name = _name(func)
        if name not in SAC_IGNORED_OPS:
            context = SelectiveCheckpointContext(is_recompute=False, op_output=output)
            policy = self.answer(context, func, args, kwargs or {})
            if policy in SAVED + OFFLOADED:
                kept = _Kept(output, policy in OFFLOADED, self.may_change)
                self.storage.setdefault(name, []).append(kept)
        return output


class _Second(_Mode):
    """Returns saved results in the second run, in the order in which the first run saved them."""

    def __enter__(self) -> Any:
        self.waiting = {name: list(kept) for name, kept in self.storage.items()}
        return super().__enter__()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = _name(func)
        if name not in SAC_IGNORED_OPS:
            policy = self.answer(SelectiveCheckpointContext(is_recompute=True), func, args, kwargs or {})
            if policy in SAVED + OFFLOADED:
                kept = self.waiting.get(name)
                if not kept:
                    raise RuntimeError(
                        f"checkpoint: the second run calls {name} more often than the first, whose results were saved; "
                        "the function and the policy must do the same both times"
                    )
                return kept.pop(0).get(name)
        return func(*args, **(kwargs or {}))


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable[..., Any] | Sequence[Any], allow_cache_entry_mutation: bool = False
) -> tuple[TorchDispatchMode, TorchDispatchMode]:
    """Returns two contexts for ``context_fn`` of ``checkpoint``, which save the results of some operators.

    Args:
        policy_fn_or_list: a function of a `SelectiveCheckpointContext`, the operator and its arguments, which returns a
            `CheckpointPolicy`, or True to save; or a list of the operators whose results are saved. An operator without
            an overload stands for all its overloads
        allow_cache_entry_mutation: permits that the program writes saved results in place

    Raises:
        TypeError: the policy is neither a function nor a list of operators

    >>> from functools import partial
    >>> from lamella.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
    >>> save = partial(create_selective_checkpoint_contexts, [lamella.ops.aten.mm])
    >>> w = lamella.ones(2, 2, requires_grad=True)
    >>> checkpoint(lambda w: (w @ w).sin().sum(), w, context_fn=save).backward()
    >>> w.grad
    tensor([[-1.6646, -1.6646],
            [-1.6646, -1.6646]])
    """
    if isinstance(policy_fn_or_list, list | tuple | set | frozenset):
        names: set[str] = set()
        for op in policy_fn_or_list:
            if not hasattr(op, "schemas"):
                raise TypeError(
                    "create_selective_checkpoint_contexts: argument 'policy_fn_or_list': expected operators such as "
                    f"lamella.ops.aten.mm, got {type(op).__name__}"
                )
            names |= {str(schema).partition("(")[0] for schema in op.schemas}

        def policy(context: Any, func: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            return CheckpointPolicy.MUST_SAVE if _name(func) in names else CheckpointPolicy.PREFER_RECOMPUTE

    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError(
            "create_selective_checkpoint_contexts: argument 'policy_fn_or_list' must be a function or a list of "
            f"operators, got {type(policy_fn_or_list).__name__}"
        )
    storage: dict[str, list[_Kept]] = {}
    return _First(policy, storage, allow_cache_entry_mutation), _Second(policy, storage, allow_cache_entry_mutation)
