// A third-party plugin for the benchmarks. Its namespace `mine` has operators with the schemas of built-in operators,
// defined with public headers only: if a built-in operator used a shortcut that plugins lack, these would be slower.
#define LAMELLA_PLUGIN_NAME "benchmark stranger"
#include <lamella/autograd.h>
#include <lamella/extension.h>

namespace {

using lamella::api;
using lamella::fail;

// ---- pointwise: the declaration of the catalogue, read through the ABI; the cpu backend's category kernel runs it ---

lamella_status pointwise(lamella::Library& m, const char* schema, const char* like, const char* overload,
                         uint32_t forms) {
  const lamella_operator* op = api().find_operator(like, overload);
  if (!op) return fail(LAMELLA_RUNTIME_ERROR, std::string("stranger: there is no operator ") + like);
  lamella_operator_def d{};
  d.size = sizeof d;
  d.schema = schema;
  d.category = "pointwise";
  d.forms = LAMELLA_FORM_FUNCTION | forms;
  d.pointwise = api().operator_pointwise(op);
  d.file = __FILE__;
  d.line = __LINE__;
  return m.define(d).status();
}

// ---- a reduction and a product, with kernels of their own -----------------------------------------------------------

lamella_status infer_sum(lamella_frame* f, const lamella_value* args, lamella_meta* out) {
  out->dtype = args[0].as.tensor->dtype;
  out->ndim = 0;
  f->compute_dtype = out->dtype;
  return LAMELLA_OK;
}

lamella_status sum(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  const lamella_tensor* t = args[0].as.tensor;
  float s = 0;
  for (int64_t i = 0; i < t->numel; i++) s += static_cast<const float*>(t->dl.data)[i];
  *static_cast<float*>(rets[0].as.tensor->dl.data) = s;
  return LAMELLA_OK;
}

lamella_status infer_mm(lamella_frame* f, const lamella_value* args, lamella_meta* out) {
  const lamella_tensor *a = args[0].as.tensor, *b = args[1].as.tensor;
  if (a->dl.ndim != 2 || b->dl.ndim != 2 || a->dl.shape[1] != b->dl.shape[0])
    return fail(LAMELLA_RUNTIME_ERROR, "mine::mm: the shapes do not multiply");
  if (a->dtype != LAMELLA_FLOAT32 || b->dtype != LAMELLA_FLOAT32)
    return fail(LAMELLA_RUNTIME_ERROR, "mine::mm: it takes float32");
  out->dtype = a->dtype;
  out->ndim = 2;
  out->sizes[0] = a->dl.shape[0];
  out->sizes[1] = b->dl.shape[1];
  f->compute_dtype = a->dtype;
  return LAMELLA_OK;
}

lamella_status mm(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  const lamella_tensor *a = args[0].as.tensor, *b = args[1].as.tensor;
  const auto *x = static_cast<const float*>(a->dl.data), *y = static_cast<const float*>(b->dl.data);
  auto* z = static_cast<float*>(rets[0].as.tensor->dl.data);
  const int64_t n = a->dl.shape[0], k = a->dl.shape[1], m = b->dl.shape[1];
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++) {
      float s = 0;
      for (int64_t l = 0; l < k; l++)
        s += x[i * a->dl.strides[0] + l * a->dl.strides[1]] * y[l * b->dl.strides[0] + j * b->dl.strides[1]];
      z[i * m + j] = s;
    }
  return LAMELLA_OK;
}

// ---- views: shape rules without kernels -----------------------------------------------------------------------------

void alias(const lamella_tensor* t, lamella_meta* out) {
  out->kind = LAMELLA_META_ALIAS;
  out->alias_of = 0;
  out->dtype = t->dtype;
  out->ndim = t->dl.ndim;
  out->offset = t->storage_offset;
  for (int i = 0; i < t->dl.ndim; i++) {
    out->sizes[i] = t->dl.shape[i];
    out->strides[i] = t->dl.strides[i];
  }
}

