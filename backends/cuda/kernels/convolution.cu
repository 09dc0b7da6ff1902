// Convolutions of contiguous images and their gradients, as products of matrices that are not built: each operand finds
// its elements in the images. See Note [Tiles] in product.cuh.
#include "images.h"
#include "parts.cuh"
#include "product.cuh"

// Turns a number below 2^31 into three coordinates.
DEVICE void take_apart(u32 n, const Quotient (&by)[3], i32 (&at)[3]) {
  const u32 q = divide(n, by[2]);
  at[2] = (i32)(n - q * by[2].by);
  const u32 p = divide(q, by[1]);
  at[1] = (i32)(q - p * by[1].by);
  at[0] = (i32)p;
}
// Returns the image of element n, and sets `rest` to its number in the image, below 2^31.
DEVICE i64 image_of(i64 n, i64 size, u32& rest) {
  const i64 image = n >> 31 ? n / size : (i64)((u32)n / (u32)size);
  rest = (u32)(n - image * size);
  return image;
}

// Where a column of a right operand begins: in memory, and by its coordinates.
template <class T>
struct Corner {
  const T* data;
  i32 origin[3];
};
// Turns number n into coordinates, and each of them into the origin's by of(coordinate, dimension).
template <class T, class Of>
DEVICE Corner<T> corner_of(const T* data, u32 n, const Quotient (&by)[3], Of of) {
  Corner<T> c;
  c.data = data;
  i32 at[3];
  take_apart(n, by, at);
#pragma unroll
  for (int d = 0; d < 3; d++) c.origin[d] = of(at[d], d);
  return c;
}

// Returns the element of one channel of an image at origin + count * step in each dimension, or 0 in the padding.
template <class T>
DEVICE Wide<T> element_of(const T* channel, const Images* s, const i32 (&origin)[3], const i32 (&count)[3],
                          const i32 (&step)[3]) {
  i64 offset = 0;
#pragma unroll
  for (int d = 0; d < 3; d++) {
    const i32 at = origin[d] + count[d] * step[d];
    if (at < 0 || at >= s->size[d]) return Wide<T>{};
    offset = offset * s->size[d] + at;
  }
  return wide(channel[offset]);
}

// The weight as the left matrix: rows are output channels, the depth are input channels and taps.
template <class T>
struct Weight {
  typedef const T* Cursor;
  const T* data;
  i64 row;
  bool depth_first;
  DEVICE Cursor begin(i64 i) const { return data + i * row; }
  DEVICE Wide<T> get(Cursor at, i64 k) const { return wide(at[k]); }
};

// The images as the right matrix: columns are places of results, the depth are input channels and taps.
template <class T>
struct Seen {
  typedef Corner<T> Cursor;
  const T* data;  // the group's first channel in the first image
  const Images* s;
  bool depth_first;
  DEVICE Cursor begin(i64 column) const {
    u32 place;
    const i64 image = image_of(column, s->spots, place);
    return corner_of(data + image * s->groups * s->in * s->positions, place, s->by_places,
                     [&](i32 at, int d) { return at * s->stride[d] - s->padding[d]; });
  }
  DEVICE Wide<T> get(const Cursor& c, i64 k) const {
    const u32 channel = divide((u32)k, s->by_taps);
    i32 tap[3];
    take_apart((u32)k - channel * s->by_taps.by, s->by_kernel, tap);
    return element_of(c.data + channel * s->positions, s, c.origin, tap, s->dilation);
  }
};

template <class T, int Side>
__global__ void __launch_bounds__(256) convolve(const T* in, const T* weight, const T* bias, T* out, Images s) {
  const i64 columns = s.images * s.spots, depth = s.in * s.taps;
  const Tile tile = tile_of_block<Side>(s.out, columns);  // tile.batch is the group
  const Weight<T> x = {weight + tile.batch * s.out * depth, depth, true};
  const Seen<T> y = {in + tile.batch * s.in * s.positions, &s, false};
  multiply_tile<Wide<T>, Side>(x, y, s.out, columns, 0, depth, tile.row, tile.column, [&](i64 i, i64 j, Wide<T> sum) {
    const i64 channel = tile.batch * s.out + i;
    u32 place;
    const i64 image = image_of(j, s.spots, place);
    if (bias) sum = sum + wide(bias[channel]);
    out[(image * s.groups * s.out + channel) * s.spots + place] = narrow<T>(sum);
  });
}

// ---- the input's gradient -------------------------------------------------------------------------------------------

// The weight as the left matrix of the input's gradient: rows are input channels, the depth output channels and taps.
template <class T>
struct Turned {
  typedef const T* Cursor;
  const T* data;
  const Images* s;
  bool depth_first;
  DEVICE Cursor begin(i64 i) const { return data + i * s->taps; }
  DEVICE Wide<T> get(Cursor at, i64 k) const {
    const u32 channel = divide((u32)k, s->by_taps);
    return wide(at[channel * s->in * s->taps + ((u32)k - channel * s->by_taps.by)]);
  }
};

