#include "builtins/arguments.h"

#include "ir/graph.h"
#include "run/host.h"

namespace lamella::graph {

void raise(int32_t kind, std::string message) {
  if (kind == LAMELLA_ZERO_DIVISION) raise_named("ZeroDivisionError", kind, message);
  if (kind == LAMELLA_OVERFLOW) raise_named("OverflowError", kind, message);
  throw Error(kind, std::move(message));
}

std::string_view type_name(const lamella_value& v) {
  switch (v.tag) {
    case LAMELLA_NONE:
      return "NoneType";
    case LAMELLA_BOOLEAN:
      return "bool";
    case LAMELLA_INT:
    case LAMELLA_UINT:
      return "int";
    case LAMELLA_FLOAT:
      return "float";
    case LAMELLA_COMPLEX:
      return "complex";
    case LAMELLA_STRING:
      return "str";
    case LAMELLA_DTYPE:
      return "dtype";
    case LAMELLA_DEVICE:
      return "device";
    case LAMELLA_LAYOUT:
      return "layout";
    case LAMELLA_MEMORY_FORMAT:
      return "memory_format";
    case LAMELLA_TENSOR:
      return "Tensor";
    case LAMELLA_OBJECT:
      return is_object(v, instance_type) ? std::string_view(instance_of(v).type->name)
                                         : std::string_view(v.as.object->type->name);
    default:
      return "list";
  }
}

void raise_kind(const char* wanted, const lamella_value& got) {
  raise(LAMELLA_TYPE_ERROR, detail::text("expected ", wanted, ", got ", type_name(got)));
}
void raise_too_large() { raise(LAMELLA_OVERFLOW, "an int of a graph has 64 bits, and this result does not fit"); }
void raise_key(const lamella_value& key) { raise_named("KeyError", LAMELLA_INDEX_ERROR, repr_of(key)); }

Slice slice_of(const lamella_value& start, const lamella_value& stop, int64_t step, size_t size) {
  LAMELLA_CHECK_VALUE(step != 0, "slice step cannot be zero");
  const auto n = static_cast<int64_t>(size);
  const int64_t first = step > 0 ? 0 : -1, last = step > 0 ? n : n - 1;  // the bounds that a place may have
  const auto bound = [&](const lamella_value& given, int64_t otherwise) {
    if (given.tag == LAMELLA_NONE) return otherwise;
    int64_t i = int_of(given);
    if (i < 0) i += n;  // no overflow, as i is negative
    return i < first ? first : i > last ? last : i;
  };
  Slice s{bound(start, step > 0 ? first : last), bound(stop, step > 0 ? last : first), step, 0};
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  const int64_t span = step > 0 ? s.stop - s.start : s.start - s.stop;
  if (span > 0) s.count = static_cast<size_t>((static_cast<uint64_t>(span) - 1) / stride + 1);
  return s;
}

}  // namespace lamella::graph
