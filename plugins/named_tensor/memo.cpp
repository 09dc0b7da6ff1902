#include "memo.h"

namespace lamella::named {

bool fill_key(const Rule& r, const lamella_value* args, MemoKey* key) {
  // Bytes that stand for no number: add() gives numbers from -100 to 100 the bytes 28 to 228.
  enum : uint64_t { none_here = 255, end_of_list = 254 };
  uint64_t code = 0;
  int used = 0, tensors = 0;
  const auto mark = [&](uint64_t byte) {
    code = code << 8 | byte;
    return ++used <= 8;
  };
  const auto add = [&](int64_t number) {
    return static_cast<uint64_t>(number + 100) <= 200 && mark(static_cast<uint64_t>(number + 128));
  };
  key->rule = &r;
  for (uint8_t i : r.inputs) {
    const lamella_value& v = args[i];
    if (v.tag == LAMELLA_TENSOR) {
      if (tensors == 2 || !add(v.as.tensor->dl.ndim)) return false;
      key->names[tensors++] = names_of(v.as.tensor);
    } else if (v.tag != LAMELLA_NONE || !mark(none_here)) {
      return false;
    }
  }
  for (uint8_t i : r.read) {
    const lamella_value& v = args[i];
    if (v.tag == LAMELLA_INT || v.tag == LAMELLA_BOOLEAN) {
      if (!add(v.as.i)) return false;
    } else if (v.tag == LAMELLA_INT_LIST) {
      for (uint32_t k = 0; k < v.length; k++)
        if (!add(v.as.ints[k])) return false;
      if (!mark(end_of_list)) return false;
    } else if (v.tag != LAMELLA_NONE || !mark(none_here)) {
      return false;
    }
  }
  key->code = code;
  return true;
}

Memo& memo(const MemoKey& key) {
  constexpr size_t places = 128;
  thread_local Memo table[places];
  uint64_t hash = reinterpret_cast<uint64_t>(key.rule) >> 4;
  for (const Names* names : key.names) hash = (hash ^ reinterpret_cast<uint64_t>(names) >> 4) * 0x9E3779B97F4A7C15u;
  return table[((hash ^ key.code) * 0x9E3779B97F4A7C15u) >> 57];
}

}  // namespace lamella::named
