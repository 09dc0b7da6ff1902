// Kernels that order elements: sorts, the first or the k-th elements of each row, the order of rows. The threads share
// the rows, or the buckets or halves of one long row.
#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "backends/cpu/gather.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/rows.h"
#include "backends/cpu/sort_loops.h"
#include "backends/cpu/space.h"

namespace lamella::cpu {
namespace {

// The check of one of a sort's threads whether to stop. The thread that finds an interrupt gets its status; the other
// threads stop with status 0.
struct Asker {
  std::atomic<bool>* stopped;
  lamella_status status = LAMELLA_OK;
  static bool ask(void* context) {
    auto* me = static_cast<Asker*>(context);
    if (me->stopped->load(std::memory_order_relaxed)) return true;
    me->status = api().check_interrupt();
    if (me->status) me->stopped->store(true, std::memory_order_relaxed);
    return me->status != LAMELLA_OK;
  }
  Halt halt() { return {ask, this}; }
};

// Returns an element by its number in row-major order.
char* element(const lamella_tensor* t, int64_t number) {
  int64_t offset = 0;
  for (int d = t->dl.ndim - 1; d >= 0; d--) {
    offset += number % t->dl.shape[d] * t->dl.strides[d];
    number /= t->dl.shape[d];
  }
  return static_cast<char*>(t->dl.data) + offset * itemsize(t);
}

struct Sort {
  const lamella_tensor *in, *values, *indices;
  bool descending;
  Rows rows;
  SortLoops loops;
  int digits;
  uint64_t base = 0;

  Sort(const lamella_tensor* self, int64_t dim, bool descending, const Tensor& values, const Tensor& indices)
      : in(self),
        values(values.get()),
        indices(indices.get()),
        descending(descending),
        rows(self, wrapped_dim(dim, self->dl.ndim)),
        loops(sort_table().wide[self->dtype]),
        digits(loops.digits) {
    if (rows.length >= int64_t{1} << 32) return;
    if (digits <= 32) loops = sort_table().narrow[self->dtype];
  }

  // For one long row of integers, sets `base`, which is subtracted from the keys, to the smallest key: keys then have
  // fewer bits, and items may be narrow.
  void count_from_least() {
    if (digits < 32 || class_of(in->dtype) > LAMELLA_CLASS_INTEGRAL || rows.count != 1 || rows.length < 256 ||
        rows.length >> 32)
      return;
    uint64_t least, most;
    loops.range(rows.length, rows.start(in, 0), rows.stride(in), descending, &least, &most);
    base = least;
    digits = 64 - __builtin_clzll((most - least) | 1);
    if (digits <= 32) loops = sort_table().narrow[in->dtype];
  }

  void finish(int64_t row, int64_t begin, int64_t n, const char* items, bool hidden) const {
    const int64_t vs = rows.stride(values), xs = rows.stride(indices);
    loops.finish(n, items + begin * loops.item, descending, base, hidden ? rows.start(in, row) : nullptr,
                 rows.stride(in), rows.start(values, row) + begin * vs, vs,
                 reinterpret_cast<int64_t*>(rows.start(indices, row) + begin * xs), xs / 8);
  }
  bool finish(int64_t row, int64_t begin, int64_t n, const char* items, bool hidden, const Halt& halt) const {
    for (int64_t b = 0; b < n; b += sort_piece) {
      if (b && halt()) return false;
      finish(row, begin + b, std::min(sort_piece, n - b), items, hidden);
    }
    return true;
  }

  // Makes items of the elements [begin, begin + n) of a row and sorts them in a or b. Returns the one that holds the
  // result; null if the sort was stopped.
  char* sorted(int64_t row, int64_t begin, int64_t n, char* a, char* b, bool* hidden, const Halt& halt) const {
    const int64_t step = rows.stride(in);
    *hidden = false;
    for (int64_t i = 0; i < n; i += sort_piece) {
      if (i && halt()) return nullptr;
      *hidden |= loops.build(std::min(sort_piece, n - i), begin + i, rows.start(in, row) + (begin + i) * step, step,
                             descending, base, a + i * loops.item);
    }
    return static_cast<char*>(loops.sort(n, a, b, digits, halt));
  }

  lamella_status some_rows(int64_t begin, int64_t end) const {
    const int64_t n = rows.length, bytes = n * loops.item;
    Space work;
    if (lamella_status st = work.take(2 * bytes)) return st;
    char *a = work.data(), *b = a + bytes;
    std::atomic<bool> stopped{false};
    Asker asker{&stopped};
    for (int64_t row = begin; row < end; row++) {
      bool hidden;
      const char* items = sorted(row, 0, n, a, b, &hidden, asker.halt());
      if (!items || !finish(row, 0, n, items, hidden, asker.halt())) return asker.status;
    }
    return LAMELLA_OK;
  }

