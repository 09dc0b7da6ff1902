// softmax and log_softmax: the walk over the lines. norms.h has the loops over the elements.
#include <algorithm>
#include <memory>

#include "backends/cpu/kernels.h"
#include "backends/cpu/lines.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/norms.h"

namespace lamella::cpu {
namespace {

const Softmax* loops_of(int dtype) {
  static const auto chosen = LAMELLA_BY_ISA(softmax);
  return chosen(dtype);
}

// An exponential costs about as much as eight elements of streaming work.
int64_t lines_for_a_thread(int64_t n) { return std::max<int64_t>(1, grain / 8 / (n + 1)); }

class Lined {
 public:
  Lined(const lamella_tensor* in, const lamella_tensor* out, int dim, bool log)
      : in_(in), out_(out), log_(log), lines_(in, out, dim) {
    work_ = out->dtype == LAMELLA_FLOAT64 ? LAMELLA_FLOAT64 : LAMELLA_FLOAT32;
    item_ = work_ == LAMELLA_FLOAT64 ? 8 : 4;
    loops_ = loops_of(work_);
    plain_ = in->dtype == work_ && out->dtype == work_;
  }

  lamella_status run() const {
    if (lines_.count == 0 || lines_.length == 0) return LAMELLA_OK;
    if (plain_ && lines_.from != item_)
      if (int64_t width = lines_.side_by_side(item_, item_); width > 1) return by_columns(width);
    const bool rows = plain_ && ((lines_.from == item_ && lines_.to == item_) || lines_.length == 1);
    if (rows && lines_.count == 1) {
      loops_->row(lines_.length, in(0), out(0), log_);
      return LAMELLA_OK;
    }
    auto body = [&](int64_t b, int64_t e) { return rows ? direct(b, e) : gathered(b, e); };
    const int64_t few = lines_for_a_thread(lines_.length);
    return lines_.count <= few ? body(0, lines_.count) : parallel_for(0, lines_.count, few, body);
  }

 private:
  const char* in(int64_t at) const { return static_cast<const char*>(in_->dl.data) + at; }
  char* out(int64_t at) const { return static_cast<char*>(out_->dl.data) + at; }

  lamella_status direct(int64_t b, int64_t e) const {
    for (int64_t i = b; i < e; i++) {
      int64_t x, y;
      lines_.locate(i, &x, &y);
      loops_->row(lines_.length, in(x), out(y), log_);
    }
    return LAMELLA_OK;
  }

  // Computes lines with gaps, or of another dtype than the computation's, by way of a buffer.
  lamella_status gathered(int64_t b, int64_t e) const {
    const int64_t n = lines_.length;
    const std::unique_ptr<char[]> buffer(new char[n * item_]);
    const CastLoop read = loops().cast[in_->dtype][work_], write = loops().cast[work_][out_->dtype];
    for (int64_t i = b; i < e; i++) {
      int64_t x, y;
      lines_.locate(i, &x, &y);
      read(n, buffer.get(), item_, in(x), lines_.from);
      loops_->row(n, buffer.get(), buffer.get(), log_);
      write(n, out(y), lines_.to, buffer.get(), item_);
    }
    return LAMELLA_OK;
  }

  lamella_status by_columns(int64_t width) const {
    const int64_t tile = std::clamp<int64_t>(65536 / lines_.length / 16 * 16, 64, softmax_width);
    const int64_t tiles = (width + tile - 1) / tile;
    auto body = [&](int64_t b, int64_t e) -> lamella_status {
      for (int64_t item = b; item < e; item++) {
        const int64_t first = item % tiles * tile;
        int64_t x, y;
        lines_.locate(item / tiles * width + first, &x, &y);
        loops_->columns(lines_.length, std::min(tile, width - first), in(x), lines_.from / item_, out(y),
                        lines_.to / item_, log_);
      }
      return LAMELLA_OK;
    };
    const int64_t items = lines_.count / width * tiles;
    const int64_t few = lines_for_a_thread(lines_.length * std::min(tile, width));
    return items <= few ? body(0, items) : parallel_for(0, items, few, body);
  }

  const lamella_tensor *in_, *out_;
  bool log_, plain_;
  int work_;
  int64_t item_;
  Lines lines_;
  const Softmax* loops_;
};

// Returns the strides that the shape rule gives: those of a dense input, else null for row-major.
const int64_t* inferred_strides(const lamella_tensor* in) {
  return in->flags & LAMELLA_DENSE ? in->dl.strides : nullptr;
}

bool as_inferred(const lamella_tensor* in, const lamella_tensor* out) {
  const int64_t* wanted = inferred_strides(in);
  if (!wanted) return is_contiguous(out);
  for (int i = 0; i < in->dl.ndim; i++)
    if (in->dl.shape[i] > 1 && out->dl.strides[i] != wanted[i]) return false;
  return true;
}

template <bool Log>
Status softmax(const Tensor& self, int64_t dim, std::optional<ScalarType>, const Tensor& out) {
  const lamella_tensor* in = self.get();
  // The layout decides which loop runs, and loops sum in different orders. So for an out= tensor of another layout
  // than the shape rule's, the result is computed in the rule's layout and then copied.
  const Result to(out.get(), out.get()->dtype, as_inferred(in, out.get()), inferred_strides(in));
  if (lamella_status st = Lined(in, to.get(), wrapped_dim(dim, in->dl.ndim), Log).run()) return st;
  return to.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<softmax<false>>(m, "softmax.int");
  add<softmax<true>>(m, "log_softmax.int");
}

}  // namespace lamella::cpu
