#include "backends/cpu/fourier_plans.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <mutex>

namespace lamella::cpu::fourier {
namespace {

constexpr int64_t block_bytes = 1 << 18;  // lines whose blocks take less are not split where many lines fill the lanes
constexpr int64_t cached_bytes = 64 << 20;
constexpr size_t cached_plans = 64;

// The roots exp(-2 pi i k / n). Each is a product of two table entries, in a wider type than that of the lines.
template <class Wide>
class Roots {
 public:
  explicit Roots(int64_t n) : n_(n) {
    while ((int64_t{1} << (2 * shift_)) < n) shift_++;
    const int64_t low = int64_t{1} << shift_;
    for (int64_t k = 0; k < std::min(low, n); k++) low_.push_back(exact(k));
    for (int64_t k = 0; k < n; k += low) high_.push_back(exact(k));
  }
  void get(int64_t k, Wide* r, Wide* i) const {
    const Pair a = high_[k >> shift_], b = low_[k & ((int64_t{1} << shift_) - 1)];
    *r = a.r * b.r - a.i * b.i;
    *i = a.r * b.i + a.i * b.r;
  }

 private:
  struct Pair {
    Wide r, i;
  };
  // Reduces the angle to an eighth of the circle first, so that equal roots have equal parts.
  Pair exact(int64_t k) const {
    int64_t x = 8 * k;
    const bool below = x >= 4 * n_;
    if (below) x = 8 * n_ - x;
    const bool left = x >= 2 * n_;
    if (left) x -= 2 * n_;
    const bool over = x >= n_;
    if (over) x = 2 * n_ - x;
    const Wide angle =
        static_cast<Wide>(x) * static_cast<Wide>(0.78539816339744830961566084581987572L) / static_cast<Wide>(n_);
    Wide c = std::cos(angle), s = std::sin(angle);
    if (over) std::swap(c, s);
    if (left) {
      const Wide was = c;
      c = -s;
      s = was;
    }
    return {c, below ? s : -s};
  }
  int64_t n_;
  int shift_ = 0;
  std::vector<Pair> low_, high_;
};

// Complex numbers of the lines' type, from places k of the roots of n.
template <class T, class Place>
void fill(std::vector<char>* to, int64_t n, int64_t count, Place place) {
  using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  const Roots<Wide> roots(n);
  to->resize(count * 2 * sizeof(T));
  auto* at = reinterpret_cast<T*>(to->data());
  for (int64_t k = 0; k < count; k++) {
    Wide r, i;
    roots.get(place(k), &r, &i);
    at[2 * k] = static_cast<T>(r);
    at[2 * k + 1] = static_cast<T>(i);
  }
}
template <class Place>
std::vector<char> table(bool wide, int64_t n, int64_t count, Place place) {
  std::vector<char> t;
  wide ? fill<double>(&t, n, count, place) : fill<float>(&t, n, count, place);
  return t;
}

int64_t greatest_prime(int64_t n) {
  int64_t most = 1;
  for (int64_t p = 2; p * p <= n; p++)
    while (n % p == 0) {
      most = p;
      n /= p;
    }
  return std::max(n, most);
}

// Returns the least length with the factors 2, 3 and 5 that is not less than n and divisible by 64 if it is long.
int64_t good_length(int64_t n) {
  const int64_t unit = n < 256 ? 4 : 64, least = (n + unit - 1) / unit;
  int64_t best = 1;
  while (best < least) best *= 2;
  for (int64_t f = 1; f < best; f *= 5)
    for (int64_t t = f; t < best; t *= 3) {
      int64_t k = t;
      while (k < least) k *= 2;
      best = std::min(best, k);
    }
  return best * unit;
}

int64_t square_place(int64_t k, int64_t n) {  // k * k modulo 2 n
  return static_cast<int64_t>(static_cast<__int128>(k) * k % (2 * n));
}

// The transform of the chirp's conjugate, periodic with length m, divided by m.
std::vector<char> filter_of(int64_t n, int64_t m, bool wide) {
  const std::vector<char> chirp = table(true, 2 * n, n, [n](int64_t k) { return square_place(k, n); });
  const auto* c = reinterpret_cast<const double*>(chirp.data());
  std::vector<double> x(2 * m);
  for (int64_t k = 0; k < n; k++) {
    const int64_t other = k ? m - k : 0;
    x[2 * k] = x[2 * other] = c[2 * k];
    x[2 * k + 1] = x[2 * other + 1] = -c[2 * k + 1];
  }
  const PassPlan passes(m, true);
  const Transforms& t = transforms(true);
  std::vector<char> memory(t.bytes(passes.passes()) + 64);
  auto* aligned = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) & ~uintptr_t{63});
  Block b = {&passes.passes(), Kind::complex, 1, {}, {}, 1.0 / static_cast<double>(m), nullptr, nullptr};
  b.in = b.out = {{reinterpret_cast<char*>(x.data())}, 16, 8};
  t.block(b, aligned);
  std::vector<char> filter(2 * m * (wide ? 8 : 4));
  for (int64_t k = 0; k < 2 * m; k++)
    if (wide)
      reinterpret_cast<double*>(filter.data())[k] = x[k];
    else
      reinterpret_cast<float*>(filter.data())[k] = static_cast<float>(x[k]);
  return filter;
}

}  // namespace

const Transforms& transforms(bool wide) {
  static const auto chosen = LAMELLA_BY_ISA(fourier_transforms);
  return *chosen(wide);
}

