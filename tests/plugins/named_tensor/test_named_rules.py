"""The rules of names, against a checker that finds which dimension of a result is which of an argument.

Dimension d of a result is dimension e of an argument if a change of the elements with index i along e changes elements
with index i along d alone, for every i. The checker perturbs each tensor of each sample of each operator in this way. A
result must then have the name of e at d, and at no dimension of which this is not true; but for rules of MOVES.
"""

import sys
from pathlib import Path

import lamella
import numpy as np
import pytest
from lamella.operators import samples

sys.path.insert(0, str(Path(__file__).parents[2] / "operators"))
from catalogue import SAMPLED, array, flat, run  # noqa: E402
from shares import share  # noqa: E402

MOST = 200  # elements of a tensor that is perturbed
# Rules that keep a name in meaning alone: the elements along the dimension move, or depend on each other.
MOVES = set(
    "keep | self | same | same(dim) | first_two | right(size) | right(repeats) | right(dims) | along(dim) | window | "
    "index(indices) | rotate(k, dims) | new_last | write(source) | put(indices, values) | hole(src, dim) | "
    "remove(dim)".split(" | ")
)
# Operators that drop names although a dimension goes on, with the reason.
DROPS = {
    "derivatives call them, and the layer is off there": "_attention_backward _attention_mask_backward _gru_layer "
    "_class_loss_backward _pair_loss_backward _gru_layer_backward _lstm_layer _lstm_layer_backward _rnn_layer "
    "_rnn_layer_backward _lstm_cell_backward _fused_rms_norm _fused_rms_norm_backward native_layer_norm_backward "
    "_attention_dropout _resample_backward",
    "their dimensions are those of another shape": "diagonal affine_grid_generator as_strided as_strided_ block_diag "
    "kron cartesian_prod combinations ctc_loss.IntList ctc_loss.Tensor _nll_pick _unique2 unique_dim "
    "_unique_consecutive _row_order _pack_nibbles _unpack_nibbles diagonal_copy linalg_diagonal as_strided_copy "
    "linalg_tensorinv linalg_tensorsolve stft.center istft histogram.bins_tensor histogramdd.TensorList_bins",
    "the shapes of their results follow from options, or sizes tell a vector from a matrix": "_linalg_eigh "
    "_linalg_eig _linalg_svd linalg_qr linalg_lu lu_unpack linalg_solve linalg_solve_ex linalg_lstsq _linalg_lstsq "
    "linalg_multi_dot chain_matmul",
    "what they write has its names": "set_.source_Tensor_storage_offset resize_ resize_as_",
}
DROPPED = {name for names in DROPS.values() for name in names.split()}


def places(args):
    """Returns the places of tensors: (i,) for an argument, (i, k) for an element of a list."""
    found = []
    for i, value in enumerate(args):
        if isinstance(value, lamella.Tensor):
            found.append((i,))
        elif isinstance(value, list | tuple):
            found += [(i, k) for k, t in enumerate(value) if isinstance(t, lamella.Tensor)]
    return found


def at(args, place):
    return args[place[0]] if len(place) == 1 else args[place[0]][place[1]]


def replaced(args, place, tensor):
    args = list(args)
    if len(place) == 1:
        args[place[0]] = tensor
    else:
        args[place[0]] = [tensor if k == place[1] else t for k, t in enumerate(args[place[0]])]
    return args


def perturbed(tensor, dim, index, generator):
    """Returns a copy with other elements at an index of a dimension."""
    made = tensor.clone()
    part = made.select(dim, index)
    old = array(part)[1]
    if tensor.dtype == lamella.bool:
        part.logical_not_()
    elif tensor.is_floating_point() or tensor.is_complex():
        part.copy_(lamella.tensor((old * generator.uniform(0.6, 0.9, old.shape)).tolist(), dtype=part.dtype))
    else:  # another of the tensor's own values, so that indices stay in range
        values = np.unique(array(tensor)[1])
        part.copy_(lamella.tensor(generator.choice(values, old.shape).tolist(), dtype=part.dtype))
    return made


def results(sample, args, kwargs):
    return [array(r)[1] for r in flat(run(sample, built=(args, kwargs))) if isinstance(r, lamella.Tensor)]


