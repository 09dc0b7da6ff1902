"""Each operator of the catalogue: onnxruntime runs its samples as graphs; or the error that it has no translation."""

import re
import sys
from pathlib import Path

import lamella
import numpy as np
import pytest
from exported import leaves, run
from lamella.onnx.errors import UnsupportedOperatorError
from lamella.operators import samples
from lamella.plugins.onnx.table import ours

sys.path.append(str(Path(__file__).resolve().parents[2] / "operators"))

import catalogue  # noqa: E402

# Samples of translated operators that are not compared: they are made of operators without a translation, as dropout in
# training mode, or have dtypes that ONNX or onnxruntime do not have, or that are refused.
ABSENT = (
    r"aten::(_random_bits|nonzero|as_strided)\b",
    "unsupported type: ?tensor",
    "NOT_IMPLEMENTED",
    "does not support double",
    "Resize.*MutableData",
    "ConvTranspose.*output_padding",
    r"aten::_?upsample_\w+, which",
)
DTYPES = {lamella.float32, lamella.float64, lamella.int64, lamella.int32, lamella.uint8, lamella.bool}
# Results that are no tensors, those whose elements mean nothing, and operators with a part that onnxruntime has not.
LEFT_OUT = set("digamma polygamma item equal is_nonzero allclose empty.memory_format empty_like empty_strided".split())
LEFT_OUT |= set(
    "as_strided_copy as_strided_scatter binomial linalg_lstsq linalg_matrix_power matrix_power poisson".split()
)
# What depends on random numbers, on how many elements a condition holds for, on strides, or on complex numbers; and
# functions for which ONNX has no node.
UNTRANSLATED = set(
    """
    angle argwhere as_strided as_strided_ bernoulli bernoulli.p bernoulli_.Tensor bernoulli_.float cauchy_
    combinations complex conj_physical copysign.Scalar copysign.Tensor embedding_renorm_ erfinv exponential_
    geometric_ imag lgamma log_normal_ masked_scatter masked_select multinomial nonzero nonzero.as_tuple
    nonzero_static normal.Tensor_Tensor normal.Tensor_float normal.float_Tensor normal.float_float normal_ polar
    rand rand_like randint randint.low randint_like randint_like.low_dtype randn randn_like random_ random_.from
    random_.to randperm real resize_ resize_as_ set_.source_Tensor set_.source_Tensor_storage_offset signbit
    tril_indices triu_indices uniform_ unique_dim view.dtype view_as_complex view_as_real where
    """.split()
)
# Linear algebra, Fourier transforms and special functions.
UNTRANSLATED |= set(
    """
    cholesky det fft_fft fft_fft2 fft_fftn fft_hfft fft_hfft2 fft_hfftn fft_ifft fft_ifft2 fft_ifftn fft_ihfft
    fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn frexp.Tensor gcd geqrf
    hash_tensor i0 igamma igammac inverse lcm ldexp.Tensor linalg_cholesky linalg_cholesky_ex linalg_cond
    linalg_cond.p_str linalg_det linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_householder_product
    linalg_inv linalg_inv_ex linalg_ldl_factor linalg_ldl_factor_ex linalg_lu linalg_lu_factor linalg_lu_factor_ex
    linalg_matrix_exp linalg_matrix_rank linalg_matrix_rank.atol_rtol_float
    linalg_matrix_rank.atol_rtol_tensor linalg_matrix_rank.tol_tensor linalg_pinv linalg_pinv.atol_rtol_float
    linalg_pinv.atol_rtol_tensor linalg_qr linalg_slogdet linalg_solve linalg_solve_ex linalg_svd linalg_svdvals
    linalg_tensorinv linalg_tensorsolve logdet matrix_exp mvlgamma nextafter norm.str ormqr qr slogdet
    stft.center svd view_as_complex_copy view_copy.dtype
    """.split()
)
UNTRANSLATED |= {
    f"bitwise_{way}_shift.{kind}" for way in ("left", "right") for kind in ("Tensor", "Tensor_Scalar", "Scalar_Tensor")
}


def usual(sample):
    """Returns whether a sample has elements, in dtypes that onnxruntime computes with, and none that are special."""
    tensors = leaves(list(sample.build()))
    plain = not any(word in sample.text for word in ("nan", "inf", "special", "c64", "c128", "bf16", "f16", "1j"))
    return plain and all(t.numel() and t.dtype in DTYPES for t in tensors)


def function_of(sample):
    """Returns the call of a sample as a function of its tensors, and the tensors."""
    args, kwargs = sample.build()
    call, tensors = samples.call(sample.operator), leaves([args, kwargs])

    def f(*inputs):
        rest = iter(inputs)

        def put(value):
            if isinstance(value, lamella.Tensor):
                return next(rest)
            return type(value)(map(put, value)) if isinstance(value, list | tuple) else value

        given = put(list(args)), {name: put(value) for name, value in kwargs.items()}
        made = call(*given[0], **given[1])
        return given[0][0] if made is None else made

    return f, tensors


def faults(operator):
    """Returns the faults of an operator's samples, and how many were compared."""
    found, compared = [], 0
    for sample in filter(usual, samples.of(operator)):
        f, tensors = function_of(sample)
        wanted = leaves(f(*(t.clone() for t in tensors)))
        if not all(t.numel() for t in wanted):
            continue
        try:
            made = lamella.onnx.export(f, tuple(t.clone() for t in tensors), do_constant_folding=False)
            got = run(made, tensors)
        except Exception as error:
            if any(re.search(words, str(error), re.DOTALL) for words in ABSENT):
                continue
            if isinstance(error, UnsupportedOperatorError):
                raise AssertionError(
                    f"add a row to plugins/onnx/translations, or {operator} to UNTRANSLATED"
                ) from error
            raise
        compared += 1
        for g, w in zip(got, (t.numpy() for t in wanted), strict=True):
            exact = w.dtype.kind != "f"
            if (g.shape, g.dtype) != (w.shape, w.dtype):
                found.append(f"{sample}: {g.dtype} {g.shape} for {w.dtype} {w.shape}")
            elif not (np.array_equal(g, w) if exact else np.allclose(g, w, rtol=1e-4, atol=1e-5, equal_nan=True)):
                found.append(f"{sample}: {g} for {w}")
    return found, compared


def chosen(operator):
    """Returns whether an operator is one that programs call, or has a translation."""
    public = not operator.startswith(("_", "autograd")) or operator.partition(".")[0] in ours()
    return public and "backward" not in operator and operator not in LEFT_OUT


ALL = [o for o in catalogue.SAMPLED if chosen(o) and any(usual(s) for s in samples.of(o))]


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore")  # of lengths and the like, which are read as numbers; and of operators themselves
@pytest.mark.parametrize("operator", [o for o in ALL if o not in UNTRANSLATED])
def test_onnxruntime_computes_the_same(operator):
    found, compared = faults(operator)
    assert not found, "\n".join(found)
    assert compared


@pytest.mark.filterwarnings("ignore:export")
@pytest.mark.parametrize("operator", [o for o in ALL if o in UNTRANSLATED])
def test_an_operator_without_a_translation_is_named(operator):
    sample = next(s for s in samples.of(operator) if usual(s))
    f, tensors = function_of(sample)
    with pytest.raises(UnsupportedOperatorError, match="has no translation to ONNX.*register"):
        lamella.onnx.export(f, tuple(tensors), do_constant_folding=False)


def test_the_list_of_untranslated_operators_names_operators():
    assert UNTRANSLATED <= set(catalogue.BY_TITLE) and len(ALL) - len(UNTRANSLATED) > 400
