// Padding: by a constant, or from within.
#include <string_view>

#include "dispatcher/operators/windows.h"

namespace lamella::dispatcher {
namespace {

// Pairs (before, after) from the last dimension on.
lamella_status read_pad(lamella_frame* f, const Value* a, int64_t* before, int64_t* after) {
  const Tensor* t = tensor_arg(a[0]);
  const int pairs = static_cast<int>(a[1].length) / 2;
  if (a[1].length % 2 || pairs > t->ndim())
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: takes pairs (before, after) for at most %d dimensions, the last first, got %s",
                        where(f, 1).c_str(), t->ndim(), core::describe(a[1]).c_str()));
  std::fill_n(before, t->ndim(), 0);
  std::fill_n(after, t->ndim(), 0);
  for (int i = 0; i < pairs; i++) {
    const int d = t->ndim() - 1 - i;
    before[d] = a[1].as.ints[2 * i];
    after[d] = a[1].as.ints[2 * i + 1];
    int64_t size;
    if (__builtin_add_overflow(before[d], after[d], &size) || __builtin_add_overflow(size, t->sizes()[d], &size) ||
        size < 0)
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("%s: dimension %d of size %lld cannot be padded by (%lld, %lld)", where(f, 1).c_str(), d,
                          (long long)t->sizes()[d], (long long)before[d], (long long)after[d]));
  }
  return LAMELLA_OK;
}

lamella_status infer_pad(lamella_frame* f, const Value* a, Meta* m) {
  int64_t before[LAMELLA_MAX_DIMS], after[LAMELLA_MAX_DIMS];
  if (lamella_status st = read_pad(f, a, before, after)) return st;
  const Tensor* t = tensor_arg(a[0]);
  fresh(m, t->ndim(), t->sizes(), t->dtype);
  for (int d = 0; d < t->ndim(); d++) m->sizes[d] += before[d] + after[d];
  if (channels_last(t)) set_channels_last(m);
  if (lamella_status st = check_number(f, 2, a[2], t->dtype)) return st;
  return core::check_sizes(where(f, 1).c_str(), m->ndim, m->sizes, core::itemsize(m->dtype), nullptr);
}

// Negative padding cuts.
lamella_status constant_pad(lamella_frame* f, const Value* a, Value* r) {
  int64_t before[LAMELLA_MAX_DIMS], after[LAMELLA_MAX_DIMS];
  Meta m;
  m.has_strides = 0;
  if (lamella_status st = infer_pad(f, a, &m)) return st;
  if (lamella_status st = read_pad(f, a, before, after)) return st;
  Compose c(f);
  Var x = c.arg(a[0]);
  if (!m.has_strides) core::contiguous_strides(m.ndim, m.sizes, m.strides);
  Var out = c.op<"empty_strided">(Ints(m.sizes, m.ndim), Ints(m.strides, m.ndim), As{x.dtype()}, Absent{},
                                  x.tensor()->device());
  out = c.op<"fill_.Scalar">(out, a[2]);
  Var inside = out;
  for (int d = 0; d < m.ndim; d++) {
    const int64_t n = x.size(d);
    if (before[d] < 0 || after[d] < 0)
      x = c.op<"slice.Tensor">(x, d, std::max<int64_t>(-before[d], 0), n + std::min<int64_t>(after[d], 0), 1);
    if (before[d] > 0 || after[d] > 0)
      inside = c.op<"slice.Tensor">(inside, d, std::max<int64_t>(before[d], 0),
                                    m.sizes[d] - std::max<int64_t>(after[d], 0), 1);
  }
  c.op<"copy_">(inside, x);
  return c.give(r, out);
}

// One dimension, its ends filled from within: copies of single places, or of a run.
Var extend(Compose& c, const Var& x, int d, int64_t before, int64_t after, std::string_view mode) {
  const int64_t n = x.size(d);
  Ints sizes(x.tensor()->sizes(), x.dim());
  sizes[d] = n + before + after;
  Var out = c.op<"empty.memory_format">(sizes, As{x.dtype()}, Absent{}, x.tensor()->device());
  auto place = [&](int64_t to, const Var& from, int64_t at, int64_t count) {
    c.op<"copy_">(c.op<"slice.Tensor">(out, d, to, to + count, 1), c.op<"slice.Tensor">(from, d, at, at + count, 1));
  };
  place(before, x, 0, n);
  if (mode == "circular") {
    if (before) place(0, x, n - before, before);
    if (after) place(before + n, x, 0, after);
    return out;
  }
  for (int64_t i = 0; i < before; i++) place(before - 1 - i, x, mode == "reflect" ? i + 1 : 0, 1);
  for (int64_t i = 0; i < after; i++) place(before + n + i, x, mode == "reflect" ? n - 2 - i : n - 1, 1);
  return out;
}

lamella_status pad(lamella_frame* f, const Value* a, Value* r) {
  const std::string_view mode(a[2].as.string, a[2].length);
  Compose c(f);
  if (mode == "constant") return c.give(r, c.op<"constant_pad_nd">(a[0], a[1], given(a[3]) ? a[3] : core::integer(0)));
  if (mode != "reflect" && mode != "replicate" && mode != "circular")
    return raise(
        LAMELLA_RUNTIME_ERROR,
        where(f, 2) + ": must be 'constant', 'reflect', 'replicate' or 'circular', got " + core::describe(a[2]));
  int64_t before[LAMELLA_MAX_DIMS], after[LAMELLA_MAX_DIMS];
  if (lamella_status st = read_pad(f, a, before, after)) return st;
  Var x = c.arg(a[0]);
  for (int d = x.dim() - 1; d >= 0 && !c.status(); d--) {
    if (!before[d] && !after[d]) continue;
    const int64_t n = x.size(d), most = mode == "reflect" ? n - 1 : mode == "circular" ? n : n > 0 ? INT64_MAX : 0;
    if (before[d] < 0 || after[d] < 0 || std::max(before[d], after[d]) > most)
      return raise(LAMELLA_RUNTIME_ERROR,
                   format("%s: mode '%s' cannot pad dimension %d of size %lld by (%lld, %lld)", where(f, 1).c_str(),
                          std::string(mode).c_str(), d, (long long)n, (long long)before[d], (long long)after[d]));
    x = extend(c, x, d, before[d], after[d], mode);
  }
  return c.give(r, x);
}

}  // namespace

const std::vector<Declaration>& padding_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor", "copy", function, infer_pad,
       constant_pad,
       "Puts `value` around: pairs (before, after) for the last dimension, the last but one, and so on; negative ones "
       "cut.\n\n>>> lamella.constant_pad_nd(lamella.tensor([1, 2]), (1, 2), 9)\ntensor([9, 1, 2, 9, 9])\n"},
      {"pad(Tensor self, SymInt[] pad, str mode='constant', float? value=None) -> Tensor", "copy", function | hidden,
       nullptr, pad,
       "Extends dimensions, pairs (before, after) from the last one on: by a constant, or, with mode 'reflect', "
       "'replicate' or 'circular', from within.\n\n>>> lamella.ops.aten.pad(lamella.tensor([1, 2, 3]), (2, 1), "
       "'reflect')\ntensor([3, 2, 1, 2, 3, 2])\n"},
  };
  return *table;
}

}  // namespace lamella::dispatcher
