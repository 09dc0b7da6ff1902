// Reductions: the walk over the input. folds.h has the loops over the elements.
//
// Note [Fixed blocks]  The reduced range of each output is cut into blocks of a length that depends on the shape only.
//   A block is folded by one thread and blocks are joined pairwise, in order, so results depend neither on the number
//   of threads nor on where the memory lies.
#include <algorithm>
#include <atomic>

#include "backends/cpu/reduction.h"

#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"

namespace lamella::cpu {

const Fold* fold(Reduce what, int dtype) {
  static const auto sums = LAMELLA_BY_ISA(sum_fold);
  static const auto extrema = LAMELLA_BY_ISA(extremum_fold);
  static const auto moments = LAMELLA_BY_ISA(moment_fold);
  for (const auto family : {sums, extrema, moments})
    if (const Fold* found = family(what, dtype)) return found;
  return nullptr;
}

uint64_t all_dims(const lamella_tensor* t) { return t->dl.ndim == 64 ? ~uint64_t{0} : (uint64_t{1} << t->dl.ndim) - 1; }

uint64_t dim_set(const OptionalIntArrayRef& dim, const lamella_tensor* t) {
  const int n = t->dl.ndim;
  if (!dim.has_value() || n == 0) return all_dims(t);
  const IntArrayRef list = *dim;
  if (list.empty()) return all_dims(t);
  uint64_t dims = 0;
  for (int64_t d : list) dims |= uint64_t{1} << (d < 0 ? d + n : d);
  return dims;
}

namespace {

constexpr int64_t block = 4096;
constexpr int64_t batch = 64;  // outputs finished together

struct Axis {
  int64_t size, in, out[2];  // strides in elements
};

// The input's dimensions, split into kept and reduced ones; neighbours in memory are merged.
struct Geometry {
  int kept = 0, gone = 0;
  Axis keep[LAMELLA_MAX_DIMS], go[LAMELLA_MAX_DIMS];
  int64_t outputs = 1, length = 1;

  Geometry(const lamella_tensor* in, const lamella_tensor* const* out, uint64_t dims, bool keepdim, bool ordered) {
    int o = 0;
    for (int d = 0; d < in->dl.ndim; d++) {
      Axis a{in->dl.shape[d], in->dl.strides[d], {0, 0}};
      if (dims >> d & 1) {
        length *= a.size;
        if (a.size != 1) go[gone++] = a;
        o += keepdim;
        continue;
      }
      for (int k = 0; k < 2 && out[k]; k++) a.out[k] = out[k]->dl.strides[o];
      o++;
      outputs *= a.size;
      if (a.size != 1) keep[kept++] = a;
    }
    if (!ordered) order(go, gone);
    order(keep, kept);
    gone = merge(go, gone);
    kept = merge(keep, kept);
  }

  void locate(int64_t output, int64_t* in, int64_t* out) const {
    *in = out[0] = out[1] = 0;
    for (int d = kept - 1; d >= 0; d--) {
      const int64_t i = output % keep[d].size;
      output /= keep[d].size;
      *in += i * keep[d].in;
      out[0] += i * keep[d].out[0];
      out[1] += i * keep[d].out[1];
    }
  }

  // Calls strip(n, offset, stride, first position) for runs that cover [begin, end) of the reduced range.
  template <class Strip>
  void walk(int64_t begin, int64_t end, Strip strip) const {
    const int last = gone - 1;
    if (last < 0) {
      if (begin < end) strip(1, 0, 1, 0);
      return;
    }
    while (begin < end) {
      int64_t rest = begin, offset = 0;
      for (int d = last; d >= 0; d--) {
        offset += rest % go[d].size * go[d].in;
        rest /= go[d].size;
      }
      const int64_t n = std::min(go[last].size - begin % go[last].size, end - begin);
      strip(n, offset, go[last].in, begin);
      begin += n;
    }
  }

