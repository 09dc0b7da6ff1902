// Extrema of runs and columns, their positions, and both extrema at once. Note [Instruction sets]: isa.h.
#include "backends/cpu/isa/extrema.h"

namespace lamella::cpu {
namespace {

// ---- positions of extrema: the first of equals, the first NaN -------------------------------------------------------

template <class T, bool Max>
struct Position {
  struct Best {
    T value;
    int64_t index;
  };
  using Index = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;

  static inline bool beats(T x, T best) {
    return Max ? (x > best) | ((x != x) & (best == best)) : (x < best) | ((x != x) & (best == best));
  }
  static inline void offer(Best& best, T value, int64_t index) {
    if (best.index < 0 || beats(value, best.value)) best = {value, index};
  }

  static void start(int64_t n, void* acc) {
    for (int64_t i = 0; i < n; i++) static_cast<Best*>(acc)[i] = {Max ? lowest<T>() : highest<T>(), -1};
  }

  // Computes each chunk's extremum, and its position only if the extremum is better than those before.
  static void run(int64_t n, const void* data, int64_t first, double, void* acc) {
    auto* x = static_cast<const T*>(data);
    Best& best = *static_cast<Best*>(acc);
    if (n < 32) {
      for (int64_t i = 0; i < n; i++) offer(best, x[i], first + i);
      return;
    }
    constexpr int64_t chunk = 1024;
    for (int64_t from = 0; from < n; from += chunk) {
      const int64_t m = n - from < chunk ? n - from : chunk;
      T found = Max ? lowest<T>() : highest<T>();
      Simple<Extremum<T, Max>>::shared_run(m, x + from, &found);
      if (best.index >= 0 && !beats(found, best.value)) continue;
      int64_t i = from;
      if (found == found)
        while (x[i] != found) i++;
      else
        while (x[i] == x[i]) i++;
      best = {found, first + i};
    }
  }

  static void columns(int64_t rows, const void* data, int64_t stride, int64_t width, int64_t first, double, void* acc) {
    auto* x = static_cast<const T*>(data);
    T value[fold_width];
    Index row[fold_width];
    for (int64_t k = 0; k < width; k++) value[k] = x[k];
    for (int64_t k = 0; k < width; k++) row[k] = 0;
    for (Index r = 1; r < rows; r++) {
      const T* at = x + r * stride;
#pragma omp simd
      for (int64_t k = 0; k < width; k++) {
        const bool wins = beats(at[k], value[k]);
        value[k] = wins ? at[k] : value[k];
        row[k] = wins ? r : row[k];
      }
    }
    if (rows > 0)
      for (int64_t k = 0; k < width; k++) offer(static_cast<Best*>(acc)[k], value[k], first + row[k]);
  }

  static void join(int64_t n, void* acc, const void* later) {
    auto* b = static_cast<const Best*>(later);
    for (int64_t k = 0; k < n; k++)
      if (b[k].index >= 0) offer(static_cast<Best*>(acc)[k], b[k].value, b[k].index);
  }

  static void finish(int64_t n, const void* acc, int64_t, double, void* out, void* second) {
    auto* a = static_cast<const Best*>(acc);
    for (int64_t k = 0; k < n; k++) static_cast<int64_t*>(out)[k] = a[k].index;
    if (second)
      for (int64_t k = 0; k < n; k++) static_cast<T*>(second)[k] = a[k].value;
  }

  static constexpr Fold table = {
      dtype_of<T>, {LAMELLA_INT64, dtype_of<T>}, sizeof(Best), true, start, run, columns, join, finish};
};

// ---- the smallest and the largest at once ---------------------------------------------------------------------------

template <class T>
struct MinMax {
  struct Both {
    T low, high;
  };
  using Low = Simple<Extremum<T, false>>;
  using High = Simple<Extremum<T, true>>;

  static void start(int64_t n, void* acc) {
    for (int64_t i = 0; i < n; i++) static_cast<Both*>(acc)[i] = {highest<T>(), lowest<T>()};
  }
  static void run(int64_t n, const void* data, int64_t, double, void* acc) {
    auto* x = static_cast<const T*>(data);
    auto* both = static_cast<Both*>(acc);
    constexpr int64_t chunk = 1024;  // stays in the cache for the second pass
    for (int64_t i = 0; i < n; i += chunk) {
      Low::shared_run(n - i < chunk ? n - i : chunk, x + i, &both->low);
      High::shared_run(n - i < chunk ? n - i : chunk, x + i, &both->high);
    }
  }
  static void columns(int64_t rows, const void* data, int64_t stride, int64_t width, int64_t, double, void* acc) {
    auto* x = static_cast<const T*>(data);
    T low[fold_width], high[fold_width];
    Low::start(width, low);
    High::start(width, high);
    for (int64_t r = 0; r < rows; r += 8) {
      const int64_t m = rows - r < 8 ? rows - r : 8;
      Low::shared_columns(m, x + r * stride, stride, width, low);
      High::shared_columns(m, x + r * stride, stride, width, high);
    }
    for (int64_t k = 0; k < width; k++) {
      const Both seen = {low[k], high[k]};
      join(1, static_cast<Both*>(acc) + k, &seen);
    }
  }
  static void join(int64_t n, void* acc, const void* later) {
    auto* a = static_cast<Both*>(acc);
    auto* b = static_cast<const Both*>(later);
    for (int64_t k = 0; k < n; k++) a[k] = {better<false>(a[k].low, b[k].low), better<true>(a[k].high, b[k].high)};
  }
  static void finish(int64_t n, const void* acc, int64_t, double, void* out, void* second) {
    for (int64_t k = 0; k < n; k++) {
      static_cast<T*>(out)[k] = static_cast<const Both*>(acc)[k].low;
      static_cast<T*>(second)[k] = static_cast<const Both*>(acc)[k].high;
    }
  }
  static constexpr Fold table = {
      dtype_of<T>, {dtype_of<T>, dtype_of<T>}, sizeof(Both), false, start, run, columns, join, finish};
};

template <class T>
using MaxFold = Simple<Extremum<T, true>>;
template <class T>
using MinFold = Simple<Extremum<T, false>>;
template <class T>
using ArgmaxFold = Position<T, true>;
template <class T>
using ArgminFold = Position<T, false>;

}  // namespace

namespace LAMELLA_ISA {

const Fold* extremum_fold(Reduce what, int dtype) {
  switch (what) {
    case Reduce::amax:
      return ordered<MaxFold>(dtype);
    case Reduce::amin:
      return ordered<MinFold>(dtype);
    case Reduce::aminmax:
      return ordered<MinMax>(dtype);
    case Reduce::argmax:
      return ordered<ArgmaxFold>(dtype);
    case Reduce::argmin:
      return ordered<ArgminFold>(dtype);
    default:
      return nullptr;
  }
}

}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
