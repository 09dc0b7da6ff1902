// Properties of tensors: sizes, dtypes, devices, and those of autograd.
#include <lamella/operators.h>

#include "builtins/arguments.h"
#include "builtins/tables.h"

namespace lamella::graph {
namespace {

Tensor tensor_of(const lamella_value& v) { return Tensor::borrow(tensor_argument(v)); }
lamella_value made(const Tensor& t) { return t.defined() ? copy_of(value(t)) : none(); }
using graph::made;

lamella_value ints(const int64_t* list, int32_t n) {
  std::vector<lamella_value> items;
  items.reserve(static_cast<size_t>(n));
  for (int32_t i = 0; i < n; i++) items.push_back(made(list[i]));
  return new_list(std::move(items));
}
int64_t at_dim(const lamella_value* a, const int64_t* list) {
  const int64_t n = tensor_argument(a[0])->dl.ndim, dim = int_of(a[1]);
  LAMELLA_CHECK_INDEX(dim >= -n && dim < n, "argument 'dim': expected a dimension of ", n, ", got ", dim);
  return list[dim < 0 ? dim + n : dim];
}

ScalarType dtype_of(const lamella_value& v) { return static_cast<ScalarType>(tensor_argument(v)->dtype); }
bool is_on(const lamella_value& v, std::string_view backend) {
  return api().backend_name(tensor_argument(v)->backend) == backend;
}
lamella_value no(const lamella_value* a) {
  tensor_argument(a[0]);
  return made(false);
}

lamella_value length(const lamella_value* a) {
  const lamella_tensor* t = tensor_argument(a[0]);
  LAMELLA_CHECK_TYPE(t->dl.ndim > 0, "len() of a 0-d tensor");
  return made(t->dl.shape[0]);
}

lamella_value item_size(const lamella_value* a) { return made(tensor_of(a[0]).itemsize()); }

lamella_value is_quantized(const lamella_value* a) {
  const int32_t layer = api().find_layer("quantized");
  return made(layer >= 0 && (tensor_argument(a[0])->keys >> layer & 1) != 0);
}

constexpr Builtin tensors_rows[] = {
    {"aten::size(Tensor self) -> int[]",
     [](const lamella_value* a) { return ints(tensor_argument(a[0])->dl.shape, tensor_argument(a[0])->dl.ndim); }},
    {"aten::size.int(Tensor self, int dim) -> int",
     [](const lamella_value* a) { return made(at_dim(a, tensor_argument(a[0])->dl.shape)); }},
    {"aten::stride(Tensor self) -> int[]",
     [](const lamella_value* a) { return ints(tensor_argument(a[0])->dl.strides, tensor_argument(a[0])->dl.ndim); }},
    {"aten::stride.int(Tensor self, int dim) -> int",
     [](const lamella_value* a) { return made(at_dim(a, tensor_argument(a[0])->dl.strides)); }},
    {"aten::dim(Tensor self) -> int",
     [](const lamella_value* a) { return made(static_cast<int64_t>(tensor_argument(a[0])->dl.ndim)); }},
    {"aten::numel(Tensor self) -> int", [](const lamella_value* a) { return made(tensor_argument(a[0])->numel); }},
    {"aten::len.Tensor(Tensor t) -> int", length},
    {"aten::storage_offset(Tensor self) -> int",
     [](const lamella_value* a) { return made(tensor_argument(a[0])->storage_offset); }},
    {"aten::element_size(Tensor self) -> int", item_size},
    {"aten::get_device(Tensor self) -> int",
     [](const lamella_value* a) {
       const Device d = tensor_of(a[0]).device();
       return made(static_cast<int64_t>(has_index(d.get()) ? d.index() : -1));
     }},
    {"aten::is_contiguous(Tensor self, *, MemoryFormat memory_format=contiguous_format) -> bool",
     [](const lamella_value* a) { return made(tensor_of(a[0]).is_contiguous(static_cast<MemoryFormat>(a[1].as.i))); }},
    {"aten::is_floating_point(Tensor self) -> bool",
     [](const lamella_value* a) { return made(is_floating_point(dtype_of(a[0]))); }},
    {"aten::is_complex(Tensor self) -> bool", [](const lamella_value* a) { return made(is_complex(dtype_of(a[0]))); }},
    {"aten::is_signed(Tensor self) -> bool", [](const lamella_value* a) { return made(is_signed(dtype_of(a[0]))); }},
    {"aten::is_leaf(Tensor self) -> bool", [](const lamella_value* a) { return made(tensor_of(a[0]).is_leaf()); }},
    {"aten::is_same_size(Tensor self, Tensor other) -> bool",
     [](const lamella_value* a) { return made(tensor_of(a[0]).sizes() == tensor_of(a[1]).sizes()); }},
    {"aten::is_conj(Tensor self) -> bool", no},  // a conjugate has its own elements here
    {"aten::is_neg(Tensor self) -> bool", no},
    {"aten::is_inference(Tensor self) -> bool", no},
    {"prim::dtype(Tensor a) -> ScalarType", [](const lamella_value* a) { return value(dtype_of(a[0])); }},
    {"prim::device(Tensor a) -> Device", [](const lamella_value* a) { return value(tensor_of(a[0]).device()); }},
    {"prim::layout(Tensor a) -> Layout", [](const lamella_value* a) { return value(tensor_of(a[0]).layout()); }},
    {"prim::requires_grad(Tensor a) -> bool",
     [](const lamella_value* a) { return made(tensor_of(a[0]).requires_grad()); }},
    {"prim::grad(Tensor a) -> Tensor?", [](const lamella_value* a) { return made(tensor_of(a[0]).grad()); }},
    {"prim::data(Tensor(a) a) -> Tensor(a)", [](const lamella_value* a) { return made(tensor_of(a[0]).detach()); }},
    {"prim::itemsize(Tensor a) -> int", item_size},
    {"prim::nbytes(Tensor a) -> int", [](const lamella_value* a) { return made(tensor_of(a[0]).nbytes()); }},
    {"prim::is_cpu(Tensor a) -> bool", [](const lamella_value* a) { return made(is_on(a[0], "cpu")); }},
    {"prim::is_cuda(Tensor a) -> bool", [](const lamella_value* a) { return made(is_on(a[0], "cuda")); }},
    {"prim::is_meta(Tensor a) -> bool", [](const lamella_value* a) { return made(is_on(a[0], "meta")); }},
    {"prim::is_mps(Tensor a) -> bool", [](const lamella_value* a) { return made(is_on(a[0], "mps")); }},
    {"prim::is_xpu(Tensor a) -> bool", [](const lamella_value* a) { return made(is_on(a[0], "xpu")); }},
    {"prim::is_sparse(Tensor a) -> bool", no},  // every layout is strided
    {"prim::is_quantized(Tensor a) -> bool", is_quantized},
};

}  // namespace

BuiltinTable tensor_builtins() { return table_of(tensors_rows); }

}  // namespace lamella::graph