 private:
  static void order(Axis* a, int n) {  // large strides outside
    for (int i = 1; i < n; i++)
      for (int j = i; j > 0 && a[j].in > a[j - 1].in; j--) std::swap(a[j], a[j - 1]);
  }
  static int merge(Axis* a, int n) {
    int m = 0;
    for (int i = 0; i < n; i++) {
      const Axis& x = a[i];
      if (m && a[m - 1].in == x.in * x.size && a[m - 1].out[0] == x.out[0] * x.size &&
          a[m - 1].out[1] == x.out[1] * x.size)
        a[m - 1] = {a[m - 1].size * x.size, x.in, {x.out[0], x.out[1]}};
      else
        a[m++] = x;
    }
    return m;
  }
};

class Reduction {
 public:
  Reduction(lamella_frame* f, const Fold& fold, int as, double param, const lamella_tensor* in,
            const lamella_tensor* out, const lamella_tensor* second, int settled)
      : frame_(f), fold_(fold), as_(as), settled_(settled), param_(param), in_(in), out_{out, second} {
    data_ = static_cast<const char*>(in->dl.data);
    item_ = itemsize(in);
    // Bytes of bools serve as uint8, except for positions of extrema, where the bytes 1 and 255 are equal.
    const bool bytes = in->dtype == LAMELLA_BOOL && as == LAMELLA_UINT8 && !fold.indexed;
    if (in->dtype != as && !bytes) cast_ = loops().cast[in->dtype][as];
  }

  lamella_status run(uint64_t dims, bool keepdim) {
    if (dims == all_dims(in_) && is_contiguous(in_) && in_->numel <= block && !cast_) {  // nothing to walk
      alignas(16) char acc[64];
      fold_.start(1, acc);
      fold_.run(in_->numel, data_, 0, param_, acc);
      const int64_t at[2] = {0, 0}, steps[2] = {0, 0};
      finish(1, acc, in_->numel, at, steps);
      return LAMELLA_OK;
    }
    const Geometry g(in_, out_, dims, keepdim, fold_.indexed);
    if (g.outputs == 0) return LAMELLA_OK;
    const bool columns = g.kept && g.length > 1 && g.keep[g.kept - 1].in == 1 && !(g.gone && g.go[g.gone - 1].in == 1);
    if (columns) return by_columns(g);
    return g.length <= block ? by_rows(g) : by_blocks(g);
  }

 private:
  // Adds a run of n elements, `stride` apart, from element `offset` on, to an accumulator.
  void feed(int64_t n, int64_t offset, int64_t stride, int64_t first, void* acc) const {
    const char* x = data_ + offset * item_;
    if (!cast_ && stride == 1) return fold_.run(n, x, first, param_, acc);
    constexpr int64_t piece = 512;
    alignas(64) char tile[piece * 16];
    const CastLoop cast = cast_ ? cast_ : loops().cast[in_->dtype][in_->dtype];
    const int64_t wide = source_bytes();
    for (int64_t i = 0; i < n; i += piece) {
      const int64_t m = std::min(piece, n - i);
      cast(m, tile, wide, x + i * stride * item_, stride * item_);
      fold_.run(m, tile, first + i, param_, acc);
    }
  }

  // Adds rows of `width` neighbouring columns to an accumulator for each column.
  void feed_columns(int64_t rows, int64_t offset, int64_t stride, int64_t width, int64_t first, void* acc) const {
    const char* x = data_ + offset * item_;
    if (!cast_) return fold_.columns(rows, x, stride, width, first, param_, acc);
    constexpr int64_t piece = 8;
    alignas(64) char tile[piece * fold_width * 16];
    const int64_t wide = source_bytes();
    for (int64_t r = 0; r < rows; r += piece) {
      const int64_t m = std::min(piece, rows - r);
      for (int64_t k = 0; k < m; k++) cast_(width, tile + k * width * wide, wide, x + (r + k) * stride * item_, item_);
      fold_.columns(m, tile, width, width, first + r, param_, acc);
    }
  }

  int64_t source_bytes() const { return bytes_of(as_); }
  static int64_t bytes_of(int dtype) {
    switch (dtype) {
      case LAMELLA_BOOL:
      case LAMELLA_UINT8:
        return 1;
      case LAMELLA_INT32:
      case LAMELLA_FLOAT32:
        return 4;
      case LAMELLA_COMPLEX64:
        return 8;
      case LAMELLA_COMPLEX128:
        return 16;
      default:
        return 8;
    }
  }

  // Writes the results of n accumulators to n elements of each output, `steps` elements apart.
  void finish(int64_t n, const void* acc, int64_t length, const int64_t* at, const int64_t* steps) const {
    alignas(64) char made[2][fold_width * 16];
    fold_.finish(n, acc, length, param_, made[0], out_[1] ? made[1] : nullptr);
    if (settled_ >= 0)  // `all` of no elements is the neutral element of the minimum, the largest byte
      for (int64_t k = 0; k < n; k++) made[0][k] = made[0][k] != 0;
    for (int k = 0; k < 2 && out_[k]; k++) {
      const int64_t item = itemsize(out_[k]);
      loops().cast[fold_.result[k]][out_[k]->dtype](n, static_cast<char*>(out_[k]->dl.data) + at[k] * item,
                                                    steps[k] * item, made[k], bytes_of(fold_.result[k]));
    }
  }

