// Repeating dimensions and elements, by one copy between views of source and result that have further dimensions; and
// the positions for counts that differ from element to element.
#include <string>

#include "backends/cpu/gather.h"
#include "backends/cpu/parts.h"

namespace lamella::cpu {
namespace {

// A source and its destination, built dimension by dimension and then copied.
struct Pair {
  Part to, from;

  Pair(const lamella_tensor* out, const lamella_tensor* self) : to(out), from(self) {
    to.t.dl.ndim = from.t.dl.ndim = 0;
  }
  bool add(int64_t n, int64_t to_stride, int64_t from_stride) {
    if (n == 1) return true;
    int& k = to.t.dl.ndim;
    if (k == LAMELLA_MAX_DIMS) return false;
    to.sizes[k] = from.sizes[k] = n;
    to.strides[k] = to_stride;
    from.strides[k++] = from_stride;
    from.t.dl.ndim = k;
    return true;
  }
  lamella_status copy() const {
    const Part x(to), y(from);
    return copy_into(&x.t, &y.t);
  }
};

// New dimensions come first. The shape of out gives the counts.
Status repeat(lamella_frame* f, const Tensor& self, IntArrayRef, const Tensor& out) {
  if (out.numel() == 0) return LAMELLA_OK;
  Pair p(out.get(), self.get());
  const IntArrayRef from = self.strides(), to = out.strides();
  const int64_t ndim = out.dim(), lead = ndim - self.dim();
  bool fits = true;
  for (int64_t d = 0; d < ndim; d++) {
    const int64_t n = d < lead ? 1 : self.sizes()[d - lead];
    fits = fits && p.add(out.sizes()[d] / n, n * to[d], 0) && p.add(n, to[d], d < lead ? 0 : from[d - lead]);
  }
  if (fits) return p.copy();
  return fail(
      LAMELLA_RUNTIME_ERROR,
      lamella::detail::text(title(f), ": argument '", title(f) == "tile" ? "dims" : "repeats",
                            "': too many repeated dimensions: each counts twice, and at most ", LAMELLA_MAX_DIMS,
                            " are supported; got shape ", self.sizes(), " for a result of shape ", out.sizes()));
}

// Repeats each position of a dimension, or each element, `repeats` times in a row.
Status repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim, std::optional<int64_t>,
                         const Tensor& out) {
  if (out.numel() == 0) return LAMELLA_OK;
  Pair p(out.get(), self.get());
  const IntArrayRef from = self.strides(), to = out.strides();
  const bool whole = !dim || self.dim() == 0;
  const int along = whole ? -1 : wrapped_dim(*dim, self.dim());
  bool fits = true;
  int64_t rest = self.numel();
  for (int d = 0; d < self.dim(); d++) {
    const int64_t n = self.sizes()[d];
    rest /= n;
    const int64_t stride = whole ? rest * repeats * to[0] : to[d] * (d == along ? repeats : 1);
    fits = fits && p.add(n, stride, from[d]);
    if (d == along) fits = fits && p.add(repeats, to[d], 0);
  }
  if (whole) fits = fits && p.add(repeats, to[0], 0);
  return fits ? p.copy()
              : fail(LAMELLA_RUNTIME_ERROR,
                     lamella::detail::text("repeat_interleave: argument 'self': expected fewer than ", LAMELLA_MAX_DIMS,
                                           " dimensions longer than 1, got shape ", self.sizes()));
}

template <class T>
void positions(int64_t n, const int64_t* counts, int64_t step, lamella_tensor* out) {
  auto* to = static_cast<T*>(out->dl.data);
  for (int64_t i = 0; i < n; i++) to = std::fill_n(to, counts[i * step], static_cast<T>(i));
}

// Returns each position i repeats[i] times.
Tensor repeat_interleave_counts(const Tensor& repeats, std::optional<int64_t>) {
  const Operand counts = as_int64(repeats.get());
  const auto* from = counts.data<int64_t>();
  const int64_t n = counts->numel, step = counts->dl.strides[0];
  int64_t total = 0;
  for (int64_t i = 0; i < n; i++)
    if (from[i * step] < 0 || __builtin_add_overflow(total, from[i * step], &total))
      check(
          fail(LAMELLA_RUNTIME_ERROR, "repeat_interleave: argument 'repeats': expected no negative count, and a sum " +
                                          std::string("below 2^63; got ") + std::to_string(from[i * step])));
  const bool narrow = repeats.dtype() == kInt;
  Tensor out = allocate(total, narrow ? LAMELLA_INT32 : LAMELLA_INT64, device_of(repeats.get()));
  (narrow ? positions<int32_t> : positions<int64_t>)(n, from, step, out.get());
  return out;
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<repeat>(m, "repeat");
  add<repeat>(m, "tile");
  add<repeat_interleave>(m, "repeat_interleave.self_int");
  add<repeat_interleave_counts>(m, "repeat_interleave.Tensor");
}

}  // namespace lamella::cpu
