// _fft_c2c, _fft_r2c and _fft_c2r: the walk over dimensions and lines. isa/fourier.cpp has the passes.
#include "backends/cpu/fourier.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cpu/fourier_plans.h"
#include "backends/cpu/lines.h"
#include "backends/cpu/parts.h"
#include "backends/cpu/space.h"

namespace lamella::cpu {
namespace {

using namespace fourier;

constexpr int64_t most_block = 160 << 10;   // bytes of a block of lines that do not lie side by side
constexpr int64_t chunk_bytes = 1 << 20;    // bytes of a part of a batch, which stays in the cache for all dimensions
constexpr int64_t shared_length = 1 << 16;  // a line from this length on is shared among the threads

// The transforms along one dimension. n is the number of elements of the real or complex lines.
class Axis {
 public:
  enum Sort { c2c, r2c, c2r };

  Axis(Sort sort, const lamella_tensor* in, const lamella_tensor* out, int dim, int64_t n, bool inverse, bool full,
       double scale)
      : sort_(sort), lines_(in, out, dim), n_(n), inverse_(inverse), full_(full), scale_(scale) {
    in_data_ = static_cast<char*>(in->dl.data);
    out_data_ = static_cast<char*>(out->dl.data);
    in_item_ = itemsize(in);
    out_item_ = itemsize(out);
    item_ = sort == r2c ? in_item_ : in_item_ / 2;
    wide_ = item_ == 8;
    lanes_ = transforms(wide_).lanes;
    const bool even = n % 2 == 0;
    kind_ = sort == c2c   ? Kind::complex
            : sort == r2c ? even ? Kind::pack : Kind::halve
            : even        ? Kind::unpack
                          : Kind::mirror;
    const bool halved = kind_ == Kind::pack || kind_ == Kind::unpack;
    plan_ = plan(halved ? n / 2 : n, wide_);
    if (halved) half_ = half_roots(n / 2, wide_);
  }

  lamella_status run() {
    if (lines_.count == 0) return LAMELLA_OK;
    const int64_t width = lines_.side_by_side(in_item_, out_item_);
    const bool beside = width >= lanes_ / 2;
    const bool blocks =
        plan_->whole && (beside || !plan_->rows || transforms(wide_).bytes(plan_->whole->passes()) <= most_block);
    // The lines of a row of `width` lines make blocks; where lines are not side by side, all lines are one row.
    const int64_t row = beside ? width : lines_.count, rows = lines_.count / row;
    const int64_t rest = row % lanes_;
    // The last lines, which do not fill a block, are transformed one by one if that takes less time than the block.
    const bool alone = !blocks || (!beside && plan_->rows && rest * (n_ < 512 ? 4 : 1) <= lanes_);
    const int64_t by_block = !blocks ? 0 : alone ? row / lanes_ : (row + lanes_ - 1) / lanes_;
    const int64_t first_alone = alone ? by_block * lanes_ : row;
    if (by_block) {
      const int64_t least = std::max<int64_t>(1, grain / 2 / (n_ * lanes_));
      lamella_status st = parallel_for(0, rows * by_block, least, [&](int64_t b, int64_t e) -> lamella_status {
        Space space;
        if (lamella_status st = space.take(transforms(wide_).bytes(plan_->whole->passes()))) return st;
        for (int64_t i = b; i < e; i++) {
          const int64_t first = i % by_block * lanes_;
          block(i / by_block * row + first, static_cast<int>(std::min<int64_t>(lanes_, row - first)), space.data());
        }
        return LAMELLA_OK;
      });
      if (st) return st;
    }
    const int64_t single = row - first_alone;
    if (single <= 0) return LAMELLA_OK;
    auto place = [&](int64_t i) { return i / single * row + first_alone + i % single; };
    if (n_ >= shared_length && rows * single < 8) {
      for (int64_t i = 0; i < rows * single; i++) {
        Space space;
        if (lamella_status st = space.take(line_bytes())) return st;
        if (lamella_status st = line(place(i), space.data(), true)) return st;
        if (lamella_status st = api().check_interrupt()) return st;
      }
      return LAMELLA_OK;
    }
    return parallel_for(0, rows * single, std::max<int64_t>(1, grain / 4 / n_),
                        [&](int64_t b, int64_t e) -> lamella_status {
                          Space space;
                          if (lamella_status st = space.take(line_bytes())) return st;
                          for (int64_t i = b; i < e; i++)
                            if (lamella_status st = line(place(i), space.data(), false)) return st;
                          return LAMELLA_OK;
                        });
  }