  // Sorts one long row: spreads the items over buckets by the highest bits of their keys, and sorts each bucket, which
  // mostly fits into the cache. Sets `uneven` and writes no result if a bucket would be too large.
  lamella_status buckets(int64_t row, bool* uneven) const {
    // Parts are short, since interrupts are checked only after a few of them.
    const int64_t parts = std::max<int64_t>(16, rows.length >> 18);
    const int64_t n = rows.length, bytes = n * loops.item, step = rows.stride(in);
    const int low = digits - sort_bucket_digits;
    Space work, counted;
    if (lamella_status st = work.take_touched(2 * bytes)) return st;
    if (lamella_status st = counted.take(parts * sort_buckets * 8)) return st;
    char *a = work.data(), *b = a + bytes;
    auto* places = reinterpret_cast<int64_t*>(counted.data());
    bool hidden = false;
    auto each = [&](auto&& body) {
      return parallel_for(0, parts, 1, [&](int64_t p, int64_t end) -> lamella_status {
        for (; p < end; p++) body(p, n * p / parts, n * (p + 1) / parts, places + p * sort_buckets);
        return LAMELLA_OK;
      });
    };
    auto build = [&](int64_t, int64_t begin, int64_t end, int64_t* counts) {
      char* items = a + begin * loops.item;
      if (loops.build(end - begin, begin, rows.start(in, row) + begin * step, step, descending, base, items))
        __atomic_store_n(&hidden, true, __ATOMIC_RELAXED);
      loops.count(end - begin, items, low, counts);
    };
    if (lamella_status st = each(build)) return st;
    int64_t at = 0, largest = 0;
    for (int64_t k = 0; k < sort_buckets; k++) {
      const int64_t first = at;
      for (int64_t p = 0; p < parts; p++) at += std::exchange(places[p * sort_buckets + k], at);
      largest = std::max(largest, at - first);
    }
    *uneven = largest > n / 4;
    if (*uneven) return LAMELLA_OK;
    auto spread = [&](int64_t, int64_t begin, int64_t end, int64_t* to) {
      loops.spread(end - begin, a + begin * loops.item, low, to, b);
    };
    if (lamella_status st = each(spread)) return st;
    const int64_t* ends = places + (parts - 1) * sort_buckets;
    auto first_of = [&](int64_t k) { return k ? ends[k - 1] : 0; };
    // The elements are cut into equal shares; a share sorts the buckets that begin in it. So the threads have equal
    // work, and the caller's thread, which alone checks for interrupts, works as long as the others.
    constexpr int64_t shares = 64;
    auto sort = [&](int64_t share, int64_t end) -> lamella_status {
      const int64_t from = n * share / shares, to = n * end / shares;
      for (int64_t k = from ? std::lower_bound(ends, ends + sort_buckets, from) - ends + 1 : 0;
           k < sort_buckets && first_of(k) < to; k++) {
        const int64_t begin = first_of(k), offset = begin * loops.item, m = ends[k] - begin;
        if (m == 0) continue;
        if (m > sort_piece / 4)
          if (lamella_status st = api().check_interrupt()) return st;
        const bool stayed = loops.bucket(m, b + offset, a + offset, low) == b + offset;
        finish(row, begin, m, stayed ? b : a, hidden);
      }
      return LAMELLA_OK;
    };
    return parallel_for(0, shares, 1, sort);
  }

