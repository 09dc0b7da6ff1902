// Entries of COO tensors in order, each place once.
//
// Note [Keys]  On the host the indices of an entry become one number, each dimension in bits of its own, so that
//   numbers have the order of the indices and are taken apart by shifts. The entry's position stands in the bits
//   below. A radix sort by the bits of the key alone leaves entries of one place in their order, in which they are
//   added up. If the bits do not suffice, the composite sorts by one dimension after the other.
#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>

#include "products.h"
#include "rules.h"

namespace lamella::sparse {
namespace {

constexpr int64_t least_chunk = 1 << 14;  // the least number of entries of a chunk

struct Digits {
  int position_bits = 0, key_bits = 0;
  int bits[LAMELLA_MAX_DIMS] = {}, shift[LAMELLA_MAX_DIMS] = {};  // for each dimension, in the packed number
};

int width_of(int64_t n) { return n > 1 ? std::bit_width(static_cast<uint64_t>(n - 1)) : 0; }

Digits digits_of(IntArrayRef sizes, int64_t dims, int64_t n) {
  Digits d;
  d.position_bits = width_of(n);
  int at = d.position_bits;
  for (int64_t k = dims; k-- > 0;) {
    d.bits[k] = width_of(sizes[k]);
    d.shift[k] = at;
    at += d.bits[k];
  }
  d.key_bits = at - d.position_bits;
  return d;
}

// The chunks into which threads divide n entries.
struct Chunks {
  int64_t n, count, size;
  explicit Chunks(int64_t entries) : n(entries) {
    count = std::clamp<int64_t>(n / least_chunk, 1, 4 * static_cast<int64_t>(api().num_threads()));
    size = (n + count - 1) / count;
  }
  template <class Body>
  void each(Body body) const {
    parallel_for(0, count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; c++) body(c, std::min(c * size, n), std::min((c + 1) * size, n));
    });
  }
};

using Numbers = std::unique_ptr<uint64_t[]>;
Numbers numbers(int64_t n) { return Numbers(new uint64_t[std::max<int64_t>(n, 1)]); }

// Packs the indices and positions of all entries; raises for an index out of range. Returns whether they are in order.
bool pack(const int64_t* at, IntArrayRef sizes, int64_t dims, const Digits& d, const Chunks& chunks, uint64_t* to) {
  std::atomic<bool> bad{false}, ordered{true};
  const int64_t n = chunks.n;
  chunks.each([&](int64_t, int64_t begin, int64_t end) {
    bool wrong = false, sorted = true;
    for (int64_t i = begin; i < end; i++) to[i] = static_cast<uint64_t>(i);
    for (int64_t k = 0; k < dims; k++) {
      const auto size = static_cast<uint64_t>(sizes[k]);
      const int64_t* row = at + k * n;
      for (int64_t i = begin; i < end; i++) {
        wrong |= static_cast<uint64_t>(row[i]) >= size;
        to[i] |= static_cast<uint64_t>(row[i]) << d.shift[k];
      }
    }
    for (int64_t i = begin + 1; i < end; i++) sorted &= to[i - 1] < to[i];
    if (wrong) bad = true;
    if (!sorted) ordered = false;
  });
  LAMELLA_CHECK_INDEX(!bad, "argument 'indices': an index is out of range for size ", sizes);
  bool all = ordered;
  for (int64_t c = 1; c < chunks.count && all; c++) {
    const int64_t first = std::min(c * chunks.size, n);
    if (first < n) all = to[first - 1] < to[first];
  }
  return all;
}

// Sorts packed numbers by their keys. Returns the array that has the result.
uint64_t* radix_sort(uint64_t* a, uint64_t* b, const Digits& d, const Chunks& chunks) {
  const int passes = (d.key_bits + 9) / 10;
  for (int pass = 0, done = 0; pass < passes; pass++) {
    const int bits = (d.key_bits - done + (passes - pass) - 1) / (passes - pass);
    const int shift = d.position_bits + done;
    const int64_t buckets = int64_t{1} << bits;
    const uint64_t mask = static_cast<uint64_t>(buckets - 1);
    std::vector<int64_t> places(buckets * chunks.count, 0);
    chunks.each([&](int64_t c, int64_t begin, int64_t end) {
      int64_t* count = places.data() + c * buckets;
      for (int64_t i = begin; i < end; i++) count[a[i] >> shift & mask]++;
    });
    int64_t sum = 0;
    for (int64_t k = 0; k < buckets; k++)
      for (int64_t c = 0; c < chunks.count; c++) {
        const int64_t count = places[c * buckets + k];
        places[c * buckets + k] = sum;
        sum += count;
      }
    chunks.each([&](int64_t c, int64_t begin, int64_t end) {
      int64_t* place = places.data() + c * buckets;
      for (int64_t i = begin; i < end; i++) b[place[a[i] >> shift & mask]++] = a[i];
    });
    std::swap(a, b);
    done += bits;
  }
  return a;
}