// The output's gradients as the right matrix: columns are positions of the image, the depth output channels and taps.
// An element is the gradient of the place whose window has the position at the tap, or 0.
template <class T>
struct Returned {
  typedef Corner<T> Cursor;
  const T* data;
  const Images* s;
  bool depth_first;
  DEVICE Cursor begin(i64 column) const {
    u32 position;
    const i64 image = image_of(column, s->positions, position);
    return corner_of(data + image * s->groups * s->out * s->spots, position, s->by_size,
                     [&](i32 at, int d) { return at + s->padding[d]; });
  }
  DEVICE Wide<T> get(const Cursor& c, i64 k) const {
    const u32 channel = divide((u32)k, s->by_taps);
    i32 tap[3];
    take_apart((u32)k - channel * s->by_taps.by, s->by_kernel, tap);
    i64 offset = 0;
#pragma unroll
    for (int d = 0; d < 3; d++) {
      const i32 at = c.origin[d] - tap[d] * s->dilation[d];
      if (at < 0) return Wide<T>{};
      const i32 place = (i32)divide((u32)at, s->by_stride[d]);
      if (place * s->stride[d] != at || place >= s->places[d]) return Wide<T>{};
      offset = offset * s->places[d] + place;
    }
    return wide(c.data[channel * s->spots + offset]);
  }
};

template <class T, int Side>
__global__ void __launch_bounds__(256) convolve_backward_input(const T* grad, const T* weight, T* to, Images s) {
  const i64 columns = s.images * s.positions, depth = s.out * s.taps;
  const Tile tile = tile_of_block<Side>(s.in, columns);
  const Turned<T> x = {weight + tile.batch * s.out * s.in * s.taps, &s, true};
  const Returned<T> y = {grad + tile.batch * s.out * s.spots, &s, false};
  multiply_tile<Wide<T>, Side>(x, y, s.in, columns, 0, depth, tile.row, tile.column, [&](i64 i, i64 j, Wide<T> sum) {
    u32 position;
    const i64 image = image_of(j, s.positions, position);
    to[((image * s.groups + tile.batch) * s.in + i) * s.positions + position] = narrow<T>(sum);
  });
}

// ---- the weight's gradient ------------------------------------------------------------------------------------------

// The output's gradients as the left matrix: rows are output channels, the depth are the places of all images.
template <class T>
struct Gradients {
  typedef const T* Cursor;
  const T* data;
  const Images* s;
  bool depth_first;
  DEVICE Cursor begin(i64 i) const { return data + i * s->spots; }
  DEVICE Wide<T> get(Cursor at, i64 k) const {
    u32 place;
    const i64 image = image_of(k, s->spots, place);
    return wide(at[image * s->groups * s->out * s->spots + place]);
  }
};

// The images as the right matrix for the weight's gradient: columns are input channels and taps, the depth are the
// places of all images.
template <class T>
struct Taken {
  typedef Corner<T> Cursor;
  const T* data;
  const Images* s;
  bool depth_first;
  DEVICE Cursor begin(i64 column) const {
    u32 tap;
    const i64 channel = image_of(column, s->taps, tap);
    return corner_of(data + channel * s->positions, tap, s->by_kernel,
                     [&](i32 at, int d) { return at * s->dilation[d] - s->padding[d]; });
  }
  DEVICE Wide<T> get(const Cursor& c, i64 k) const {
    u32 rest;
    const i64 image = image_of(k, s->spots, rest);
    i32 place[3];
    take_apart(rest, s->by_places, place);
    return element_of(c.data + image * s->groups * s->in * s->positions, s, c.origin, place, s->stride);
  }
};

// blockIdx.y selects a part of the places, `part` of them. R is T if there is one part; else it is the type of sums,
// and add_parts adds the parts up.
template <class T, class R, int Side>
__global__ void __launch_bounds__(256)
    convolve_backward_weight(const T* grad, const T* in, R* to, i64 part, Images s) {
  const i64 columns = s.in * s.taps, depth = s.images * s.spots, begin = blockIdx.y * part;
  const i64 end = begin + part < depth ? begin + part : depth;
  const Tile tile = tile_of_block<Side>(s.out, columns);
  const Gradients<T> x = {grad + tile.batch * s.out * s.spots, &s, true};
  const Taken<T> y = {in + tile.batch * s.in * s.positions, &s, true};
  R* mine = to + blockIdx.y * s.groups * s.out * columns;
  multiply_tile<Wide<T>, Side>(x, y, s.out, columns, begin, end, tile.row, tile.column, [&](i64 i, i64 j, Wide<T> sum) {
    mine[(tile.batch * s.out + i) * columns + j] = narrow<R>(sum);
  });
}
