// cumsum and cumprod: the walk over the lines. scans.h has the loops over the elements.
#include "backends/cpu/scans.h"

#include <algorithm>

#include "backends/cpu/kernels.h"
#include "backends/cpu/lines.h"
#include "backends/cpu/loops.h"

namespace lamella::cpu {
namespace {

constexpr int64_t block = 16384;  // elements of a long line that share a carry; the carries are joined in order
constexpr int64_t tile = 512;

const Scan* scan_of(bool product, int dtype) {
  static const auto chosen = LAMELLA_BY_ISA(scan);
  return chosen(product, dtype);
}

class Scanner {
 public:
  Scanner(lamella_frame* f, bool product, const lamella_tensor* in, const lamella_tensor* out, int dim)
      : frame_(f), in_(in), out_(out), lines_(in, out, dim) {
    const bool half = out->dtype == LAMELLA_FLOAT16 || out->dtype == LAMELLA_BFLOAT16;
    work_ = out->dtype;
    if (out->dtype == LAMELLA_BOOL) work_ = LAMELLA_INT64;
    if (half) work_ = LAMELLA_FLOAT32;
    scan_ = scan_of(product, work_);
    plain_ = in->dtype == work_ && out->dtype == work_;
    bytes_ = work_ == LAMELLA_INT64 ? 8 : work_ == out->dtype ? itemsize(out) : 4;
  }

  lamella_status run() {
    if (lines_.count == 0 || n_ == 0) return LAMELLA_OK;
    if (int64_t width = lines_.side_by_side(itemsize(in_), itemsize(out_)); width > 1) return by_columns(width);
    if (lines_.count == 1 && n_ > 2 * block && plain_ && from_ == bytes_ && to_ == bytes_) return one_line();
    return parallel_for(0, lines_.count, std::max<int64_t>(1, grain / (n_ + 8)),
                        [&](int64_t b, int64_t e) -> lamella_status {
                          for (int64_t i = b; i < e; i++) {
                            int64_t in, out;
                            lines_.locate(i, &in, &out);
                            if (lamella_status st = line(in_data() + in, out_data() + out)) return st;
                          }
                          return LAMELLA_OK;
                        });
  }

 private:
  struct alignas(16) Carry {
    char bytes[16];
  };

  const char* in_data() const { return static_cast<const char*>(in_->dl.data); }
  char* out_data() const { return static_cast<char*>(out_->dl.data); }

  // Reads elements in the dtype of the work, rounded to the output's dtype first.
  void read(int64_t n, char* to, const char* from, int64_t stride) const {
    const auto& cast = loops().cast;
    if (work_ == out_->dtype || in_->dtype == out_->dtype) return cast[in_->dtype][work_](n, to, bytes_, from, stride);
    alignas(16) char rounded[tile * 2];
    const int64_t item = itemsize(out_);
    for (int64_t i = 0; i < n; i += tile) {
      const int64_t m = std::min(tile, n - i);
      cast[in_->dtype][out_->dtype](m, rounded, item, from + i * stride, stride);
      cast[out_->dtype][work_](m, to + i * bytes_, bytes_, rounded, item);
    }
  }

  lamella_status line(const char* x, char* y) const {
    Carry offset, carry;
    scan_->start(1, &offset);
    for (int64_t from = 0; from < n_; from += block) {
      scan_->start(1, &carry);
      piece(std::min(block, n_ - from), x + from * from_, y + from * to_, &offset, &carry);
      scan_->join(&offset, &carry);
      if (from / block % 64 == 63)
        if (lamella_status st = api().check_interrupt()) return st;
    }
    return LAMELLA_OK;
  }

  void piece(int64_t n, const char* x, char* y, const Carry* offset, Carry* carry) const {
    if (plain_ && from_ == bytes_ && to_ == bytes_) return scan_->row(n, x, y, offset, carry);
    alignas(64) char xs[tile * 16], ys[tile * 16];
    for (int64_t i = 0; i < n; i += tile) {
      const int64_t m = std::min(tile, n - i);
      read(m, xs, x + i * from_, from_);
      scan_->row(m, xs, ys, offset, carry);
      loops().cast[work_][out_->dtype](m, y + i * to_, to_, ys, bytes_);
    }
  }

