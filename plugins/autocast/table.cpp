// The policies of the catalogue's operators: those that torch documents for its CPU, which are the host's here, and for
// CUDA, which all other devices have. An operator that torch composes of others has the policy that these lead to.
#include <lamella/dims.h>

#include <unordered_map>

#include "policy.h"

namespace lamella::autocast {
namespace {

struct Row {
  const char* operators;  // names, or names with overloads, between spaces
  const char* text;       // Note [Policies]
};
const Row rows[] = {
    // products
    {"conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution", "lower"},
    {"mm bmm addmm addbmm baddbmm matmul linear linalg_vecdot linalg_multi_dot chain_matmul einsum", "lower"},
    {"prelu scaled_dot_product_attention lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell",
     "lower"},
    {"mv addmv addr", "host: keep; lower"},
    {"tensordot inner", "host: lower; promote"},
    {"dot vdot cross bilinear", "host: keep; promote"},

    // pointwise functions that grow fast, and norms
    {"acos asin cosh erfinv exp expm1 log log10 log1p log2 reciprocal rsqrt sinh tan pow softplus",
     "host: keep; widest"},
    {"layer_norm native_layer_norm rms_norm group_norm norm linalg_norm linalg_vector_norm linalg_matrix_norm renorm",
     "host: keep; widest"},
    {"softmax log_softmax logsumexp sum cumsum cumprod cosine_similarity dist pdist", "host: keep; widest"},
    {"prod cdist", "widest"},

    // losses
    {"mse_loss l1_loss smooth_l1_loss huber_loss kl_div nll_loss cross_entropy poisson_nll_loss", "widest"},
    {"cosine_embedding_loss hinge_embedding_loss margin_ranking_loss multilabel_margin_loss multi_margin_loss",
     "widest"},
    {"soft_margin_loss triplet_margin_loss binary_cross_entropy_with_logits", "widest"},
    {"binary_cross_entropy", "host: widest; refuse binary_cross_entropy_with_logits"},
    {"ctc_loss", "host: widest; keep"},

    // several tensors
    {"addcdiv addcmul atan2 index_put scatter_add", "host: keep; promote"},
    {"stack cat index_copy", "host: promote; keep"},
    {"grid_sampler", "host: widest; promote"},

    // images
    {"upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d upsample_bilinear2d "
     "upsample_trilinear3d "
     "upsample_bicubic2d _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d "
     "_upsample_bilinear2d_aa _upsample_bicubic2d_aa",
     "host: keep; widest"},
    {"avg_pool3d max_pool3d adaptive_avg_pool3d adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d "
     "max_unpool2d max_unpool3d grid_sampler_2d grid_sampler_3d",
     "host: widest; keep"},

    // linear algebra, statistics and signals
    {"trace polar quantile nanquantile view_as_complex stft fake_quantize_per_tensor_affine", "host: widest; keep"},
    {"cholesky cholesky_inverse cholesky_solve inverse lu_solve ormqr pinverse geqrf qr svd triangular_solve",
     "host: widest; keep"},
    {"linalg_cond linalg_matrix_rank linalg_solve linalg_cholesky linalg_cholesky_ex linalg_svd linalg_svdvals "
     "linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_inv linalg_inv_ex linalg_householder_product "
     "linalg_tensorinv linalg_tensorsolve linalg_qr linalg_lstsq",
     "host: widest; keep"},
    {"fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn fft_ifftn fft_rfft fft_irfft fft_rfft2 fft_irfft2 fft_rfftn "
     "fft_irfftn fft_hfft fft_ihfft",
     "host: widest; keep"},
};

}  // namespace

const char* catalogue_text(const std::string& name, const std::string& overload) {
  static const auto* table = [] {
    auto* made = new std::unordered_map<std::string, const char*>;
    for (const Row& row : rows)
      for (const std::string& one : detail::split_dims(row.operators, " ")) (*made)["aten::" + one] = row.text;
    return made;
  }();
  for (const std::string& key : {name + "." + overload, name})
    if (const auto found = table->find(key); found != table->end()) return found->second;
  return nullptr;
}

}  // namespace lamella::autocast
