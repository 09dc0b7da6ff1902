// The rules of the catalogue's operators whose text `dims` is missing, since no such text is true of each of their calls.
// Note [Rules of names] in rule.h says what a rule is, and verbs.cpp what each verb does.
#include <unordered_map>

#include "rule.h"

namespace lamella::named {
namespace {

struct Row {
  const char* operators;  // names, or names with overloads, between spaces. A name stands for its in-place form, too
  const char* rule;
};
const Row rows[] = {
    // views
    {"alias", "self"},
    {"t", "reverse"},
    {"transpose transpose_copy.int", "swap(dim0, dim1)"},
    {"swapaxes", "swap(axis0, axis1)"},
    {"permute permute_copy", "permute(dims)"},
    {"movedim", "move(source, destination)"},
    {"unsqueeze unsqueeze_copy", "insert(dim)"},
    {"squeeze squeeze_copy", "squeeze"},
    {"squeeze.dim squeeze.dims squeeze_copy.dim squeeze_copy.dims", "squeeze(dim)"},
    {"view view_copy", "sizes(size)"},
    {"reshape", "sizes(shape)"},
    {"view_as", "sizes(other)"},
    {"view.dtype view_copy.dtype", "self"},
    {"flatten.using_ints", "merge(start_dim, end_dim)"},
    {"unflatten.int", "split(dim, sizes)"},
    {"expand expand_copy broadcast_to", "right(size)"},
    {"unfold unfold_copy", "window"},
    {"diagonal diagonal_copy linalg_diagonal", "diagonal(dim1, dim2)"},
    {"tensor_split.tensor_indices_or_sections", "self"},
    {"as_strided as_strided_copy", "none"},  // its dimensions need not be those of the tensor
    {"atleast_1d.Sequence", "each a ... -> a ... | -> a"},
    {"atleast_2d.Sequence", "each a b ... -> a b ... | b -> a b | -> a b"},
    {"atleast_3d.Sequence", "each a b c ... -> a b c ... | a b -> a b c | b -> a b c | -> a b c"},
    {"meshgrid", "grid"},
    {"meshgrid.indexing", "grid(indexing)"},
    {"resize resize_as set_data set", "unchanged"},  // the slot has carried the names, or dropped them

    // copies
    {"stack", "insert(dim)"},
    {"hstack", "keep"},
    {"vstack row_stack", "a~ b ... -> a~ b ... | b -> a b | -> a b"},
    {"dstack", "a b c~ ... -> a b c~ ... | a b -> a b c | b -> a b c | -> a b c"},
    {"column_stack", "a b~ ... -> a b~ ... | a -> a b | -> a b"},
    {"repeat", "right(repeats)"},
    {"tile", "right(dims)"},
    {"repeat_interleave.self_int repeat_interleave.self_Tensor", "along(dim)"},
    {"diag_embed", "embed(dim1, dim2)"},
    {"rot90", "rotate(k, dims)"},
    {"to.other", "self"},
    {"block_diag cartesian_prod combinations kron", "none"},

    // indices
    {"index", "index(indices)"},
    {"gather scatter scatter_add scatter_reduce _scatter_fold", "same"},
    {"take", "like(index)"},
    {"take_along_dim", "same(dim)"},
    {"isin.Tensor_Tensor", "like(elements)"},
    {"index_add index_copy index_reduce", "write(source)"},
    {"index_put", "put(indices, values)"},
    {"select_scatter", "hole(src, dim)"},
    {"index_select index_fill put diagonal_scatter as_strided_scatter embedding_renorm _permute_randomly", "self"},
    {"equal", "broadcast"},
    {"masked_scatter", "first_two"},
    {"_search_cdf", "like(u)"},
    {"_unique2 unique_dim _unique_consecutive _row_order", "none"},

    // losses and reductions
    {"mse_loss l1_loss smooth_l1_loss kl_div binary_cross_entropy binary_cross_entropy_with_logits",
     "loss(reduction, reduce)"},
    {"huber_loss margin_ranking_loss hinge_embedding_loss soft_margin_loss poisson_nll_loss _pair_loss",
     "loss(reduction)"},
    {"nll_loss cross_entropy", "class_loss(reduction, reduce)"},
    {"_class_loss multi_margin_loss multilabel_margin_loss cosine_embedding_loss triplet_margin_loss",
     "class_loss(reduction)"},
    {"ctc_loss _nll_pick", "none"},
    {"pairwise_distance", "reduce_last"},
    {"quantile nanquantile", "quantile"},
    {"quantile.scalar nanquantile.scalar", "reduce"},
    {"trapezoid.x", "remove(dim)"},
    {"cumulative_trapezoid.x", "same"},
    {"cov corrcoef", "none"},
    {"segment_reduce gradient", "self"},
    {"histogram histogramdd", "none"},

    // linear algebra and signals: results whose shapes follow from options, and vectors that sizes tell from matrices
    {"linalg_norm", "reduce"},
    {"_linalg_eigh _linalg_eig _linalg_svd linalg_qr linalg_lu lu_unpack", "none"},
    {"linalg_solve linalg_solve_ex linalg_lstsq _linalg_lstsq", "none"},
    {"linalg_multi_dot chain_matmul linalg_tensorinv linalg_tensorsolve", "none"},
    {"stft istft", "none"},

    // products
    {"inner", "inner"},
    {"einsum", "einsum(equation)"},
    {"tensordot", "tensordot(dims_self, dims_other)"},
    {"tensordot.int", "tensordot(dims)"},
    {"_int_linear _weight_linear", "new_last"},
    {"_int_conv", "n c~ ...~, o~ i~ ...~ -> n o~ ...~"},
    {"_pack_nibbles _unpack_nibbles", "none"},
    {"_quantize _dequantize _requantize", "self"},
    {"_quantize_rows", "r k~ -> r k~, r, r | ... k~ -> ... k~, s, s"},
    {"fake_quantize_per_tensor_affine fake_quantize_per_channel_affine", "self"},
    {"_fake_quantize_learnable_per_tensor_affine _fake_quantize_learnable_per_channel_affine", "self"},

    // networks
    {"lstm.input", "t~ b i, l n h~, ...~ -> t~ b o, l n h~, l n h~ | t~ i, l h~, ...~ -> t~ o, l h~, l h~"},
    {"gru.input rnn_tanh.input rnn_relu.input",
     "t~ b i, l n h~, ...~ -> t~ b o, l n h~ | t~ i, l h~, ...~ -> t~ o, l h~"},
    {"lstm.data", "s~ i, b, l n h~, ...~ -> s~ o, l n h~, l n h~"},
    {"gru.data rnn_tanh.data rnn_relu.data", "s~ i, b, l n h~, ...~ -> s~ o, l n h~"},
    {"rnn_tanh_cell rnn_relu_cell", "n i, n h~, u~ i, u~ h~, u~, u~ -> n h~ | i, h~, u~ i, u~ h~, u~, u~ -> h~"},
    {"embedding_bag", "v~ d, i~, n~, w~ -> n~ d, i, n~, m"},
    {"affine_grid_generator", "none"},
    {"_resample", "self"},

    // what modules and derivatives call in their own kernels; as an operator of a program it drops the names
    {"_attention_dropout _attention_backward _attention_mask_backward _lstm_layer _lstm_layer_backward _gru_layer "
     "_gru_layer_backward _rnn_layer _rnn_layer_backward _lstm_cell_backward _pair_loss_backward _class_loss_backward "
     "native_layer_norm_backward _fused_rms_norm_backward _resample_backward",
     "none"},
    {"_foreach_addcmul.Tensor _foreach_addcdiv.Tensor _foreach_clone _foreach_pow.ScalarAndTensor", "each self"},
    {"_foreach_max _foreach_norm _foreach_powsum", "each none"},
    {"_foreach_mm", "each i k, k j -> i j"},
};

const std::unordered_map<std::string, const char*>& table() {
  static const auto* all = [] {
    auto* made = new std::unordered_map<std::string, const char*>;
    for (const Row& row : rows)
      for (const std::string& name : detail::split_dims(row.operators, " ")) (*made)[name] = row.rule;
    return made;
  }();
  return *all;
}

bool begins(const std::string& name, const char* with) { return name.rfind(with, 0) == 0; }

}  // namespace

const char* catalogue_text(const std::string& full_name, const std::string& overload) {
  if (!begins(full_name, "aten::")) return nullptr;
  std::string name = full_name.substr(6);
  if (begins(name, "_fused_")) return "unchanged";  // an optimizer's step writes its tensors as they are
  for (int form = 0; form < 2; form++) {
    for (const std::string& key : {name + "." + overload, name})
      if (const auto at = table().find(key); at != table().end()) return at->second;
    if (name.empty() || name.back() != '_') break;
    name.pop_back();
  }
  return begins(name, "_foreach_") ? "each broadcast" : nullptr;
}

}  // namespace lamella::named