  // Sorts a row on two threads: each sorts a half, then one merges from the front and one from the back.
  lamella_status halves(int64_t row) const {
    const int64_t n = rows.length, bytes = n * loops.item, cut[3] = {0, n / 2, n};
    Space work;
    if (lamella_status st = work.take(2 * bytes)) return st;
    char *a = work.data(), *b = a + bytes;
    std::atomic<bool> stopped{false};
    bool hidden[2] = {};
    char* done[2] = {};
    auto half = [&](int64_t begin, int64_t end) -> lamella_status {
      Asker asker{&stopped};
      for (int64_t h = begin; h < end; h++) {
        const int64_t at = cut[h] * loops.item;
        done[h] = sorted(row, cut[h], cut[h + 1] - cut[h], a + at, b + at, &hidden[h], asker.halt());
        if (!done[h]) return asker.status;
      }
      return LAMELLA_OK;
    };
    if (lamella_status st = parallel_for(0, 2, 1, half)) return st;
    if ((done[0] == a) != (done[1] == a + cut[1] * loops.item)) {  // moves both halves into one buffer
      if (done[0] == a)
        std::memcpy(b, a, cut[1] * loops.item), done[0] = b;
      else
        std::memcpy(a, b, cut[1] * loops.item), done[0] = a;
    }
    const char* from = done[0];
    char* to = from == a ? b : a;
    auto join = [&](int64_t begin, int64_t end) -> lamella_status {
      Asker asker{&stopped};
      for (int64_t h = begin; h < end; h++) {
        const bool merged = loops.merge(n, cut[1], from, to, cut[h], cut[h + 1], asker.halt());
        if (!merged || !finish(row, cut[h], cut[h + 1] - cut[h], to, hidden[0] || hidden[1], asker.halt()))
          return asker.status;
      }
      return LAMELLA_OK;
    };
    return parallel_for(0, 2, 1, join);
  }
};

Status sort(const Tensor& self, std::optional<bool>, int64_t dim, bool descending, const Tensor& values,
            const Tensor& indices) {
  if (self.get()->numel == 0) return LAMELLA_OK;
  Sort s(self.get(), dim, descending, values, indices);
  s.count_from_least();
  if (s.rows.length >= 1 << 15 && s.rows.count < 4) {
    for (int64_t row = 0; row < s.rows.count; row++) {
      bool uneven = s.digits < 16;
      if (!uneven)
        if (lamella_status st = s.buckets(row, &uneven)) return st;
      if (uneven)
        if (lamella_status st = s.halves(row)) return st;
    }
    return LAMELLA_OK;
  }
  if (s.rows.count == 1) return s.some_rows(0, 1);
  return parallel_for(0, s.rows.count, std::max<int64_t>(4096 / s.rows.length, 1),
                      [&](int64_t b, int64_t e) { return s.some_rows(b, e); });
}

Status topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool, const Tensor& values,
            const Tensor& indices) {
  if (values.get()->numel == 0) return LAMELLA_OK;
  const Sort s(self.get(), dim, largest, values, indices);
  const int64_t n = s.rows.length;
  const bool select = k <= n / 8;
  const int64_t room = select ? std::min(n, std::max<int64_t>(4 * k, 32)) : n, bytes = room * s.loops.item;
  auto some = [&](int64_t begin, int64_t end) -> lamella_status {
    Space work;
    if (lamella_status st = work.take(2 * bytes)) return st;
    char *x = work.data(), *y = x + bytes;
    for (int64_t row = begin; row < end; row++) {
      const char* from = s.rows.start(s.in, row);
      const int64_t step = s.rows.stride(s.in);
      if (select) {
        const bool hidden = s.loops.top(n, from, step, s.descending, k, room, x, y);
        s.finish(row, 0, k, x, hidden);
      } else {
        std::atomic<bool> stopped{false};
        Asker asker{&stopped};
        bool hidden;
        const char* items = s.sorted(row, 0, n, x, y, &hidden, asker.halt());
        if (!items || !s.finish(row, 0, k, items, hidden, asker.halt())) return asker.status;
      }
    }
    return LAMELLA_OK;
  };
  if (s.rows.count == 1) return some(0, 1);
  return parallel_for(0, s.rows.count, std::max<int64_t>(16384 / n, 1), some);
}

// Writes the k-th element of each row or, if `nan` and the row has a NaN, a NaN: its value and, unless `indices` is
// null, its index.
lamella_status picked(const lamella_tensor* self, int dim, int64_t k, bool nan, const lamella_tensor* values,
                      const lamella_tensor* indices) {
  const Rows rows(self, dim);
  const int64_t n = rows.length, step = rows.stride(self);
  const SortLoops& loops =
      (n < int64_t{1} << 32 && itemsize(self) <= 4 ? sort_table().narrow : sort_table().wide)[self->dtype];
  const bool sorts = n > sort_piece;  // a sort checks for interrupts, selecting does not
  auto some = [&](int64_t begin, int64_t end) -> lamella_status {
    std::atomic<bool> stopped{false};
    Asker asker{&stopped};
    Space work;
    if (lamella_status st = work.take((sorts ? 2 : 1) * n * loops.item)) return st;
    for (int64_t row = begin; row < end; row++) {
      char *in = rows.start(self, row), *items = work.data();
      bool hidden = false;
      for (int64_t i = 0; i < n; i += sort_piece) {
        if (i && asker.halt()()) return asker.status;
        hidden |= loops.build(std::min(sort_piece, n - i), i, in + i * step, step, false, 0, items + i * loops.item);
      }
      int64_t at = k;
      if (sorts) {
        items = static_cast<char*>(loops.sort(n, items, items + n * loops.item, loops.digits, asker.halt()));
        if (!items) return asker.status;
        if (nan && hidden && loops.kth(2, items + (n - 2) * loops.item, 0, true) == 1) at = n - 1;
      } else {
        at = loops.kth(n, items, k, nan && hidden);
      }
      int64_t unused;
      loops.finish(1, items + at * loops.item, false, 0, hidden ? in : nullptr, step, element(values, row), 0,
                   indices ? reinterpret_cast<int64_t*>(element(indices, row)) : &unused, 0);
    }
    return LAMELLA_OK;
  };
  return rows.count == 1 ? some(0, 1) : parallel_for(0, rows.count, std::max<int64_t>(16384 / n, 1), some);
}

Status kthvalue(const Tensor& self, int64_t k, int64_t dim, bool, const Tensor& values, const Tensor& indices) {
  if (self.get()->numel == 0) return LAMELLA_OK;
  return picked(self.get(), wrapped_dim(dim, self.dim()), k - 1, false, values.get(), indices.get());
}

Status median_dim(const Tensor& self, int64_t dim, bool, const Tensor& values, const Tensor& indices) {
  const lamella_tensor* in = self.get();
  if (in->numel == 0) return LAMELLA_OK;
  const int d = wrapped_dim(dim, in->dl.ndim);
  return picked(in, d, ((in->dl.ndim ? in->dl.shape[d] : 1) - 1) / 2, true, values.get(), indices.get());
}

Status median(const Tensor& self, const Tensor& out) {
  const lamella_tensor* in = self.get();
  if (in->numel == 0) return fill_with(std::nan(""), out.get());
  Space packed;
  lamella_tensor row = *in;
  int64_t stride = 1;
  if (!is_contiguous(in)) {
    if (lamella_status st = packed.take(in->numel * itemsize(in))) return st;
    int64_t strides[LAMELLA_MAX_DIMS], step = 1;
    for (int d = in->dl.ndim - 1; d >= 0; d--) {
      strides[d] = step;
      step *= in->dl.shape[d];
    }
    row.dl.data = packed.data();
    row.dl.strides = strides;
    row.flags = LAMELLA_CONTIGUOUS;
    if (lamella_status st = copy_into(&row, in)) return st;
  }
  row.dl.ndim = 1;
  row.dl.shape = &row.numel;
  row.dl.strides = &stride;
  return picked(&row, 0, (row.numel - 1) / 2, true, out.get(), nullptr);
}

// Orders rows by their first column, then rows that are equal so far by the next column.
Status row_order(const Tensor& self, const Tensor& out) {
  struct Alike {
    int64_t begin, end, column;
  };
  constexpr int64_t few = 48;
  const lamella_tensor* rows = self.get();
  const int64_t n = rows->dl.shape[0], width = rows->dl.shape[1], item = itemsize(rows);
  const int64_t row = rows->dl.strides[0] * item, column = rows->dl.strides[1] * item;
  const auto* in = static_cast<const char*>(rows->dl.data);
  auto* order = static_cast<int64_t*>(out.get()->dl.data);
  std::iota(order, order + n, 0);
  if (rows->numel == 0) return LAMELLA_OK;
  const SortLoops& loops = sort_table().wide[rows->dtype];
  const auto pick = index_loops().pick[log2_item(item)];
  Space items, columns;
  if (lamella_status st = items.take(2 * n * loops.item)) return st;
  if (lamella_status st = columns.take(n * (item + 8))) return st;
  auto* numbers = reinterpret_cast<int64_t*>(columns.data());
  char* values = columns.data() + n * 8;
  std::vector<Alike> todo;
  auto add = [&](int64_t begin, int64_t end, int64_t k) {
    if (end - begin > few)
      todo.push_back({begin, end, k});
    else if (end - begin > 1)
      loops.order_few(end - begin, width - k, in + k * column, row, column, order + begin);
  };
  for (add(0, n, 0); !todo.empty();) {
    if (lamella_status st = api().check_interrupt()) return st;
    const auto [begin, end, k] = todo.back();
    todo.pop_back();
    const int64_t m = end - begin;
    int64_t* part = order + begin;
    pick({m, const_cast<char*>(in) + k * column, 0, reinterpret_cast<char*>(part), 8, values, item},
         {INT64_MAX, 0, row});
    loops.build(m, 0, values, item, false, 0, items.data());
    const void* sorted = loops.sort(m, items.data(), items.data() + n * loops.item, loops.digits, {});
    loops.finish(m, sorted, false, 0, nullptr, 0, values, item, numbers, 1);  // equal ones have equal bits now
    for (int64_t i = 0; i < m; i++) numbers[i] = part[numbers[i]];
    std::copy(numbers, numbers + m, part);
    for (int64_t i = 0, j; i < m && k + 1 < width; i = j) {
      for (j = i + 1; j < m && std::memcmp(values + i * item, values + j * item, item) == 0; j++) {
      }
      add(begin + i, begin + j, k + 1);
    }
  }
  return LAMELLA_OK;
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<sort>(m, "sort.stable");
  add<topk>(m, "topk");
  add<kthvalue>(m, "kthvalue");
  add<median>(m, "median");
  add<median_dim>(m, "median.dim");
  add<row_order>(m, "_row_order");
}

}  // namespace lamella::cpu