 private:
  static Side side(char* at, int64_t step, int64_t imag) { return {{at}, step, imag}; }
  // The same line with its real and imaginary parts exchanged, which makes a transform an inverse one.
  static Side exchanged(Side s) {
    s.at[0] += s.imag;
    s.imag = -s.imag;
    return s;
  }

  // The sides from which a block reads, and to which it writes, the lines whose first elements lie at `at`.
  Side in_side(char* at) const {
    if (sort_ == r2c) return kind_ == Kind::pack ? side(at, 2 * lines_.from, lines_.from) : side(at, lines_.from, 0);
    const Side s = side(at, lines_.from, item_);
    return inverse_ && sort_ == c2c ? exchanged(s) : s;
  }
  Side out_side(char* at) const {
    if (sort_ == c2r) return kind_ == Kind::unpack ? side(at, 2 * lines_.to, lines_.to) : side(at, lines_.to, 0);
    const Side s = side(at, lines_.to, item_);
    return inverse_ && sort_ == c2c ? exchanged(s) : s;
  }

  void block(int64_t first, int lanes, char* memory) const {
    Block b = {&plan_->whole->passes(), kind_, lanes, {}, {}, scale_, half_ ? half_->roots.data() : nullptr, nullptr};
    char *from[most_lanes], *to[most_lanes];
    for (int l = 0; l < lanes; l++) {
      int64_t in, out;
      lines_.locate(first + l, &in, &out);
      from[l] = in_data_ + in;
      to[l] = out_data_ + out;
    }
    b.in = in_side(from[0]);
    b.out = out_side(to[0]);
    for (int l = lanes - 1; l >= 0; l--) {
      b.in.at[l] = b.in.at[0] + (from[l] - from[0]);
      b.out.at[l] = b.out.at[0] + (to[l] - to[0]);
    }
    transforms(wide_).block(b, memory);
    if (full_) fill(to, lanes);
  }

  // Writes the second half of the transform of a real line, the conjugates of the first half.
  void fill(char* const* to, int lanes) const {
    for (int64_t k = 1; 2 * k < n_; k++)
      for (int l = 0; l < lanes; l++) {
        char *a = to[l] + k * lines_.to, *b = to[l] + (n_ - k) * lines_.to;
        if (wide_)
          conjugate<double>(a, b);
        else
          conjugate<float>(a, b);
      }
  }
  template <class T>
  static void conjugate(const char* from, char* to) {
    T x[2];
    std::memcpy(x, from, sizeof x);
    x[1] = -x[1];
    std::memcpy(to, x, sizeof x);
  }

  // ---- a line alone ----

  int64_t whole() const { return 2 * item_; }
  // The bytes that a complex transform of a line needs on one thread; the line itself lies behind them.
  int64_t work_bytes(const Plan& p) const {
    if (p.longer) return 2 * rounded(p.longer->n * whole()) + work_bytes(*p.longer);
    if (!p.rows) return transforms(wide_).bytes(p.whole->passes());
    return rounded(p.n * whole()) + block_bytes(p);
  }
  int64_t block_bytes(const Plan& p) const {
    return rounded(
        std::max(transforms(wide_).bytes(p.by_rows->passes()), transforms(wide_).bytes(p.by_columns->passes())));
  }
  static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64 + 64; }
  int64_t line_bytes() const {
    const bool own = kind_ == Kind::unpack || kind_ == Kind::mirror || kind_ == Kind::halve;
    return work_bytes(*plan_) + (own ? rounded(plan_->n * whole()) : 0);
  }

