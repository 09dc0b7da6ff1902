// Images at another size: nearest, linear, cubic and smoothed, over one to three axes, which are resampled one by one.
#include "operators/pooling.h"
#include "operators/resampling.h"

namespace lamella::operators {
namespace {

using Scale = std::optional<double>;

// ---- tables for the last axes of a tensor, whatever their number ---------------------------------------------------

void check_tables(IntArrayRef output_size, IntArrayRef taps, const Tensor& index, const Tensor& weight, int64_t dims) {
  LAMELLA_CHECK(!taps.empty() && taps.size() <= 3 && static_cast<int64_t>(taps.size()) <= dims &&
                    taps.size() == output_size.size(),
                argument("taps"), ": expected one number for each of one to three axes and of 'output_size', got ",
                shape_text(taps), " for ", shape_text(output_size));
  int64_t count = 0;
  for (size_t i = 0; i < taps.size(); i++) {
    LAMELLA_CHECK(taps[i] >= 1 && output_size[i] >= 1, argument("output_size"),
                  ": expected positive sizes and taps, got ", output_size[i], " and ", taps[i]);
    LAMELLA_CHECK(taps[i] <= index.numel() / output_size[i], argument("index"), ": has ", index.numel(),
                  " elements, too few for ", taps[i], " taps of ", output_size[i], " places");
    count += taps[i] * output_size[i];
  }
  LAMELLA_CHECK(index.dim() == 1 && index.numel() == count && index.dtype() == kLong, argument("index"), ": expected ",
                count, " indices of int64, got shape ", shape_text(index));
  LAMELLA_CHECK(!weight.defined() || weight.sizes() == index.sizes(), argument("weight"), ": expected ", count,
                " numbers, got shape ", shape_text(weight));
}

// Without weights elements are copied; with them, half precision is computed in float32.
void check_weight(const char* name, const Tensor& self, const Tensor& weight) {
  if (!weight.defined()) return;
  LAMELLA_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), argument(name), ": dtype ", self.dtype(),
                                " is not resampled; convert with .to(lamella.float32)");
  LAMELLA_CHECK(weight.dtype() == wide_of(self.dtype()), argument("weight"), ": expected dtype ", wide_of(self.dtype()),
                ", got ", weight.dtype());
}

DimVector with_last(IntArrayRef sizes, IntArrayRef last) {
  DimVector all(sizes);
  std::copy(last.begin(), last.end(), all.end() - static_cast<int64_t>(last.size()));
  return all;
}

void infer_resample(const Tensor& self, IntArrayRef output_size, IntArrayRef taps, const Tensor& index,
                    const Tensor& weight, Output out) {
  check_tables(output_size, taps, index, weight, self.dim());
  check_weight("self", self, weight);
  const DimVector sizes = with_last(self.sizes(), output_size);
  check_sizes("output_size", sizes, self.dtype());
  set_image(out, sizes, self.dtype(), channels_last(self));
}

void infer_resample_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size,
                             IntArrayRef taps, const Tensor& index, const Tensor& weight, Output out) {
  check_tables(output_size, taps, index, weight, grad_output.dim());
  LAMELLA_CHECK_NOT_IMPLEMENTED(grad_output.is_floating_point() || grad_output.is_complex(), argument("grad_output"),
                                ": expected a floating dtype, got ", grad_output.dtype());
  check_weight("grad_output", grad_output, weight);
  LAMELLA_CHECK(static_cast<int64_t>(input_size.size()) == grad_output.dim(), argument("input_size"), ": expected ",
                grad_output.dim(), " sizes, got ", shape_text(input_size));
  LAMELLA_CHECK(grad_output.sizes() == IntArrayRef(with_last(input_size, output_size)), argument("grad_output"),
                ": expected shape ", shape_text(with_last(input_size, output_size)), ", got ", shape_text(grad_output));
  check_sizes("input_size", input_size, grad_output.dtype());
  set_image(out, input_size, grad_output.dtype(), channels_last(grad_output));
}

// Calls body(dimension, tap, indices, weights) for each tap of each axis; the weights broadcast along their dimension.
template <class Body>
void each_tap(const Tensor& x, IntArrayRef output_size, IntArrayRef taps, const Tensor& index, const Tensor& weight,
              Body&& body) {
  int64_t at = 0;
  for (size_t i = 0; i < taps.size(); i++) {
    const int64_t d = x.dim() - static_cast<int64_t>(taps.size() - i), n = output_size[i];
    DimVector along(x.dim(), 1);
    along[d] = n;
    for (int64_t k = 0; k < taps[i]; k++, at += n) {
      const Tensor w = weight.defined() ? lamella::slice(weight, 0, at, at + n, 1).reshape(along) : Tensor();
      body(d, k, lamella::slice(index, 0, at, at + n, 1), w);
    }
  }
}

