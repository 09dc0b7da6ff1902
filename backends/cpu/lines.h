// The lines of two tensors of the same shape along one dimension; the other dimensions give the start of each line.
#pragma once

#include <lamella/library.h>

namespace lamella::cpu {

struct Lines {
  struct Axis {
    int64_t size, in, out;  // strides in bytes
  };
  int64_t length = 1, from = 0, to = 0;  // of a line; its strides in the two tensors, in bytes
  int64_t count = 1;
  int kept = 0;
  Axis keep[LAMELLA_MAX_DIMS];

  Lines(const lamella_tensor* in, const lamella_tensor* out, int dim) {
    const int64_t a = itemsize(in), b = itemsize(out);
    for (int d = 0; d < in->dl.ndim; d++) {
      const Axis x{in->dl.shape[d], in->dl.strides[d] * a, out->dl.strides[d] * b};
      if (d == dim) {
        length = x.size;
        from = x.in;
        to = x.out;
      } else {
        count *= x.size;
        if (x.size == 1) continue;
        if (kept && keep[kept - 1].in == x.in * x.size && keep[kept - 1].out == x.out * x.size)
          keep[kept - 1] = {keep[kept - 1].size * x.size, x.in, x.out};
        else
          keep[kept++] = x;
      }
    }
  }

  void locate(int64_t line, int64_t* in, int64_t* out) const {
    *in = *out = 0;
    for (int d = kept - 1; d >= 0; d--) {
      *in += line % keep[d].size * keep[d].in;
      *out += line % keep[d].size * keep[d].out;
      line /= keep[d].size;
    }
  }

  // Returns how many consecutive lines lie side by side without a gap; 1 if no two consecutive lines do.
  int64_t side_by_side(int64_t in_item, int64_t out_item) const {
    if (!kept || keep[kept - 1].in != in_item || keep[kept - 1].out != out_item) return 1;
    return keep[kept - 1].size;
  }
};

}  // namespace lamella::cpu