  lamella_status line(int64_t index, char* memory, bool shared) const {
    int64_t from, to;
    lines_.locate(index, &from, &to);
    char *x = in_data_ + from, *y = out_data_ + to;
    const Plan& p = *plan_;
    char* own = memory + work_bytes(p);
    const Side scratch = side(own, whole(), item_);
    lamella_status st = LAMELLA_OK;
    switch (kind_) {
      case Kind::complex:
        return transform(p, in_side(x), out_side(y), scale_, memory, shared);
      case Kind::pack:
        st = transform(p, in_side(x), out_side(y), scale_, memory, shared);
        transforms(wide_).pack(p.n, out_side(y), half_->roots.data());
        break;
      case Kind::halve:
        st = transform(p, in_side(x), scratch, scale_, memory, shared);
        for (int64_t k = 0; k <= n_ / 2; k++) std::memcpy(y + k * lines_.to, own + k * whole(), whole());
        break;
      case Kind::unpack:
        transforms(wide_).unpack(p.n, in_side(x), scratch, half_->roots.data());
        return transform(p, exchanged(scratch), exchanged(out_side(y)), scale_, memory, shared);
      case Kind::mirror:
        for (int64_t k = 0; k <= n_ / 2; k++) {
          if (k) std::memcpy(own + (n_ - k) * whole(), x + k * lines_.from, whole());
          wide_ ? conjugate<double>(x + k * lines_.from, own + k * whole())
                : conjugate<float>(x + k * lines_.from, own + k * whole());
        }
        std::memset(own + item_, 0, item_);
        return transform(p, scratch, out_side(y), scale_, memory, shared);
    }
    if (!st && full_) fill(&y, 1);
    return st;
  }

  template <class Body>
  static lamella_status each(int64_t count, int64_t bytes, char* memory, bool shared, Body&& body) {
    if (!shared) {
      for (int64_t i = 0; i < count; i++) body(i, memory);
      return LAMELLA_OK;
    }
    return parallel_for(0, count, 2, [&](int64_t b, int64_t e) -> lamella_status {
      Space space;
      if (lamella_status st = space.take(bytes)) return st;
      for (int64_t i = b; i < e; i++) body(i, space.data());
      return LAMELLA_OK;
    });
  }

  // A complex transform of one line, by four steps, or by a convolution, or in one lane of a block.
  lamella_status transform(const Plan& p, const Side& in, const Side& out, double scale, char* memory,
                           bool shared) const {
    const Transforms& t = transforms(wide_);
    if (p.longer) return convolve(p, in, out, scale, memory, shared);
    if (!p.rows) {
      t.block({&p.whole->passes(), Kind::complex, 1, in, out, scale, nullptr, nullptr}, memory);
      return LAMELLA_OK;
    }
    char* const turned = memory;
    char* const work = memory + rounded(p.n * whole());
    const int64_t bytes = block_bytes(p), vectors = 2 * lanes_ * item_;
    auto count = [&](int64_t lines) { return (lines + lanes_ - 1) / lanes_; };
    auto lanes = [&](int64_t i, int64_t lines) {
      return static_cast<int>(std::min<int64_t>(lanes_, lines - i * lanes_));
    };
    lamella_status st = each(count(p.columns), bytes, work, shared, [&](int64_t i, char* space) {
      Block b = {&p.by_columns->passes(),
                 Kind::complex,
                 lanes(i, p.columns),
                 {},
                 {},
                 1,
                 nullptr,
                 p.twiddles.data() + i * p.rows * vectors};
      for (int l = 0; l < b.lanes; l++) {
        b.in.at[l] = in.at[0] + (i * lanes_ + l) * in.step;
        b.out.at[l] = turned + (i * lanes_ + l) * whole();
      }
      b.in.step = in.step * p.columns;
      b.in.imag = in.imag;
      b.out.step = whole() * p.columns;
      b.out.imag = item_;
      t.block(b, space);
    });
    if (st) return st;
    return each(count(p.rows), bytes, work, shared, [&](int64_t i, char* space) {
      Block b = {&p.by_rows->passes(), Kind::complex, lanes(i, p.rows), {}, {}, scale, nullptr, nullptr};
      for (int l = 0; l < b.lanes; l++) {
        b.in.at[l] = turned + (i * lanes_ + l) * p.columns * whole();
        b.out.at[l] = out.at[0] + (i * lanes_ + l) * out.step;
      }
      b.in.step = whole();
      b.in.imag = item_;
      b.out.step = out.step * p.rows;
      b.out.imag = out.imag;
      t.block(b, space);
    });
  }