Tensor resample(const Tensor& self, IntArrayRef output_size, IntArrayRef taps, const Tensor& index,
                const Tensor& weight) {
  Tensor from = weight.defined() ? as(self, weight.dtype()) : self, sum;
  each_tap(self, output_size, taps, index, weight, [&](int64_t d, int64_t k, const Tensor& at, const Tensor& w) {
    if (k == 0 && sum.defined()) from = sum;
    const Tensor part = from.index_select(d, at);
    const Tensor weighted = w.defined() ? part * w : part;
    sum = k == 0 ? weighted : sum + weighted;
  });
  return laid_out(as(sum, self.dtype()), self);
}

Tensor resample_backward(const Tensor& grad_output, IntArrayRef output_size, IntArrayRef input_size, IntArrayRef taps,
                         const Tensor& index, const Tensor& weight) {
  Tensor from = as(grad_output, wide_of(grad_output.dtype())), sum;
  DimVector sizes(grad_output.sizes());
  each_tap(grad_output, output_size, taps, index, weight, [&](int64_t d, int64_t k, const Tensor& at, const Tensor& w) {
    if (k == 0) {
      if (sum.defined()) from = sum;
      sizes[d] = input_size[d];
      sum = lamella::zeros(sizes, from.options());
    }
    sum = sum.index_add(d, at, w.defined() ? from * w : from);
  });
  return laid_out(as(sum, grad_output.dtype()), grad_output);
}

// ---- torch's operators ----------------------------------------------------------------------------------------------

struct Tables {
  DimVector taps;
  Tensor index;
  Tensor weight;
};

Tables tables_of(Filter f, const Tensor& like, IntArrayRef in, const int64_t* out, int axes, bool align,
                 const Scale* scales) {
  Tables t;
  std::vector<Taps> each;
  int64_t count = 0;
  for (int i = 0; i < axes; i++) {
    each.push_back(taps_of(f, in[i + 2], out[i], align, scales[i]));
    if (!only_picks(f)) merge_weightless(&each.back());
    t.taps.push_back(each.back().count);
    count += static_cast<int64_t>(each.back().index.size());
  }
  const TensorOptions host = TensorOptions().device(Device(DeviceType::CPU));
  Tensor index = lamella::empty({count}, host.dtype(kLong)), weight;
  if (!only_picks(f)) weight = lamella::empty({count}, host.dtype(kDouble));
  int64_t at = 0;
  for (const Taps& a : each) {
    std::copy(a.index.begin(), a.index.end(), index.data_ptr<int64_t>() + at);
    if (weight.defined()) std::copy(a.weight.begin(), a.weight.end(), weight.data_ptr<double>() + at);
    at += static_cast<int64_t>(a.index.size());
  }
  t.index = like.is_cpu() ? index : index.to(like.device());
  if (weight.defined()) {
    const Tensor narrow = as(weight, wide_of(like.dtype()));
    t.weight = like.is_cpu() ? narrow : narrow.to(like.device());
  }
  return t;
}

// Reads the sizes of the result, and checks those of the input, a tensor or an argument.
template <int Axes>
struct Sizes {
  int64_t out[Axes];

  Sizes(IntArrayRef output_size, IntArrayRef input, const char* name) {
    LAMELLA_CHECK(input.size() == Axes + 2, argument(name), ": expected ", Axes + 2,
                  " dimensions, a batch and channels first, got shape ", shape_text(input));
    read_spatial("output_size", output_size, Axes, 1, out);
    for (int i = 1; i < Axes + 2; i++)
      LAMELLA_CHECK(input[i] > 0, argument(name), ": shape ", shape_text(input), " has no ",
                    i == 1 ? "channels" : "elements to resample");
  }
  IntArrayRef list() const { return IntArrayRef(out, Axes); }
};

void check_computed(Filter f, int axes, const char* name, const Tensor& self) {
  const bool bytes = axes == 2 && self.dtype() == kByte;
  LAMELLA_CHECK_NOT_IMPLEMENTED(only_picks(f) || self.is_floating_point() || bytes, argument(name), ": dtype ",
                                self.dtype(), " is not resampled by weights; convert with .to(lamella.float32)");
}