template <class T>
struct Plus {
  using Element = T;
  static T sum(T a, T b) { return static_cast<T>(a + b); }
};
struct Or {
  using Element = uint8_t;
  static uint8_t sum(uint8_t a, uint8_t b) { return a | b; }
};

// Writes the sums of the entries of each place. `first[c]` is the number of places that begin before chunk c.
template <class Sum>
void add_up(const uint64_t* sorted, const Digits& d, const Chunks& chunks, const std::vector<int64_t>& first,
            int64_t dims, int64_t places, int64_t m, const void* values, int64_t* indices, void* out) {
  using T = typename Sum::Element;
  const auto* from = static_cast<const T*>(values);
  auto* to = static_cast<T*>(out);
  const uint64_t position = (uint64_t{1} << d.position_bits) - 1;
  const int64_t n = chunks.n;
  chunks.each([&](int64_t c, int64_t begin, int64_t end) {
    int64_t place = first[c], i = begin;
    while (i < end && i > 0 && sorted[i - 1] >> d.position_bits == sorted[i] >> d.position_bits) i++;
    while (i < end) {  // the last place of a chunk may go on in the next one
      const uint64_t key = sorted[i] >> d.position_bits;
      for (int64_t k = 0; k < dims; k++)
        indices[k * places + place] = static_cast<int64_t>(sorted[i] >> d.shift[k] & ((uint64_t{1} << d.bits[k]) - 1));
      const int64_t p = static_cast<int64_t>(sorted[i] & position);
      if (m == 1) {
        T s = from[p];
        while (++i < n && sorted[i] >> d.position_bits == key) s = Sum::sum(s, from[sorted[i] & position]);
        to[place] = s;
      } else {
        std::copy_n(from + p * m, m, to + place * m);
        while (++i < n && sorted[i] >> d.position_bits == key) {
          const T* more = from + static_cast<int64_t>(sorted[i] & position) * m;
          for (int64_t j = 0; j < m; j++) to[place * m + j] = Sum::sum(to[place * m + j], more[j]);
        }
      }
      place++;
    }
  });
}

template <class Body>
void with_sum(ScalarType t, Body body) {
  switch (t) {
    case kFloat:
      return body(Plus<float>{});
    case kDouble:
      return body(Plus<double>{});
    case kComplexFloat:
      return body(Plus<Complex<float>>{});
    case kComplexDouble:
      return body(Plus<Complex<double>>{});
    case kLong:
      return body(Plus<uint64_t>{});
    case kInt:
      return body(Plus<uint32_t>{});
    case kShort:
      return body(Plus<uint16_t>{});
    case kChar:
    case kByte:
      return body(Plus<uint8_t>{});
    case kBool:
      return body(Or{});
    default:
      throw Declined();
  }
}

std::tuple<Tensor, Tensor> coalesced_on_host(const Tensor& indices, const Tensor& values, IntArrayRef size) {
  check_entries(indices, values, size);
  const int64_t dims = indices.size(0), n = indices.size(1);
  const Digits d = digits_of(size, dims, n);
  if (!values.is_cpu() || d.key_bits + d.position_bits > 63) throw Declined();
  with_sum(values.dtype(), [](auto) {});
  const Tensor at = indices.contiguous(), from = values.contiguous();
  const Chunks chunks(n);
  const Numbers a = numbers(n), b = numbers(n);
  uint64_t* sorted = a.get();
  if (!pack(at.data_ptr<int64_t>(), size, dims, d, chunks, sorted)) sorted = radix_sort(sorted, b.get(), d, chunks);
  std::vector<int64_t> first(chunks.count + 1, 0);
  chunks.each([&](int64_t c, int64_t begin, int64_t end) {
    int64_t count = 0;
    for (int64_t i = begin; i < end; i++)
      count += i == 0 || sorted[i - 1] >> d.position_bits != sorted[i] >> d.position_bits;
    first[c + 1] = count;
  });
  for (int64_t c = 0; c < chunks.count; c++) first[c + 1] += first[c];
  const int64_t places = first[chunks.count];
  const Tensor out = lamella::empty({dims, places}, at.options());
  DimVector sizes(from.sizes());
  sizes[0] = places;
  const Tensor sums = lamella::empty(sizes, from.options());
  const int64_t m = n ? from.numel() / n : 1;
  if (n)
    with_sum(values.dtype(), [&](auto sum) {
      add_up<decltype(sum)>(sorted, d, chunks, first, dims, places, m, from.data_ptr(), out.data_ptr<int64_t>(),
                            sums.data_ptr());
    });
  return {out, sums};
}

