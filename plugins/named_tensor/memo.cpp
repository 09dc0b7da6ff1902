#include "memo.h"

#include <cstring>

namespace lamella::named {

bool fill_key(const Rule& r, const lamella_value* args, MemoKey* key) {
  enum : unsigned char { none_here = 255, end_of_list = 254 };
  constexpr int bytes = sizeof key->code;
  unsigned char code[bytes] = {};
  int used = 0, tensors = 0;
  const auto mark = [&](unsigned char byte) {
    if (used == bytes) return false;
    code[used++] = byte;
    return true;
  };
  const auto add = [&](int64_t number) {
    return number >= -100 && number <= 100 && mark(static_cast<unsigned char>(number + 128));
  };
  key->rule = &r;
  for (uint8_t i : r.inputs) {
    const lamella_value& v = args[i];
    if (v.tag == LAMELLA_TENSOR ? tensors == 2 || !add(v.as.tensor->dl.ndim) : v.tag || !mark(none_here)) return false;
    if (v.tag == LAMELLA_TENSOR) key->names[tensors++] = names_of(v.as.tensor);
  }
  for (uint8_t i : r.read) {
    const lamella_value& v = args[i];
    bool fits = v.tag == LAMELLA_NONE && mark(none_here);
    if (v.tag == LAMELLA_INT || v.tag == LAMELLA_BOOLEAN) fits = add(v.as.i);
    if (v.tag == LAMELLA_INT_LIST) {
      fits = true;
      for (uint32_t k = 0; k < v.length && fits; k++) fits = add(v.as.ints[k]);
      fits = fits && mark(end_of_list);
    }
    if (!fits) return false;
  }
  std::memcpy(key->code, code, bytes);
  return true;
}

Memo& memo(const MemoKey& key) {
  constexpr size_t places = 128;
  thread_local Memo table[places];
  uint64_t hash = reinterpret_cast<uint64_t>(key.rule) >> 4;
  for (const Names* names : key.names) hash = (hash ^ reinterpret_cast<uint64_t>(names) >> 4) * 0x9E3779B97F4A7C15u;
  for (uint64_t code : key.code) hash = (hash ^ code) * 0x9E3779B97F4A7C15u;
  return table[hash >> 57];
}

}  // namespace lamella::named
