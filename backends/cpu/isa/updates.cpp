// The optimizers' updates over runs of numbers. Note [Instruction sets]: isa.h.
#include "backends/cpu/updates.h"

#include "backends/cpu/isa/lanes.h"

namespace lamella::cpu {
namespace {

using namespace updates;

template <unsigned V>
struct Variant {
  constexpr operator unsigned() const { return V; }
};

template <class U, unsigned V, class T>
void run(int64_t n, char* const* at, double up_or_down, const Plan& plan) {
  constexpr bool has[most_state] = {U::lists > 2 && U::holds(V, 0), U::lists > 3 && U::holds(V, 1),
                                    U::lists > 4 && U::holds(V, 2)};
  T* p = reinterpret_cast<T*>(at[0]);
  const T* g = reinterpret_cast<const T*>(at[1]);
  T* a = has[0] ? reinterpret_cast<T*>(at[2]) : nullptr;
  T* b = has[1] ? reinterpret_cast<T*>(at[3]) : nullptr;
  T* c = has[2] ? reinterpret_cast<T*>(at[4]) : nullptr;
  T factors[most_factors];
  for (int k = 0; k < most_factors; k++) factors[k] = static_cast<T>(plan.factors[k]);
  const T decay = static_cast<T>(plan.decay), sign = static_cast<T>(up_or_down);
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    T s[most_state] = {}, x = p[i];
    if (has[0]) s[0] = a[i];
    if (has[1]) s[1] = b[i];
    if (has[2]) s[2] = c[i];
    step<U>(Variant<V>{}, x, g[i] * sign, s, decay, static_cast<const T*>(factors));
    p[i] = x;
    if (has[0]) a[i] = s[0];
    if (has[1]) b[i] = s[1];
    if (has[2]) c[i] = s[2];
  }
}

template <class U, class T, unsigned V = 0>
LAMELLA_INLINE UpdateLoop of(unsigned variant) {
  if (variant == V) return run<U, V, T>;
  if constexpr (V + 1 < U::variants)
    return of<U, T, V + 1>(variant);
  else
    return nullptr;
}

}  // namespace

namespace LAMELLA_ISA {

UpdateLoop update_loop(int number, unsigned variant, int dtype) {
#define LAMELLA_LOOP_OF(U) \
  if (number == number_##U) return dtype == LAMELLA_FLOAT64 ? of<U, double>(variant) : of<U, float>(variant);
  LAMELLA_UPDATES(LAMELLA_LOOP_OF)
#undef LAMELLA_LOOP_OF
  return nullptr;
}

}  // namespace LAMELLA_ISA
}  // namespace lamella::cpu