std::tuple<Tensor, Tensor> coalesced_anywhere(const Tensor& indices, const Tensor& values, IntArrayRef size) {
  check_entries(indices, values, size);
  const int64_t dims = indices.size(0), n = indices.size(1);
  if (n < 2) return {indices.clone(), values.clone()};
  if (dims == 0) return {indices.narrow(1, 0, 1).clone(), values.sum({0}, true, values.dtype())};
  Tensor order;
  for (int64_t k = dims; k-- > 0;) {
    const Tensor row = indices.select(0, k);
    const Tensor by =
        std::get<1>(lamella::sort(order.defined() ? row.index_select(0, order) : row, std::optional<bool>(true), 0));
    order = order.defined() ? order.index_select(0, by) : by;
  }
  const Tensor sorted = indices.index_select(1, order);
  const Tensor changes = sorted.narrow(1, 1, n - 1).ne(sorted.narrow(1, 0, n - 1)).any(0);
  const Tensor begins = lamella::cat({lamella::ones({1}, changes.options()), changes});
  const Tensor place = begins.to(kLong).cumsum(0) - 1;
  const Tensor which = begins.nonzero().reshape({-1});
  DimVector sizes(values.sizes());
  sizes[0] = which.numel();
  const bool truth = values.dtype() == kBool;
  const Tensor from = truth ? values.to(kInt) : values;
  const Tensor sums = lamella::zeros(sizes, from.options()).index_add(0, place, from.index_select(0, order));
  return {sorted.index_select(1, which), truth ? sums.ne(0) : sums};
}

}  // namespace

void check_entries(const Tensor& indices, const Tensor& values, IntArrayRef size) {
  LAMELLA_CHECK(indices.dim() == 2 && indices.dtype() == kLong,
                "argument 'indices': expected int64 in 2 dimensions, got ", indices.dtype(), " of shape ",
                indices.sizes());
  LAMELLA_CHECK(values.dim() >= 1 && values.size(0) == indices.size(1), "argument 'values': shape ", values.sizes(),
                " does not begin with the number of entries, ", indices.size(1));
  LAMELLA_CHECK(static_cast<int64_t>(size.size()) >= indices.size(0), "argument 'size': has ", size.size(),
                " dimensions, and 'indices' name ", indices.size(0));
  LAMELLA_CHECK(size.size() <= LAMELLA_MAX_DIMS, "argument 'size': a tensor has at most ", LAMELLA_MAX_DIMS,
                " dimensions, got ", size.size());
  for (int64_t n : size) LAMELLA_CHECK(n >= 0, "argument 'size': must not have negative numbers, got ", size);
}

void register_sorting(Library& m) {
  m.define("coalesced(Tensor indices, Tensor values, int[] size) -> (Tensor places, Tensor sums)", nullptr, nullptr,
           "The places of entries in their order, each once, and the sum of the values at each place.\n\n"
           ">>> at = lamella.tensor([[1, 0, 1]])\n"
           ">>> lamella.ops.sparse.coalesced(at, lamella.tensor([1.0, 2.0, 3.0]), [2])\n"
           "(tensor([[0, 1]]), tensor([2., 4.]))\n");
  m.impl("coalesced", "backend", coalesced_on_host);
  m.impl("coalesced", "composite", coalesced_anywhere);
  m.derivative("coalesced", "values: index_select(grad1, 0, sparse::lookup(places, indices, size))");
}

}  // namespace lamella::sparse