  lamella_status convolve(const Plan& p, const Side& in, const Side& out, double scale, char* memory,
                          bool shared) const {
    return wide_ ? convolve_in<double>(p, in, out, scale, memory, shared)
                 : convolve_in<float>(p, in, out, scale, memory, shared);
  }
  template <class T>
  lamella_status convolve_in(const Plan& p, const Side& in, const Side& out, double scale, char* memory,
                             bool shared) const {
    const int64_t m = p.longer->n;
    char *first = memory, *second = memory + rounded(m * whole()), *work = second + rounded(m * whole());
    auto *a = reinterpret_cast<T*>(first), *b = reinterpret_cast<T*>(second);
    const auto *chirp = reinterpret_cast<const T*>(p.chirp.data()),
               *filter = reinterpret_cast<const T*>(p.filter.data());
    auto times = [](T xr, T xi, const T* w, T* to) {
      to[0] = xr * w[0] - xi * w[1];
      to[1] = xr * w[1] + xi * w[0];
    };
    for (int64_t k = 0; k < p.n; k++) {
      const char* at = in.at[0] + k * in.step;
      T re, im = 0;
      std::memcpy(&re, at, sizeof re);
      if (in.imag) std::memcpy(&im, at + in.imag, sizeof im);
      times(re, im, chirp + 2 * k, a + 2 * k);
    }
    std::fill(a + 2 * p.n, a + 2 * m, T(0));
    const Side x = side(first, whole(), item_), y = side(second, whole(), item_);
    if (lamella_status st = transform(*p.longer, x, y, 1, work, shared)) return st;
    for (int64_t k = 0; k < m; k++) times(b[2 * k], b[2 * k + 1], filter + 2 * k, b + 2 * k);
    if (lamella_status st = transform(*p.longer, exchanged(y), exchanged(x), scale, work, shared)) return st;
    for (int64_t k = 0; k < p.n; k++) {
      T z[2];
      times(a[2 * k], a[2 * k + 1], chirp + 2 * k, z);
      char* at = out.at[0] + k * out.step;
      std::memcpy(at, &z[0], sizeof(T));
      if (out.imag) std::memcpy(at + out.imag, &z[1], sizeof(T));
    }
    return LAMELLA_OK;
  }

