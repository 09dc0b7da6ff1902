/* Window: how the windows of a pool or of a convolution lie in an image. It holds plain numbers, so that it can also be
 * an argument of a kernel of any device. */
#ifndef LAMELLA_WINDOW_H
#define LAMELLA_WINDOW_H

#include <cstdint>

namespace lamella {

/* For each spatial dimension: the size of the image, the number of places that the window takes, its own size, and its
 * stride, padding and dilation. An image of fewer dimensions gets dimensions of size 1 in front. */
template <int Dims>
struct Window {
  int64_t image[Dims], places[Dims], kernel[Dims], stride[Dims], padding[Dims], dilation[Dims];
};

/* Returns the Window of an operator's arguments, which describe the last `spatial` dimensions. A list of one number
 * stands for all of them; an empty stride is the kernel, an empty padding 0, an empty dilation 1. `image` and `places`
 * have `spatial` sizes. */
template <int Dims, class List>
Window<Dims> window_of(int spatial, const int64_t* image, const int64_t* places, const List& kernel, const List& stride,
                       const List& padding, const List& dilation) {
  Window<Dims> w;
  const auto number = [](const List& list, int i, int64_t otherwise) {
    return list.empty() ? otherwise : list[list.size() == 1 ? 0 : static_cast<decltype(list.size())>(i)];
  };
  for (int d = 0; d < Dims; d++) {
    const int i = d - (Dims - spatial);
    const bool there = i >= 0;
    w.image[d] = there ? image[i] : 1;
    w.places[d] = there ? places[i] : 1;
    w.kernel[d] = there ? number(kernel, i, 1) : 1;
    w.stride[d] = there ? number(stride, i, w.kernel[d]) : 1;
    w.padding[d] = there ? number(padding, i, 0) : 0;
    w.dilation[d] = there ? number(dilation, i, 1) : 1;
  }
  return w;
}

} /* namespace lamella */

#endif