  // Computes each output on one thread, in batches along the innermost kept dimension.
  lamella_status by_rows(const Geometry& g) const {
    const int64_t inner = g.kept ? g.keep[g.kept - 1].size : 1;
    const Axis last = g.kept ? g.keep[g.kept - 1] : Axis{1, 0, {0, 0}};
    const bool plain = g.gone <= 1;
    const int64_t stride = g.gone ? g.go[g.gone - 1].in : 1;
    auto body = [&](int64_t b, int64_t e) -> lamella_status {
      alignas(64) char acc[batch * 64];
      for (int64_t o = b; o < e;) {
        const int64_t n = std::min({batch, e - o, inner - o % inner});
        int64_t in, at[2];
        g.locate(o, &in, at);
        fold_.start(n, acc);
        for (int64_t k = 0; k < n; k++, in += last.in) {
          char* a = acc + k * fold_.bytes;
          if (plain)
            feed(g.length, in, stride, 0, a);
          else
            g.walk(0, g.length, [&](int64_t m, int64_t offset, int64_t step, int64_t first) {
              feed(m, in + offset, step, first, a);
            });
        }
        finish(n, acc, g.length, at, last.out);
        o += n;
      }
      return LAMELLA_OK;
    };
    const int64_t few = std::max<int64_t>(1, grain / (g.length + 8));
    return g.outputs <= few ? body(0, g.outputs) : parallel_for(0, g.outputs, few, body);
  }

  // Computes outputs of long ranges: the threads share the blocks, whose accumulators are joined afterwards.
  lamella_status by_blocks(const Geometry& g) const {
    const int64_t blocks = (g.length + block - 1) / block;
    void* memory;
    if (lamella_status st = api().scratch(frame_, g.outputs * blocks * fold_.bytes, &memory)) return st;
    auto* partial = static_cast<char*>(memory);
    std::atomic<bool> settled{false};
    lamella_status st = parallel_for(0, g.outputs * blocks, std::max<int64_t>(1, grain / block),
                                     [&](int64_t b, int64_t e) -> lamella_status {
                                       for (int64_t item = b; item < e; item++) {
                                         int64_t in, at[2];
                                         const int64_t from = item % blocks * block;
                                         g.locate(item / blocks, &in, at);
                                         char* a = partial + item * fold_.bytes;
                                         fold_.start(1, a);
                                         if (settled.load(std::memory_order_relaxed)) continue;
                                         g.walk(from, std::min(from + block, g.length),
                                                [&](int64_t n, int64_t offset, int64_t stride, int64_t first) {
                                                  feed(n, in + offset, stride, first, a);
                                                });
                                         if (g.outputs == 1 && *reinterpret_cast<uint8_t*>(a) == settled_)
                                           settled = true;
                                       }
                                       return LAMELLA_OK;
                                     });
    for (int64_t o = 0; o < g.outputs && !st; o++) {
      int64_t in, at[2];
      g.locate(o, &in, at);
      char* mine = partial + o * blocks * fold_.bytes;
      join(1, mine, fold_.bytes, blocks);
      const int64_t steps[2] = {0, 0};
      finish(1, mine, g.length, at, steps);
    }
    return st;
  }

  // Joins `count` groups of n accumulators, `apart` bytes apart, into the first, pairwise.
  void join(int64_t n, char* acc, int64_t apart, int64_t count) const {
    for (int64_t step = 1; step < count; step *= 2)
      for (int64_t i = 0; i + step < count; i += 2 * step) fold_.join(n, acc + i * apart, acc + (i + step) * apart);
  }

