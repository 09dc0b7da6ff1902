// Helpers of convolutions, pools and padding: see windows.h.
#include "operators/windows.h"

namespace lamella::operators {

void read_spatial(const char* name, IntArrayRef list, int count, int64_t least, int64_t* out) {
  LAMELLA_CHECK(list.size() == 1 || static_cast<int>(list.size()) == count, argument(name), ": takes one number or ",
                count, ", got ", shape_text(list));
  for (int i = 0; i < count; i++) {
    out[i] = list[list.size() == 1 ? 0 : i];
    LAMELLA_CHECK(out[i] >= least, argument(name), ": must be at least ", least, ", got ", shape_text(list));
    LAMELLA_CHECK(out[i] <= int64_t{1} << 30, argument(name), ": must be at most 2^30, got ", shape_text(list));
  }
}

void check_channels(const char* input, IntArrayRef x, int64_t dim, const char* weight, IntArrayRef w, int64_t of,
                    int64_t groups) {
  const int64_t has = x[dim], takes = w[of] * groups;
  if (has == takes) return;
  const std::string product = groups == 1 ? "" : " times " + std::to_string(groups) + " groups";
  std::string way = "make the layer, or its weight, for " + std::to_string(has) + " channels";
  for (auto d = static_cast<int64_t>(x.size()) - 1; d > dim; d--)
    if (x[d] == takes)
      way = "dimension " + std::to_string(d) + " has " + std::to_string(takes) + ": movedim(" + std::to_string(d) +
            ", " + std::to_string(dim) + ") makes them the channels";
  LAMELLA_CHECK(false, argument(input), ": ", has, " channels, dimension ", dim, " of shape ", shape_text(x),
                ", are not the ", takes, " of '", weight, "', dimension ", of, product, " of shape ", shape_text(w),
                "; ", way);
}

Tensor padded(const Tensor& x, int spatial, const int64_t* before, const int64_t* after, const Scalar& value) {
  bool any = false;
  DimVector pad;  // from the last dimension on, as constant_pad_nd takes it
  for (int i = spatial - 1; i >= 0; i--) {
    any |= before[i] || after[i];
    pad.push_back(before[i]);
    pad.push_back(after[i]);
  }
  return any ? lamella::constant_pad_nd(x, pad, value) : x;
}

Tensor windows(const Tensor& x, int spatial, const int64_t* kernel, const int64_t* stride, const int64_t* dilation,
               const int64_t* places) {
  DimVector sizes, strides;
  const int64_t first = x.dim() - spatial;
  for (int64_t d = 0; d < x.dim(); d++) {
    sizes.push_back(d < first ? x.size(d) : places[d - first]);
    strides.push_back(x.stride(d) * (d < first ? 1 : stride[d - first]));
  }
  for (int i = 0; i < spatial; i++) {
    sizes.push_back(kernel[i]);
    strides.push_back(x.stride(first + i) * dilation[i]);
  }
  return x.as_strided(sizes, strides, x.storage_offset());
}

Tensor padded_along(const Tensor& x, int64_t d, int64_t before, int64_t after) {
  if (!before && !after) return x;
  DimVector pad;
  for (int64_t k = x.dim() - 1; k > d; k--) {
    pad.push_back(0);
    pad.push_back(0);
  }
  pad.push_back(before);
  pad.push_back(after);
  return lamella::constant_pad_nd(x, pad);
}

Tensor spread_along(const Tensor& x, int64_t d, int64_t step) {
  if (step == 1) return x;
  DimVector sizes(x.sizes());
  sizes[d] *= step;
  return padded_along(x.unsqueeze(d + 1), d + 1, 0, step - 1).reshape(sizes);
}

bool channels_last(const Tensor& t) {
  if (t.dim() != 4 || t.numel() == 0) return false;
  const IntArrayRef n = t.sizes(), s = t.strides();
  int64_t least = 1;
  for (int d : {1, 3, 2, 0}) {
    if (n[d] == 1) continue;
    if (s[d] < least) return false;
    least = s[d] * n[d];
  }
  // With one channel, or one pixel, both layouts are the same memory, which counts as the plain one.
  return n[1] > 1 && (n[2] > 1 || n[3] > 1);
}

DimVector image_strides(IntArrayRef n) {
  DimVector strides{n[1] * n[2] * n[3], 1, n[1] * n[3], n[1]};
  for (int64_t& s : strides) s = std::max<int64_t>(s, 1);
  return strides;
}

Tensor in_channels_last(const Tensor& x) {
  const Tensor to = lamella::empty_strided(x.sizes(), image_strides(x.sizes()), x.options());
  to.copy_(x);
  return to;
}

void set_image(Output& out, IntArrayRef sizes, ScalarType t, bool last) {
  out.set(sizes, t);
  if (last) out.set_strides(image_strides(sizes));
}

}  // namespace lamella::operators
