// Dtypes and devices.
#include <lamella/operators.h>

#include "builtins/arguments.h"
#include "builtins/tables.h"

namespace lamella::graph {
namespace {

ScalarType dtype_argument(const lamella_value& v) {
  if (v.tag != LAMELLA_DTYPE) raise_kind("a dtype", v);
  LAMELLA_CHECK_VALUE(api().dtype_info(static_cast<int32_t>(v.as.i)), "there is no dtype with the number ", v.as.i);
  return static_cast<ScalarType>(v.as.i);
}
Device device_argument(const lamella_value& v) {
  if (v.tag != LAMELLA_DEVICE) raise_kind("a device", v);
  return Device(v.as.device);
}

// Returns a tensor without memory, of one element in one or no dimension: tensors without dimensions count less in a
// promotion.
Tensor on_meta(ScalarType dtype, bool has_dims) {
  return lamella::empty(has_dims ? IntArrayRef({1}) : IntArrayRef(), TensorOptions(dtype).device(Device(kMeta)));
}
Tensor condition() { return on_meta(kBool, false); }
Tensor like(const lamella_value& v) {
  const lamella_tensor* t = tensor_argument(v);
  return on_meta(static_cast<ScalarType>(t->dtype), t->dl.ndim > 0);
}

// Returns the place of a dtype's class: bool, integers, floats, complex.
int rank(ScalarType t) { return is_complex(t) ? 3 : is_floating_point(t) ? 2 : is_integral(t) ? 1 : 0; }
bool can_cast(ScalarType from, ScalarType to) {
  if (rank(from) == 1 && rank(to) == 1 && is_signed(from) && !is_signed(to)) return false;
  return rank(from) <= rank(to);
}

constexpr Builtin dtypes_rows[] = {
    {"aten::promote_types(ScalarType type1, ScalarType type2) -> ScalarType",
     [](const lamella_value* a) {
       return value(
           lamella::where(condition(), on_meta(dtype_argument(a[0]), true), on_meta(dtype_argument(a[1]), true))
               .dtype());
     }},
    {"aten::can_cast(ScalarType from_, ScalarType to) -> bool",
     [](const lamella_value* a) { return made(can_cast(dtype_argument(a[0]), dtype_argument(a[1]))); }},
    {"aten::result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType",
     [](const lamella_value* a) { return value(lamella::where(condition(), like(a[0]), like(a[1])).dtype()); }},
    {"aten::result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType",
     [](const lamella_value* a) { return value(lamella::where(condition(), like(a[0]), Scalar(a[1])).dtype()); }},
    {"aten::device.str(str a) -> Device",
     [](const lamella_value* a) { return value(Device(std::string(string_of(a[0])))); }},
    {"aten::device.with_index(str type, int index) -> Device",
     [](const lamella_value* a) {
       const int64_t index = int_of(a[1]);
       LAMELLA_CHECK_VALUE(index >= 0 && index < 10000, "device: expected an index from 0 to 9999, got ", index);
       return value(Device(std::string(string_of(a[0])), static_cast<int>(index)));
     }},
    {"prim::type(Device self) -> str", [](const lamella_value* a) { return made(device_argument(a[0]).type().str()); }},
    {"prim::index(Device self) -> int?",
     [](const lamella_value* a) {
       const Device d = device_argument(a[0]);
       return has_index(d.get()) ? made(static_cast<int64_t>(d.index())) : none();
     }},
    {"prim::is_floating_point(ScalarType self) -> bool",
     [](const lamella_value* a) { return made(is_floating_point(dtype_argument(a[0]))); }},
    {"prim::is_complex(ScalarType self) -> bool",
     [](const lamella_value* a) { return made(is_complex(dtype_argument(a[0]))); }},
    {"prim::is_signed(ScalarType self) -> bool",
     [](const lamella_value* a) { return made(is_signed(dtype_argument(a[0]))); }},
    {"prim::itemsize.ScalarType(ScalarType self) -> int",
     [](const lamella_value* a) { return made(itemsize(dtype_argument(a[0]))); }},
};

}  // namespace

BuiltinTable dtype_builtins() { return table_of(dtypes_rows); }

}  // namespace lamella::graph