  // The tiles of columns and the blocks of rows in which by_columns() computes outputs, each the fold of a column.
  struct Tiles {
    int64_t width, tile, tiles, rows, blocks;
  };
  lamella_status by_columns(const Geometry& g) const {
    const Axis last = g.keep[g.kept - 1];
    Tiles t;
    t.width = last.size;
    t.tile = std::min(fold_width, t.width);
    t.tiles = (t.width + t.tile - 1) / t.tile;
    t.rows = std::clamp<int64_t>(65536 / t.tile, 256, block);
    t.blocks = (g.length + t.rows - 1) / t.rows;
    const int64_t groups = g.outputs / t.width, items = groups * t.tiles * t.blocks;
    const int64_t work = std::max<int64_t>(1, grain / (std::min(t.rows, g.length) * t.tile));
    if (t.blocks == 1) {
      auto body = [&](int64_t b, int64_t e) -> lamella_status {
        alignas(64) char acc[fold_width * 64];
        for (int64_t item = b; item < e; item++) {
          int64_t in, at[2], n;
          place(g, t, item, &in, at, &n);
          fill_tile(g, 0, g.length, in, n, acc);
          finish(n, acc, g.length, at, last.out);
        }
        return LAMELLA_OK;
      };
      return items <= work ? body(0, items) : parallel_for(0, items, work, body);
    }
    void* memory;
    const int64_t bytes = t.tile * fold_.bytes;
    if (lamella_status st = api().scratch(frame_, items * bytes, &memory)) return st;
    auto* partial = static_cast<char*>(memory);
    lamella_status st = parallel_for(0, items, work, [&](int64_t b, int64_t e) -> lamella_status {
      for (int64_t item = b; item < e; item++) {
        int64_t in, at[2], n;
        const int64_t from = item % t.blocks * t.rows;
        place(g, t, item / t.blocks, &in, at, &n);
        fill_tile(g, from, std::min(from + t.rows, g.length), in, n, partial + item * bytes);
      }
      return LAMELLA_OK;
    });
    if (st) return st;
    return parallel_for(0, groups * t.tiles, std::max<int64_t>(1, grain / (t.blocks * t.tile)),
                        [&](int64_t b, int64_t e) -> lamella_status {
                          for (int64_t item = b; item < e; item++) {
                            int64_t in, at[2], n;
                            place(g, t, item, &in, at, &n);
                            char* mine = partial + item * t.blocks * bytes;
                            join(n, mine, bytes, t.blocks);
                            finish(n, mine, g.length, at, last.out);
                          }
                          return LAMELLA_OK;
                        });
  }

  void place(const Geometry& g, const Tiles& t, int64_t item, int64_t* in, int64_t* at, int64_t* n) const {
    const int64_t column = item % t.tiles * t.tile;
    *n = std::min(t.tile, t.width - column);
    g.locate(item / t.tiles * t.width + column, in, at);
  }

  void fill_tile(const Geometry& g, int64_t from, int64_t to, int64_t in, int64_t n, char* acc) const {
    // Only with many rows: the accumulators of the rows that were taken as one are joined at the end.
    const bool narrow = n <= 32 && n == g.keep[g.kept - 1].size && !fold_.indexed && (to - from) * n >= 2048;
    const int64_t together = narrow ? 128 / n : 1;
    fold_.start(n, acc);
    if (together == 1)
      return g.walk(from, to, [&](int64_t rows, int64_t offset, int64_t stride, int64_t first) {
        feed_columns(rows, in + offset, stride, n, first, acc);
      });
    // Several rows of few columns, which follow each other without a gap, are taken as one.
    alignas(64) char wide[128 * 64];
    fold_.start(n * together, wide);
    g.walk(from, to, [&](int64_t rows, int64_t offset, int64_t stride, int64_t first) {
      const int64_t whole = stride == n ? rows / together : 0;
      if (whole) feed_columns(whole, in + offset, stride * together, n * together, first, wide);
      feed_columns(rows - whole * together, in + offset + whole * together * stride, stride, n, first, wide);
    });
    std::copy(wide, wide + n * fold_.bytes, acc);
    for (int64_t k = 1; k < together; k++) fold_.join(n, acc, wide + k * n * fold_.bytes);
  }

  lamella_frame* frame_;
  const Fold& fold_;
  int as_, settled_;
  double param_;
  const lamella_tensor* in_;
  const lamella_tensor* out_[2];
  const char* data_;
  int64_t item_;
  CastLoop cast_ = nullptr;
};

}  // namespace

lamella_status reduce_over(lamella_frame* f, const Fold& fold, int as, double param, const lamella_tensor* in,
                           uint64_t dims, bool keepdim, const lamella_tensor* out, const lamella_tensor* second,
                           int settled) {
  return Reduction(f, fold, as, param, in, out, second, settled).run(dims, keepdim);
}

lamella_status moments_over(lamella_frame* f, const lamella_tensor* in, uint64_t dims, lamella_tensor* variance,
                            lamella_tensor* mean) {
  const Fold& var = *fold(Reduce::var, in->dtype);
  return reduce_over(f, var, var.source, 0, in, dims, false, variance, mean);
}

}  // namespace lamella::cpu