// Forward and backward for one to three scales, one for each axis.
template <Filter F, class... S>
struct Up {
  static constexpr int axes = sizeof...(S);
  static void shape_of(const Tensor& self, IntArrayRef output_size, Output& out) {
    const Sizes<axes> n(output_size, self.sizes(), "self");
    check_computed(F, axes, "self", self);
    const DimVector sizes = with_last(self.sizes(), n.list());
    check_sizes("output_size", sizes, self.dtype());
    set_image(out, sizes, self.dtype(), channels_last(self));
  }
  static Tensor run(const Tensor& self, IntArrayRef output_size, bool align, S... scales) {
    const Sizes<axes> n(output_size, self.sizes(), "self");
    const Scale given[] = {scales...};
    if constexpr (axes == 2 && !only_picks(F))
      if (self.dtype() == kByte) {
        auto taps = [&](int i) { return taps_of(F, self.size(i + 2), n.out[i], align, given[i]); };
        return laid_out(resample_bytes(self, n.out, taps(0), taps(1)), self);
      }
    const Tables t = tables_of(F, self, self.sizes(), n.out, axes, align, given);
    return lamella::_resample(self, n.list(), t.taps, t.index, t.weight);
  }
  static void shape_back(const Tensor& grad, IntArrayRef output_size, IntArrayRef input_size, Output& out) {
    const Sizes<axes> n(output_size, input_size, "input_size");
    LAMELLA_CHECK_NOT_IMPLEMENTED(grad.is_floating_point() || (only_picks(F) && grad.is_complex()),
                                  argument("grad_output"), ": expected a floating dtype, got ", grad.dtype());
    LAMELLA_CHECK(grad.sizes() == IntArrayRef(with_last(input_size, n.list())), argument("grad_output"),
                  ": expected shape ", shape_text(with_last(input_size, n.list())), ", got ", shape_text(grad));
    check_sizes("input_size", input_size, grad.dtype());
    set_image(out, input_size, grad.dtype(), channels_last(grad));
  }
  static Tensor back(const Tensor& grad, IntArrayRef output_size, IntArrayRef input_size, bool align, S... scales) {
    const Sizes<axes> n(output_size, input_size, "input_size");
    const Scale given[] = {scales...};
    const Tables t = tables_of(F, grad, input_size, n.out, axes, align, given);
    return lamella::_resample_backward(grad, n.list(), input_size, t.taps, t.index, t.weight);
  }
};

// The functions for the schemas, without and with `align_corners`.
template <Filter F, class... S>
struct Picks : Up<F, S...> {
  static void infer(const Tensor& self, IntArrayRef output_size, S..., Output out) {
    Up<F, S...>::shape_of(self, output_size, out);
  }
  static Tensor forward(const Tensor& self, IntArrayRef output_size, S... scales) {
    return Up<F, S...>::run(self, output_size, false, scales...);
  }
  static void infer_backward(const Tensor& grad, IntArrayRef output_size, IntArrayRef input_size, S..., Output out) {
    Up<F, S...>::shape_back(grad, output_size, input_size, out);
  }
  static Tensor backward(const Tensor& grad, IntArrayRef output_size, IntArrayRef input_size, S... scales) {
    return Up<F, S...>::back(grad, output_size, input_size, false, scales...);
  }
};

template <Filter F, class... S>
struct Mixes : Up<F, S...> {
  static void infer(const Tensor& self, IntArrayRef output_size, bool, S..., Output out) {
    Up<F, S...>::shape_of(self, output_size, out);
  }
  static Tensor forward(const Tensor& self, IntArrayRef output_size, bool align_corners, S... scales) {
    return Up<F, S...>::run(self, output_size, align_corners, scales...);
  }
  static void infer_backward(const Tensor& grad, IntArrayRef output_size, IntArrayRef input_size, bool, S...,
                             Output out) {
    Up<F, S...>::shape_back(grad, output_size, input_size, out);
  }
  static Tensor backward(const Tensor& grad, IntArrayRef output_size, IntArrayRef input_size, bool align_corners,
                         S... scales) {
    return Up<F, S...>::back(grad, output_size, input_size, align_corners, scales...);
  }
};

}  // namespace

#define ONE "float? scales=None) -> Tensor"
#define TWO "float? scales_h=None, float? scales_w=None) -> Tensor"
#define THREE "float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"
#define SIZE(n) "SymInt[" #n "] output_size, "
#define BOTH(name, axes, dims, align, scales, doc, ...)                                             \
  {name "(Tensor self, " SIZE(axes) align scales,                                                   \
   "n c ...~ -> n c ...~",                                                                          \
   "pooling",                                                                                       \
   function | hidden,                                                                               \
   shape<__VA_ARGS__::infer>,                                                                       \
   composite<__VA_ARGS__::forward>,                                                                 \
   doc},                                                                                            \
  {                                                                                                 \
    name "_backward(Tensor grad_output, " SIZE(axes) "SymInt[" #dims "] input_size, " align scales, \
        "n c ...~ -> n c ...~", "pooling", function | hidden, shape<__VA_ARGS__::infer_backward>,   \
        composite<__VA_ARGS__::backward>, "The gradient of " name "."                               \
  }
