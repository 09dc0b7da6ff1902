#include "operators/linalg.h"

#include "dispatcher/named_kinds.h"

namespace lamella::operators {

void check_matrices(const char* name, const Tensor& t) {
  LAMELLA_CHECK(t.dim() >= 2, argument(name), ": expected matrices, of at least 2 dimensions, got shape ",
                shape_text(t));
}

void check_square(const char* name, const Tensor& t) {
  check_matrices(name, t);
  LAMELLA_CHECK(rows_in(t) == columns_in(t), argument(name), ": expected square matrices, got ", rows_in(t), " by ",
                columns_in(t), " in shape ", shape_text(t));
}

void check_factorable(const char* name, const Tensor& t) {
  const ScalarType d = t.dtype();
  LAMELLA_CHECK(d == kFloat || d == kDouble || d == kComplexFloat || d == kComplexDouble, argument(name),
                ": expected float32, float64, complex64 or complex128, got ", d, "; convert it first: .to(float32)");
}

void check_same_dtype(const char* name, const Tensor& t, const char* other_name, const Tensor& other) {
  LAMELLA_CHECK(t.dtype() == other.dtype(), argument(other_name), ": expected the dtype of '", name, "', ", t.dtype(),
                ", got ", other.dtype());
}

DimVector batch_of(const Tensor& t, int64_t matrix) {
  const IntArrayRef sizes = t.sizes();
  return DimVector(IntArrayRef(sizes.data(), sizes.size() - matrix));
}

DimVector with(DimVector batch, IntArrayRef sizes) {
  batch.append(sizes);
  return batch;
}

DimVector common_batch(const char* name, const Tensor& t, const char* other_name, const Tensor& other,
                       int64_t other_matrix) {
  DimVector batch = batch_of(t);
  LAMELLA_CHECK(broadcast(&batch, batch_of(other, other_matrix)), argument(other_name), ": its batch of shape ",
                shape_text(batch_of(other, other_matrix)), " does not broadcast with that of '", name, "', ",
                shape_text(batch_of(t)));
  return batch;
}

void set_columns(Output& out, const DimVector& sizes, ScalarType dtype) {
  const size_t n = sizes.size();
  DimVector strides(n, 1);
  int64_t step = 1;
  for (size_t i = n; i-- > 0;) {
    const size_t d = i == n - 1 ? n - 2 : i == n - 2 ? n - 1 : i;  // the rows first, then the columns, then the batch
    strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  }
  check_bytes(sizes, dtype);
  out.set(sizes, dtype, strides);
}

void set_info(Output& out, const DimVector& batch) {
  out.set(batch, kInt);
  out.exact();
}

namespace {

int32_t linalg_error = LAMELLA_RUNTIME_ERROR;

// Returns the meaning of a number of `info`, as a text that follows "the matrix" or "matrix (2, 0) of the batch".
std::string failure(std::string_view function, int code) {
  const auto has = [&](const char* part) { return function.find(part) != std::string_view::npos; };
  const std::string number = std::to_string(code);
  if (code == -1) return " has infinities or NaN; replace them first, as nan_to_num() does";
  if (has("cholesky"))
    return " is not positive-definite: its leading minor of order " + number +
           " is not positive; check that the matrix is Hermitian, or add a small multiple of the identity";
  if (has("ldl")) return " is singular: block " + number + " of D is 0";
  if (has("lstsq"))
    return " does not have full rank: diagonal element " + number +
           " of its triangular factor is 0; driver=\"gelsd\" takes such matrices";
  if (has("svd") || has("eig") || has("pinv") || has("rank"))
    return " is one for which the iteration did not converge: " + number +
           " elements stayed above 0; scale the matrix, or compute in float64";
  return " is singular: element " + number +
         " of the diagonal of U is 0; linalg.lstsq() and linalg.pinv() take such matrices";
}

Status check_errors(const Tensor& info, std::string_view function, bool) {
  if (info.is_meta() || !info.ne(0).any().item<bool>()) return LAMELLA_OK;
  const Tensor codes = info.reshape({info.numel()});
  const int64_t i = codes.ne(0).to(kInt).argmax().item<int64_t>();
  std::string which = "the matrix";
  if (info.dim()) {
    DimVector index(static_cast<size_t>(info.dim()), 0);
    int64_t rest = i;
    for (int64_t d = info.dim(); d-- > 0; rest /= info.size(d)) index[static_cast<size_t>(d)] = rest % info.size(d);
    which = "matrix " + shape_text(index) + " of the batch";
  }
  return fail(linalg_error, which + failure(function, codes.select(0, i).item<int>()));
}

}  // namespace

void check_info(const Tensor& info, std::string_view function) {
  try {
    lamella::_linalg_check_errors(info, function, info.dim() == 0);
  } catch (const Error& e) {  // the caller's name goes before the message, in place of the private operator's
    constexpr std::string_view title = "_linalg_check_errors: ";
    const std::string message = e.what();
    if (e.kind() != linalg_error || message.rfind(title, 0) != 0) throw;
    throw Error(linalg_error, message.substr(title.size()));
  }
}

void register_linalg_error(lamella_library* library) {
  (void)dispatcher::register_error_kind(library, "LinAlgError", LAMELLA_RUNTIME_ERROR, &linalg_error);
}

Sides::Sides(const Tensor& a_given, const Tensor& b_given, bool left, bool may_be_vector) : a(a_given), b(b_given) {
  check_matrices("A", a);
  check_same_dtype("A", a, "B", b);
  vector =
      may_be_vector && (b.dim() == 1 || (a.dim() - 1 == b.dim() && b.sizes() == part_of(a.sizes(), 0, a.dim() - 1)));
  LAMELLA_CHECK(left || !vector, argument("B"), ": expected matrices, since left=False, got shape ", shape_text(b));
  if (vector) b = b.unsqueeze(-1);
  check_matrices("B", b);
  const DimVector batch = common_batch("A", a, "B", b);
  a = a.expand(with(batch, {rows_in(a), columns_in(a)}));
  b = b.expand(with(batch, {rows_in(b), columns_in(b)}));
}

LAMELLA_FAMILY(linalg, .category = "host", .forms = hidden) {
  return {
      {.schema = "_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()",
       .composite = composite<check_errors>,
       .doc = "Raises a LinAlgError if a number in `info`, which a factorization has given, is not 0."},
  };
}

}  // namespace lamella::operators