lamella_status infer_view(lamella_frame*, const lamella_value* args, lamella_meta* out) {
  const lamella_tensor* t = args[0].as.tensor;
  alias(t, out);
  out->ndim = static_cast<int32_t>(args[1].length);
  int64_t n = 1;
  for (int i = out->ndim - 1; i >= 0; i--) {
    out->sizes[i] = args[1].as.ints[i];
    out->strides[i] = n;
    n *= out->sizes[i];
  }
  if (n != t->numel || !lamella::is_contiguous(t))
    return fail(LAMELLA_RUNTIME_ERROR, "mine::view: the sizes do not fit");
  return LAMELLA_OK;
}

lamella_status infer_t(lamella_frame*, const lamella_value* args, lamella_meta* out) {
  alias(args[0].as.tensor, out);
  if (out->ndim == 2) {
    std::swap(out->sizes[0], out->sizes[1]);
    std::swap(out->strides[0], out->strides[1]);
  }
  return LAMELLA_OK;
}

lamella_status infer_select(lamella_frame*, const lamella_value* args, lamella_meta* out) {
  alias(args[0].as.tensor, out);
  const int64_t d = args[1].as.i, i = args[2].as.i;
  if (d < 0 || d >= out->ndim || i < 0 || i >= out->sizes[d])
    return fail(LAMELLA_INDEX_ERROR, "mine::select: out of range");
  out->offset += i * out->strides[d];
  out->ndim--;
  for (int64_t k = d; k < out->ndim; k++) {
    out->sizes[k] = out->sizes[k + 1];
    out->strides[k] = out->strides[k + 1];
  }
  return LAMELLA_OK;
}

lamella_status infer_slice(lamella_frame*, const lamella_value* args, lamella_meta* out) {
  alias(args[0].as.tensor, out);
  const int64_t d = args[1].as.i;
  if (d < 0 || d >= out->ndim) return fail(LAMELLA_INDEX_ERROR, "mine::slice: out of range");
  const int64_t begin = args[2].tag == LAMELLA_NONE ? 0 : args[2].as.i,
                end = args[3].tag == LAMELLA_NONE ? out->sizes[d] : args[3].as.i, step = args[4].as.i;
  if (begin < 0 || end < begin || end > out->sizes[d] || step < 1)
    return fail(LAMELLA_INDEX_ERROR, "mine::slice: out of range");
  out->offset += begin * out->strides[d];
  out->sizes[d] = (end - begin + step - 1) / step;
  out->strides[d] *= step;
  return LAMELLA_OK;
}

}  // namespace

const lamella_derivative relu_derivative = {sizeof(lamella_derivative), 0, "self: where(gt(result, 0), grad, 0)"};

LAMELLA_LIBRARY(mine, m) {
  if (pointwise(m, "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", "aten::add", "Tensor",
                LAMELLA_FORM_INPLACE | LAMELLA_FORM_OUT))
    return;
  if (pointwise(m, "add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", "aten::add", "Scalar",
                LAMELLA_FORM_INPLACE | LAMELLA_FORM_OUT))
    return;
  if (pointwise(m, "mul.Tensor(Tensor self, Tensor other) -> Tensor", "aten::mul", "Tensor", LAMELLA_FORM_INPLACE))
    return;
  if (pointwise(m, "mul.Scalar(Tensor self, Scalar other) -> Tensor", "aten::mul", "Scalar", LAMELLA_FORM_INPLACE))
    return;
  if (pointwise(m, "relu(Tensor self) -> Tensor", "aten::relu", "", LAMELLA_FORM_INPLACE)) return;
  m.rule("mine::relu", "autograd", &relu_derivative);
  m.define("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", "reduction", infer_sum).impl("sum", "cpu", sum);
  m.define("mm(Tensor self, Tensor mat2) -> Tensor", "matmul", infer_mm).impl("mm", "cpu", mm);
  const uint32_t view = LAMELLA_FORM_FUNCTION | LAMELLA_FORM_NO_KERNEL;
  m.define("view(Tensor(a) self, SymInt[] size) -> Tensor(a)", "view", infer_view, nullptr, view);
  m.define("t(Tensor(a) self) -> Tensor(a)", "view", infer_t, nullptr, view);
  m.define("select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", "view", infer_select, nullptr, view);
  m.define("slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
           "view", infer_slice, nullptr, view);
}