#define ALIGN "bool align_corners, "
#define PICKS(name, filter, doc)                                                            \
  BOTH(name "1d", 1, 3, "", ONE, doc, Picks<filter, Scale>),                                \
      BOTH(name "2d", 2, 4, "", TWO, name "1d, of two axes.", Picks<filter, Scale, Scale>), \
      BOTH(name "3d", 3, 5, "", THREE, name "1d, of three axes.", Picks<filter, Scale, Scale, Scale>)

LAMELLA_FAMILY(upsampling, .forms = function | hidden) {
  return {
      {.schema =
           "_resample(Tensor self, SymInt[] output_size, int[] taps, Tensor index, Tensor? weight=None) -> Tensor",
       .category = "indexing",
       .infer = shape<infer_resample>,
       .composite = composite<resample>,
       .doc = R"(The last axes, one by one, at other places. Place i of an axis is the sum over its taps k of the
element at index[k * size + i], times that weight; the tables of all axes stand one behind another.

>>> lamella.ops.aten._resample(lamella.tensor([1., 3.]), [3], [1], lamella.tensor([0, 1, 1]))
tensor([1., 3., 3.])
)"},
      {.schema = "_resample_backward(Tensor grad_output, SymInt[] output_size, SymInt[] input_size, int[] taps, Tensor "
                 "index, Tensor? weight=None) -> Tensor",
       .category = "scatter",
       .infer = shape<infer_resample_backward>,
       .composite = composite<resample_backward>,
       .doc = "The gradient of _resample."},
      PICKS("upsample_nearest", Filter::nearest,
            "The nearest element of the last axis, at other places: that at floor(place * size / places).\n\n>>> "
            "lamella.ops.aten.upsample_nearest1d(lamella.tensor([[[1., 2.]]]), [4])\ntensor([[[1., 1., 2., 2.]]])\n"),
      PICKS("_upsample_nearest_exact", Filter::nearest_exact,
            "The element whose middle is nearest to that of each place.\n\n>>> "
            "lamella.ops.aten._upsample_nearest_exact1d(lamella.tensor([[[1., 2., 3., 4.]]]), [2])\n"
            "tensor([[[2., 4.]]])\n"),
      BOTH("upsample_linear1d", 1, 3, ALIGN, ONE,
           "The last axis at other places, on straight lines between its elements; beyond the outer ones they "
           "stay.\n\n>>> lamella.ops.aten.upsample_linear1d(lamella.tensor([[[1., 3.]]]), [3], True)\n"
           "tensor([[[1., 2., 3.]]])\n",
           Mixes<Filter::linear, Scale>),
      BOTH(
          "upsample_bilinear2d", 2, 4, ALIGN, TWO,
          "upsample_linear1d, of two axes.\n\n>>> lamella.ops.aten.upsample_bilinear2d(lamella.tensor([[[[1., 3.]]]]), "
          "[1, 4], False)\ntensor([[[[1.0000, 1.5000, 2.5000, 3.0000]]]])\n",
          Mixes<Filter::linear, Scale, Scale>),
      BOTH("upsample_trilinear3d", 3, 5, ALIGN, THREE, "upsample_linear1d, of three axes.",
           Mixes<Filter::linear, Scale, Scale, Scale>),
      BOTH("upsample_bicubic2d", 2, 4, ALIGN, TWO,
           "Two axes at other places, each on Keys' cubics (a = -0.75) through four elements.",
           Mixes<Filter::cubic, Scale, Scale>),
      BOTH("_upsample_bilinear2d_aa", 2, 4, ALIGN, TWO,
           "upsample_bilinear2d; where places are wider than elements, all that a place covers counts.\n\n>>> "
           "lamella.ops.aten._upsample_bilinear2d_aa(lamella.tensor([[[[1., 2., 3., 4.]]]]), [1, 1], False)\n"
           "tensor([[[[2.5000]]]])\n",
           Mixes<Filter::linear_smooth, Scale, Scale>),
      BOTH("_upsample_bicubic2d_aa", 2, 4, ALIGN, TWO, "_upsample_bilinear2d_aa with Keys' cubic (a = -0.5) as filter.",
           Mixes<Filter::cubic_smooth, Scale, Scale>),
      BOTH("_upsample_lanczos2d_aa", 2, 4, ALIGN, TWO,
           "_upsample_bilinear2d_aa with a sinc in a window of three of its zeros as filter.",
           Mixes<Filter::lanczos_smooth, Scale, Scale>),
  };
}

}  // namespace lamella::operators
