"""The policy of each operator that torch's "Autocast Op Reference" lists, and what `lamella ops show` says of it."""

import re
from pathlib import Path

import lamella
import pytest
from lamella import cli
from lamella.utils.cpp_extension import load_inline

pytestmark = pytest.mark.needs("autocast")

# The lists of the page "Automatic Mixed Precision package - torch.amp", of torch 2.13, by torch's names of functions.
# Names of operators that are torch's own inner ones, as _convolution, are left out.
CUDA = {
    "lower": "__matmul__ addbmm addmm addmv addr baddbmm bmm chain_matmul linalg_multi_dot conv1d conv2d conv3d "
    "conv_transpose1d conv_transpose2d conv_transpose3d lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell linear matmul "
    "mm mv prelu",
    "widest": "__pow__ __rpow__ acos asin binary_cross_entropy_with_logits cosh cosine_embedding_loss cdist "
    "cosine_similarity cross_entropy cumprod cumsum dist erfinv exp expm1 group_norm hinge_embedding_loss kl_div "
    "l1_loss layer_norm log log10 log_softmax log1p log2 margin_ranking_loss mse_loss multilabel_margin_loss "
    "multi_margin_loss nll_loss norm pdist poisson_nll_loss pow prod reciprocal rms_norm rsqrt sinh smooth_l1_loss "
    "soft_margin_loss softmax softmin softplus sum renorm tan triplet_margin_loss",
    "promote": "addcdiv addcmul atan2 bilinear cross dot grid_sample index_put scatter_add tensordot",
    "refuse binary_cross_entropy_with_logits": "binary_cross_entropy",
}
CPU = {
    "lower": "conv1d conv2d conv3d bmm mm linalg_vecdot baddbmm addmm addbmm linear matmul conv_tbc conv_transpose1d "
    "conv_transpose2d conv_transpose3d prelu scaled_dot_product_attention",
    "widest": "avg_pool3d binary_cross_entropy grid_sampler grid_sampler_2d grid_sampler_3d polar prod quantile "
    "nanquantile stft cdist trace view_as_complex cholesky cholesky_inverse cholesky_solve inverse lu_solve orgqr "
    "ormqr pinverse max_pool3d max_unpool2d max_unpool3d adaptive_avg_pool3d mse_loss cosine_embedding_loss nll_loss "
    "hinge_embedding_loss poisson_nll_loss smooth_l1_loss cross_entropy l1_loss huber_loss margin_ranking_loss "
    "soft_margin_loss triplet_margin_loss multi_margin_loss ctc_loss kl_div multilabel_margin_loss "
    "binary_cross_entropy_with_logits fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn fft_ifftn fft_rfft fft_irfft "
    "fft_rfft2 fft_irfft2 fft_rfftn fft_irfftn fft_hfft fft_ihfft linalg_cond linalg_matrix_rank linalg_solve "
    "linalg_cholesky linalg_svdvals linalg_eigvals linalg_eigvalsh linalg_inv linalg_householder_product "
    "linalg_tensorinv linalg_tensorsolve fake_quantize_per_tensor_affine geqrf qr svd triangular_solve "
    "fractional_max_pool2d fractional_max_pool3d adaptive_max_pool3d linalg_qr linalg_cholesky_ex linalg_svd "
    "linalg_eig linalg_eigh linalg_lstsq linalg_inv_ex",
    "promote": "stack cat index_copy",
}
# Names of functions, and those of their operators.
OPERATORS = {"__matmul__": "matmul", "__pow__": "pow", "__rpow__": "pow", "grid_sample": "grid_sampler"}
OPERATORS |= {"softmin": "softmax", "orgqr": "linalg_householder_product"}
TABLE = Path(__file__).resolve().parents[3] / "plugins" / "autocast" / "table.cpp"


def overloads(name):
    """Returns the functional overloads of an operator, without those that other plugins bring."""
    text = lamella._C._show(f"aten::{name}")
    names = [line.partition("(") for line in text.split("\n") if line.startswith("aten::")]
    return [n for n, _, rest in names if "(a!)" not in rest and not n.endswith(".named")]


def of_devices(text):
    """Returns the policies of the host and of other devices that a text states."""
    host = [part.removeprefix("host: ") for part in text.split("; ") if part.startswith("host: ")]
    others = text.split("; ")[-1] or "keep"
    return (host or [others])[0], others


@pytest.mark.parametrize("listed, which", [(CPU, 0), (CUDA, 1)], ids=["cpu", "cuda"])
def test_the_policies_are_those_of_the_page(listed, which):
    wrong = {}
    for policy, names in listed.items():
        for name in names.split():
            found = overloads(OPERATORS.get(name, name))
            assert found, name
            for overload in found:
                if of_devices(lamella.amp.find_policy(overload))[which] != policy:
                    wrong[overload] = lamella.amp.find_policy(overload)
    assert not wrong


def test_each_name_of_the_table_is_that_of_an_operator():
    rows = TABLE.read_text().partition("rows[] = {")[2].partition("};")[0]
    texts = [text for text in re.findall(r'"([^"]*)"', rows) if not re.search(r"^(lower|widest)$|: ", text)]
    names = " ".join(texts).split()
    assert len(names) > 150 and [name for name in names if not overloads(name)] == []
    assert len(set(names)) == len(names)


def test_other_operators_have_no_policy():
    for name in ("add.Tensor", "mul.Tensor", "relu", "view", "dropout", "batch_norm", "embedding", "mm.out", "exp_"):
        assert lamella.amp.find_policy(name) == ""


def test_the_command_line_shows_policies():
    text = cli.show_operator("pow", None)
    shown = [line.split() for line in text.split("\n") if " autocast " in line and line.startswith("  rule")]
    assert shown == [["rule", "autocast", "host:", "keep;", "widest"]] * 3
    assert "  rule      names         broadcast" in text


CPP = """
#include <lamella/extension.h>
LAMELLA_LIBRARY(autocast_cpp, m) {
  m.def("half(Tensor x, Tensor[] others) -> Tensor", [](const lamella::Tensor& x, lamella::TensorList) { return x; });
  m.rule("half", "autocast", "lower");
}
"""


def test_a_policy_in_c(tmp_path):
    half = load_inline("autocast_cpp", CPP, no_implicit_headers=True, build_directory=str(tmp_path)).half
    x = lamella.ones(2)
    with lamella.autocast("cpu"):
        assert half(x, [x, x]).dtype is lamella.bfloat16
    assert half(x, []).dtype is lamella.float32 and lamella.amp.find_policy("autocast_cpp::half") == "lower"