def changed(before, after):
    return (before != after) & ~((before != before) & (after != after))


def located(sample, build, place, dim):
    """Returns for each result a dictionary: whether its dimension d is dimension `dim` of a tensor, by d.

    False: a change of an index changes other indices of d, too. None: some change had no effect.
    """
    args, kwargs = build()
    tensor = at(args, place)
    n = tensor.shape[dim]
    base = results(sample, *build())
    found = [{d: None if r.shape[d] == 1 else r.shape[d] == n for d in range(r.ndim)} for r in base]
    generator = np.random.default_rng(0)
    for index in range(n):
        args, kwargs = build()
        after = results(sample, replaced(args, place, perturbed(tensor, dim, index, generator)), kwargs)
        for k, (b, a) in enumerate(zip(base, after, strict=True)):
            if b.shape != a.shape:
                found[k] = dict.fromkeys(found[k])
                continue
            where = changed(b, a)
            for d, still in found[k].items():
                if still is not False and b.shape[d] == n:
                    elsewhere = np.delete(where, index, axis=d).any()
                    found[k][d] = False if elsewhere else still if where.any() else None
    return found


def names_of(sample, build, place):
    """Returns the names of each result when a tensor alone has the names d0, d1, …"""
    args, kwargs = build()
    tensor = at(args, place)
    tensor.names = [f"d{e}" for e in range(tensor.ndim)]
    made = run(sample, built=(replaced(args, place, tensor), kwargs))
    return [r.names for r in flat(made) if isinstance(r, lamella.Tensor)]


def faults(operator):
    """Returns what is wrong with the names of an operator's results."""
    wrong = []
    rule = lamella.named.find_rule(operator)
    for sample in samples.of(operator):
        if operator.startswith(("empty", "new_empty")):
            continue  # values that are not determined

        def build(sample=sample):
            return sample.build("cpu")

        args, _ = build()
        everywhere = places(args)
        for place in everywhere:
            tensor = at(args, place)
            if not tensor.ndim or not 0 < tensor.numel() <= MOST:
                continue
            got = names_of(sample, build, place)
            goes = {}  # for each dimension, what located() finds
            for dim in range(tensor.ndim):
                try:
                    goes[dim] = located(sample, build, place, dim) if tensor.shape[dim] > 1 else None
                except Exception:  # other values are not allowed
                    goes[dim] = None
            ignored = "~" in rule or (rule in MOVES and place != everywhere[0]) or operator in DROPPED
            for dim, found in goes.items():
                for k, (names, dims) in enumerate(zip(got, found, strict=True) if found else ()):
                    has = {d for d, name in enumerate(names) if name == f"d{dim}"}
                    goes_on = {d for d, is_it in dims.items() if is_it}
                    # Two dimensions that became one, as of a diagonal, have the name of either.
                    others = [int(names[d][1:]) for d in goes_on - has if names[d]]
                    diagonal = any(goes[e] and any(goes[e][k].get(d) for d in goes_on) for e in others)
                    told = f"{sample}: dimension {dim} of argument {place} is {dims} of the result: {names}"
                    if len(goes_on) == 1 and has != goes_on and not ignored and not diagonal:
                        wrong.append(told)
                    elif any(dims[d] is False for d in has) and rule not in MOVES and "~" not in rule:
                        wrong.append(told)
    return wrong


@pytest.mark.parametrize("operator", share([o for o in SAMPLED if not o.startswith(("_fused_", "_foreach_"))]))
def test_names_follow(operator):
    assert not faults(operator)


# Wrong rules, each of another kind: names that stay where dimensions move, that are lost, that move where dimensions
# stay, that go to another dimension, and a dimension that should have none.
WRONG = {
    "transpose.int": "self",
    "permute": "reverse",
    "sum.dim_IntList": "none",
    "cumsum": "reverse",
    "add.Tensor": "none",
    "bmm": "b i k, b k j -> b j i",
    "mv": "i k, k -> k",
}


@pytest.mark.parametrize("operator", WRONG)
def test_a_planted_wrong_rule_is_reported(operator):
    planted = lamella.named.register_rule(f"aten::{operator}", WRONG[operator])
    try:
        assert faults(operator)
    finally:
        planted.remove()
    assert not faults(operator)