  const Sort sort_;
  const Lines lines_;
  const int64_t n_;
  const bool inverse_, full_;
  const double scale_;
  char *in_data_, *out_data_;
  int64_t in_item_, out_item_, item_;
  int lanes_;
  bool wide_;
  Kind kind_;
  std::shared_ptr<const Plan> plan_;
  std::shared_ptr<const HalfRoots> half_;
};

double scale_of(const lamella_tensor* t, IntArrayRef dims, int64_t normalization) {
  double n = 1;
  for (int64_t d : dims) n *= static_cast<double>(t->dl.shape[wrapped_dim(d, t->dl.ndim)]);
  return normalization == 0 ? 1 : normalization == 1 ? 1 / std::sqrt(n) : 1 / n;
}

// Calls body(in, out, first) for parts of the first dimension that fit into a cache, or once if that dimension or no
// other one is transformed. Four parts or more are shared among the threads; of fewer parts the lines are.
template <class Body>
lamella_status by_chunks(const lamella_tensor* in, const lamella_tensor* out, IntArrayRef dims, Body&& body) {
  bool batch = dims.size() > 1 && out->dl.ndim > 1;
  for (int64_t d : dims) batch &= wrapped_dim(d, out->dl.ndim) != 0;
  const int64_t n = out->dl.shape[0], bytes = out->numel * itemsize(out);
  if (!batch || n == 0 || bytes <= chunk_bytes) return body(in, out, 0);
  const int64_t step = std::max<int64_t>(1, n * chunk_bytes / bytes), chunks = (n + step - 1) / step;
  return parallel_for(0, chunks, chunks < 4 ? chunks : 1, [&](int64_t b, int64_t e) -> lamella_status {
    for (int64_t i = b * step; i < e * step && i < n; i += step) {
      Part x(in), y(out);
      x.narrow(0, i, std::min(step, n - i));
      y.narrow(0, i, std::min(step, n - i));
      if (lamella_status st = body(&x.t, &y.t, i)) return st;
      if (lamella_status st = api().check_interrupt()) return st;
    }
    return LAMELLA_OK;
  });
}

int64_t length(const lamella_tensor* t, int64_t dim) { return t->dl.shape[wrapped_dim(dim, t->dl.ndim)]; }

// Writes the complex transform of `in` along `dims`, from the last one to the first, to `out`.
lamella_status complex_along(const lamella_tensor* in, const lamella_tensor* out, IntArrayRef dims, bool forward,
                             double scale) {
  for (size_t i = dims.size(); i-- > 0;) {
    const int dim = wrapped_dim(dims[i], out->dl.ndim);
    if (lamella_status st = Axis(Axis::c2c, in, out, dim, out->dl.shape[dim], !forward, false, scale).run()) return st;
    in = out;
    scale = 1;
  }
  return LAMELLA_OK;
}

Status fft_c2c(const Tensor& self, IntArrayRef dims, int64_t normalization, bool forward, const Tensor& out) {
  if (out.numel() == 0) return LAMELLA_OK;
  if (dims.empty()) return copy_into(out.get(), self.get());
  const double scale = scale_of(self.get(), dims, normalization);
  return by_chunks(self.get(), out.get(), dims, [&](const lamella_tensor* x, const lamella_tensor* y, int64_t) {
    return complex_along(x, y, dims, forward, scale);
  });
}

Status fft_r2c(const Tensor& self, IntArrayRef dims, int64_t normalization, bool onesided, const Tensor& out) {
  if (out.numel() == 0) return LAMELLA_OK;
  const int last = wrapped_dim(dims.back(), self.dim());
  // In a Side, the distance 0 between two parts means that there are no imaginary parts; so such a tensor is copied.
  const Operand packed(self.get(), self.get()->dtype, self.get()->dl.strides[last] != 0 || is_contiguous(self.get()));
  const double scale = scale_of(self.get(), dims, normalization);
  return by_chunks(
      packed.get(), out.get(), dims, [&](const lamella_tensor* x, const lamella_tensor* y, int64_t) -> lamella_status {
        if (lamella_status st = Axis(Axis::r2c, x, y, last, length(x, last), false, !onesided, scale).run()) return st;
        return complex_along(y, y, {dims.data(), dims.size() - 1}, true, 1);
      });
}

Status fft_c2r(const Tensor& self, IntArrayRef dims, int64_t normalization, int64_t last_dim_size, const Tensor& out) {
  if (out.numel() == 0) return LAMELLA_OK;
  const int last = wrapped_dim(dims.back(), self.dim());
  const double scale = scale_of(out.get(), dims, normalization);
  const IntArrayRef others(dims.data(), dims.size() - 1);
  Tensor made;
  const lamella_tensor* from = self.get();
  if (!others.empty()) {
    made = allocate_like(self.get(), self.get()->dtype);
    from = made.get();
  }
  auto chunk = [&](const lamella_tensor* x, const lamella_tensor* y, int64_t first) -> lamella_status {
    Part z(others.empty() ? x : from);
    if (!others.empty()) {
      z.narrow(0, first, x->dl.shape[0]);
      if (lamella_status st = complex_along(x, &z.t, others, false, 1)) return st;
    }
    return Axis(Axis::c2r, &z.t, y, last, last_dim_size, true, false, scale).run();
  };
  return by_chunks(self.get(), out.get(), dims, chunk);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<fft_c2c>(m, "_fft_c2c");
  add<fft_r2c>(m, "_fft_r2c");
  add<fft_c2r>(m, "_fft_c2r");
}

}  // namespace lamella::cpu
