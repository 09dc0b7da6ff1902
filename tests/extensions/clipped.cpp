// A pointwise operator; its header <lamella/pointwise.h> is included after extension.h.
#include <lamella/extension.h>
// after extension.h
#include <lamella/pointwise.h>

using namespace lamella::pointwise;

struct clipped : Pointwise<1, FLOAT> {
  template <class T>
  static T apply(T x) {
    const T one = number<T>(1);
    return where(x > one, one, where(x < -one, -one, x)) * exp_(abs_(x) * number<T>(0));
  }
};

LAMELLA_LIBRARY(NAMESPACE, m) { lamella::define_pointwise<clipped>(m, "clipped(Tensor self) -> Tensor"); }
