// Enums, objects, futures, warnings, and the sizes of broadcast tensors.
#include <algorithm>

#include "builtins/arguments.h"
#include "builtins/tables.h"
#include "ir/graph.h"
#include "run/future.h"
#include "run/host.h"

namespace lamella::graph {
namespace {

// An enum is an instance of a class with the attributes `name` and `value`.
lamella_value attribute_of(const lamella_value& v, const char* name) {
  if (!is_object(v, instance_type)) raise_kind("an enum", v);
  const int64_t at = instance_of(v).type->find(name);
  if (at < 0 || at >= static_cast<int64_t>(instance_of(v).attributes.size())) raise_kind("an enum", v);
  return instance_of(v).get(static_cast<size_t>(at));
}

lamella_value identity(const lamella_value* a) {
  const bool object = a[0].tag == LAMELLA_OBJECT || a[0].tag == LAMELLA_TENSOR;
  if (!object) raise_kind("an object or a Tensor, since numbers and texts have no identity in a graph,", a[0]);
  return made(a[0].as.i);
}

lamella_value wait(const lamella_value* a) {
  if (!is_object(a[0], future_type)) raise_kind("a Future", a[0]);
  std::vector<std::string> trace;  // only the machine, which has an instruction for this builtin, shows it
  return result_of_future(a[0], 0, &trace);
}

lamella_value broadcast_sizes(const lamella_value* a) {
  const std::vector<lamella_value>&x = list_argument(a[0]).items, &y = list_argument(a[1]).items;
  const size_t n = std::max(x.size(), y.size());
  const auto size = [&](const std::vector<lamella_value>& sizes, size_t dim) {  // aligned at the last dimension
    return dim + sizes.size() < n ? int64_t{1} : int_of(sizes[dim + sizes.size() - n]);
  };
  std::vector<lamella_value> out;
  for (size_t i = 0; i < n; i++) {
    const int64_t p = size(x, i), q = size(y, i);
    LAMELLA_CHECK(p == q || p == 1 || q == 1, "the sizes ", repr_of(a[0]), " and ", repr_of(a[1]),
                  " do not broadcast: at dimension ", i, " they have ", p, " and ", q);
    out.push_back(made(p == 1 ? q : p));
  }
  return new_list(std::move(out));
}

constexpr Builtin objects_rows[] = {
    {"prim::EnumName(t enum) -> str", [](const lamella_value* a) { return attribute_of(a[0], "name"); }},
    {"prim::EnumValue(t enum) -> u", [](const lamella_value* a) { return attribute_of(a[0], "value"); }},
    {"prim::id(t x) -> int", identity},
    {"aten::wait(Future(t) self) -> t", wait},
    {"aten::warn(str message, int stacklevel=2) -> ()",
     [](const lamella_value* a) {
       warn(string_of(a[0]));
       return none();
     }},
    {"aten::_infer_size(int[] a, int[] b) -> int[]", broadcast_sizes},
};

}  // namespace

BuiltinTable object_builtins() { return table_of(objects_rows); }

}  // namespace lamella::graph