  // Computes the totals of the blocks first, which give the start of each block; then the blocks, in any order.
  lamella_status one_line() const {
    bool alone = false;  // a single thread scans the line in one pass
    lamella_status st = parallel_for(0, 2, 1, [&](int64_t b, int64_t e) -> lamella_status {
      if (e - b == 2) {
        alone = true;
        return line(in_data(), out_data());
      }
      return LAMELLA_OK;
    });
    if (alone || st) return st;
    const int64_t blocks = (n_ + block - 1) / block;
    void* memory;
    if (lamella_status st = api().scratch(frame_, (blocks + 1) * static_cast<int64_t>(sizeof(Carry)), &memory))
      return st;
    auto* starts = static_cast<Carry*>(memory);
    auto each = [&](auto body) {
      return parallel_for(0, blocks, 2, [&](int64_t b, int64_t e) -> lamella_status {
        for (int64_t k = b; k < e; k++) body(k, std::min(block, n_ - k * block));
        return LAMELLA_OK;
      });
    };
    st = each([&](int64_t k, int64_t m) {
      scan_->start(1, &starts[k + 1]);
      scan_->total(m, in_data() + k * block * bytes_, nullptr, &starts[k + 1], &starts[k + 1]);
    });
    if (st) return st;
    scan_->start(1, &starts[0]);
    for (int64_t k = 0; k < blocks; k++) {
      Carry sum = starts[k];
      scan_->join(&sum, &starts[k + 1]);
      starts[k + 1] = sum;
    }
    return each([&](int64_t k, int64_t m) {
      Carry carry;
      scan_->start(1, &carry);
      scan_->row(m, in_data() + k * block * bytes_, out_data() + k * block * bytes_, &starts[k], &carry);
    });
  }

  lamella_status by_columns(int64_t width) const {
    const int64_t tiles = (width + tile - 1) / tile, items = lines_.count / width * tiles;
    return parallel_for(0, items, std::max<int64_t>(1, grain / (n_ * std::min(tile, width))),
                        [&](int64_t b, int64_t e) -> lamella_status {
                          for (int64_t item = b; item < e; item++) {
                            const int64_t first = item % tiles * tile;
                            int64_t in, out;
                            lines_.locate(item / tiles * width + first, &in, &out);
                            const int64_t n = std::min(tile, width - first);
                            if (lamella_status st = columns(n, in_data() + in, out_data() + out)) return st;
                          }
                          return LAMELLA_OK;
                        });
  }

  lamella_status columns(int64_t width, const char* x, char* y) const {
    Carry carry[tile];
    scan_->start(width, carry);
    const int64_t some = 64 * block / width;
    for (int64_t r = 0; r < n_; r += some) {
      if (r)
        if (lamella_status st = api().check_interrupt()) return st;
      rows(std::min(some, n_ - r), width, x + r * from_, y + r * to_, carry);
    }
    return LAMELLA_OK;
  }

  void rows(int64_t count, int64_t width, const char* x, char* y, Carry* carry) const {
    if (plain_) return scan_->columns(count, width, x, from_ / bytes_, y, to_ / bytes_, carry);
    alignas(64) char xs[tile * 16], ys[tile * 16];
    for (int64_t r = 0; r < count; r++) {
      read(width, xs, x + r * from_, itemsize(in_));
      scan_->columns(1, width, xs, width, ys, width, carry);
      loops().cast[work_][out_->dtype](width, y + r * to_, itemsize(out_), ys, bytes_);
    }
  }

  lamella_frame* frame_;
  const lamella_tensor *in_, *out_;
  const Scan* scan_;
  int work_;
  bool plain_;
  int64_t bytes_;
  Lines lines_;
  const int64_t n_ = lines_.length, from_ = lines_.from, to_ = lines_.to;
};

template <bool Product>
Status scan(lamella_frame* f, const Tensor& self, int64_t dim, std::optional<ScalarType>, const Tensor& out) {
  return Scanner(f, Product, self.get(), out.get(), wrapped_dim(dim, self.dim())).run();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<scan<false>>(m, "cumsum");
  add<scan<true>>(m, "cumprod");
}

}  // namespace lamella::cpu