PassPlan::PassPlan(int64_t n, bool wide) {
  passes_.n = n;
  auto keep = [this](std::vector<char> t) -> const void* {
    tables_.push_back(std::move(t));
    return tables_.back().data();
  };
  if (greatest_prime(n) > most_prime) {
    const int64_t m = good_length(2 * n - 1);
    longer_ = std::make_unique<PassPlan>(m, wide);
    passes_.longer = &longer_->passes();
    passes_.chirp = keep(table(wide, 2 * n, n, [n](int64_t k) { return square_place(k, n); }));
    passes_.filter = keep(filter_of(n, m, wide));
    return;
  }
  std::vector<int> radices;
  int64_t rest = n;
  while (rest % 8 == 0 && rest != 16) radices.push_back(8), rest /= 8;
  while (rest % 4 == 0) radices.push_back(4), rest /= 4;
  for (int64_t p = 2; rest > 1; p++)
    while (rest % p == 0) radices.push_back(static_cast<int>(p)), rest /= p;
  rest = n;
  for (int r : radices) {
    const int64_t m = rest / r, unit = n / rest;
    passes_.radix[passes_.count] = r;
    passes_.factors[passes_.count] =
        keep(table(wide, n, m * (r - 1), [=](int64_t k) { return k / (r - 1) * (k % (r - 1) + 1) * unit; }));
    passes_.roots[passes_.count++] = keep(table(wide, r, r, [](int64_t k) { return k; }));
    rest = m;
  }
}

int64_t PassPlan::bytes() const {
  int64_t sum = longer_ ? longer_->bytes() : 0;
  for (const auto& t : tables_) sum += static_cast<int64_t>(t.size());
  return sum;
}

Plan::Plan(int64_t n, bool wide) : n(n), wide(wide) {
  const int64_t lanes = transforms(wide).lanes;
  if (greatest_prime(n) > most_prime) {
    if (n < 1000) {
      whole = std::make_unique<PassPlan>(n, wide);
    } else {
      longer = std::make_unique<Plan>(good_length(2 * n - 1), wide);
      chirp = table(wide, 2 * n, n, [n](int64_t k) { return square_place(k, n); });
      filter = filter_of(n, longer->n, wide);
    }
    return;
  }
  whole = std::make_unique<PassPlan>(n, wide);
  if (n < 64) return;
  // Chooses the split whose blocks have the fewest elements, and among equal ones the nearest to a square.
  int64_t least = n * lanes;
  for (int64_t a = 2; a <= n / 2; a++) {
    if (n % a) continue;
    const int64_t b = n / a, all = ((b + lanes - 1) / lanes * a + (a + lanes - 1) / lanes * b) * lanes;
    if (all < least || (all == least && std::max(a, b) < std::max(rows, columns))) {
      least = all;
      rows = a;
      columns = b;
    }
  }
  if (!rows) return;
  by_rows = std::make_unique<PassPlan>(columns, wide);  // each row has as many elements as there are columns
  by_columns = std::make_unique<PassPlan>(rows, wide);
  const int64_t blocks = (columns + lanes - 1) / lanes, item = wide ? 8 : 4;
  const std::vector<char> pairs = table(wide, n, blocks * rows * lanes, [&](int64_t k) {
    const int64_t column = k / (rows * lanes) * lanes + transforms(wide).order(static_cast<int>(k % lanes)),
                  row = k / lanes % rows;
    return column * row % this->n;
  });
  twiddles.resize(pairs.size());
  for (int64_t k = 0; k < blocks * rows; k++)
    for (int64_t l = 0; l < lanes; l++)
      for (int64_t part = 0; part < 2; part++)
        std::copy_n(pairs.data() + ((k * lanes + l) * 2 + part) * item, item,
                    twiddles.data() + ((k * 2 + part) * lanes + l) * item);
}

int64_t Plan::bytes() const {
  int64_t sum = static_cast<int64_t>(twiddles.size() + chirp.size() + filter.size());
  for (const PassPlan* p : {whole.get(), by_rows.get(), by_columns.get()}) sum += p ? p->bytes() : 0;
  return sum + (longer ? longer->bytes() : 0);
}

HalfRoots::HalfRoots(int64_t n, bool wide) : roots(table(wide, 2 * n, n + 1, [](int64_t k) { return k; })) {}

namespace {

template <class P>
int64_t size_of(const P& p) {
  if constexpr (std::is_same_v<P, HalfRoots>)
    return static_cast<int64_t>(p.roots.size());
  else
    return p.bytes();
}

template <class P>
std::shared_ptr<const P> cached(int64_t n, bool wide) {
  struct Entry {
    int64_t n;
    bool wide;
    std::shared_ptr<const P> plan;
  };
  static std::mutex lock;
  static std::list<Entry>* const entries = new std::list<Entry>;  // the last used first; never destroyed
  static int64_t bytes = 0;
  auto find = [&]() -> std::shared_ptr<const P> {
    for (auto it = entries->begin(); it != entries->end(); ++it)
      if (it->n == n && it->wide == wide) {
        if (it != entries->begin()) entries->splice(entries->begin(), *entries, it);
        return it->plan;
      }
    return nullptr;
  };
  {
    const std::lock_guard<std::mutex> held(lock);
    if (auto p = find()) return p;
  }
  auto made = std::make_shared<const P>(n, wide);
  const int64_t size = size_of(*made);
  const std::lock_guard<std::mutex> held(lock);
  if (auto p = find()) return p;
  if (size > cached_bytes) return made;
  entries->push_front({n, wide, made});
  bytes += size;
  while (entries->size() > cached_plans || bytes > cached_bytes) {
    bytes -= size_of(*entries->back().plan);
    entries->pop_back();
  }
  return made;
}

}  // namespace

std::shared_ptr<const Plan> plan(int64_t n, bool wide) { return cached<Plan>(n, wide); }
std::shared_ptr<const HalfRoots> half_roots(int64_t n, bool wide) { return cached<HalfRoots>(n, wide); }

}  // namespace lamella::cpu::fourier
