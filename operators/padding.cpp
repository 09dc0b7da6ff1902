// Padding: by a constant, or by elements of the tensor itself.
#include "core/tensor.h"
#include "operators/windows.h"

namespace lamella::operators {
namespace {

// The numbers of places before and after each dimension; a negative number cuts.
struct Margins {
  DimVector before, after;
};

// Reads pairs (before, after) from the last dimension on.
Margins read_pad(const Tensor& self, IntArrayRef pad) {
  const int64_t ndim = self.dim(), pairs = static_cast<int64_t>(pad.size()) / 2;
  LAMELLA_CHECK(pad.size() % 2 == 0 && pairs <= ndim, argument("pad"), ": takes pairs (before, after) for at most ",
                ndim, " dimensions, the last first, got ", shape_text(pad));
  Margins m{DimVector(ndim, 0), DimVector(ndim, 0)};
  for (int64_t i = 0; i < pairs; i++) {
    const int64_t d = ndim - 1 - i, before = pad[2 * i], after = pad[2 * i + 1];
    m.before[d] = before;
    m.after[d] = after;
    int64_t size;
    const bool overflows =
        __builtin_add_overflow(before, after, &size) || __builtin_add_overflow(size, self.size(d), &size);
    LAMELLA_CHECK(!overflows && size >= 0, argument("pad"), ": dimension ", d, " of size ", self.size(d),
                  " cannot be padded by (", before, ", ", after, ")");
  }
  return m;
}

DimVector padded_sizes(const Tensor& self, const Margins& m) {
  DimVector sizes(self.sizes());
  for (size_t d = 0; d < sizes.size(); d++) sizes[d] += m.before[d] + m.after[d];
  return sizes;
}

void infer_pad(const Tensor& self, IntArrayRef pad, const Scalar& value, Output out) {
  set_image(out, padded_sizes(self, read_pad(self, pad)), self.dtype(), channels_last(self));
  check_number("value", value, self.dtype());
  check_sizes("pad", out.sizes(), self.dtype());
}

// Makes a new tensor that is channels last if `self` is, else contiguous.
Tensor lying_as(const Tensor& self, const DimVector& sizes) {
  DimVector strides = sizes;
  if (channels_last(self))
    strides = image_strides(sizes);
  else
    core::contiguous_strides(static_cast<int>(sizes.size()), sizes.data(), strides.data());
  return lamella::empty_strided(sizes, strides, self.options());
}

// Pads with a constant; a negative number of places cuts.
Tensor constant_pad(const Tensor& self, IntArrayRef pad, const Scalar& value) {
  const Margins m = read_pad(self, pad);
  const DimVector sizes = padded_sizes(self, m);
  const Tensor out = lying_as(self, sizes);
  out.fill_(value);
  Tensor x = self, inside = out;
  for (int64_t d = 0; d < self.dim(); d++) {
    const int64_t n = x.size(d), before = m.before[d], after = m.after[d];
    if (before < 0 || after < 0)
      x = lamella::slice(x, d, std::max<int64_t>(-before, 0), n + std::min<int64_t>(after, 0), 1);
    if (before > 0 || after > 0)
      inside = lamella::slice(inside, d, std::max<int64_t>(before, 0), sizes[d] - std::max<int64_t>(after, 0), 1);
  }
  inside.copy_(x);
  return out;
}

// Pads one dimension with its own elements: copies of single places, or of a run.
Tensor extend(const Tensor& x, int64_t d, int64_t before, int64_t after, std::string_view mode) {
  const int64_t n = x.size(d);
  DimVector sizes(x.sizes());
  sizes[d] = n + before + after;
  const Tensor out = mode == "circular" ? lamella::empty(sizes, x.options()) : lying_as(x, sizes);
  auto place = [&](int64_t to, int64_t at, int64_t count) {
    lamella::slice(out, d, to, to + count, 1).copy_(lamella::slice(x, d, at, at + count, 1));
  };
  place(before, 0, n);
  if (mode == "circular") {
    if (before) place(0, n - before, before);
    if (after) place(before + n, 0, after);
    return out;
  }
  for (int64_t i = 0; i < before; i++) place(before - 1 - i, mode == "reflect" ? i + 1 : 0, 1);
  for (int64_t i = 0; i < after; i++) place(before + n + i, mode == "reflect" ? n - 2 - i : n - 1, 1);
  return out;
}

Tensor cut(const Tensor& x, int64_t d, int64_t before, int64_t after) {
  const int64_t first = std::max<int64_t>(-before, 0), last = x.size(d) - std::max<int64_t>(-after, 0);
  return first == 0 && last == x.size(d) ? x : lamella::slice(x, d, first, std::max(first, last), 1);
}

// As in torch, the modes pad up to three dimensions after one or two others, which hold channels and a batch.
void check_mode(const Tensor& self, IntArrayRef pad, std::string_view mode, std::optional<double> value) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(mode == "reflect" || mode == "replicate" || mode == "circular", argument("mode"),
                                ": must be 'constant', 'reflect', 'replicate' or 'circular', got '", mode, "'");
  LAMELLA_CHECK(value.value_or(0) == 0, argument("value"), ": mode '", mode, "' takes no value, got ",
                value.value_or(0));
  const auto padded = static_cast<int64_t>(pad.size()) / 2, others = self.dim() - padded;
  LAMELLA_CHECK_NOT_IMPLEMENTED(padded >= 1 && padded <= 3 && (others == 1 || others == 2), argument("pad"), ": mode '",
                                mode,
                                "' pads the last dimension of 2 or 3, the last 2 of 3 or 4, or the last 3 of 4 or "
                                "5; got ",
                                pad.size(), " amounts for ", self.dim(), " dimensions");
  for (int64_t d = mode == "circular" ? others : others - 1; d < self.dim(); d++)
    LAMELLA_CHECK(self.size(d) > 0, argument("self"), ": with mode '", mode, "' dimension ", d,
                  " must not be empty, got shape ", shape_text(self));
}

Tensor pad(const Tensor& self, IntArrayRef pad, std::string_view mode, std::optional<double> value) {
  if (mode == "constant") return lamella::constant_pad_nd(self, pad, value ? Scalar(*value) : Scalar(0));
  LAMELLA_CHECK(pad.size() % 2 == 0, argument("pad"), ": Padding length must be divisible by 2, got ", pad.size());
  check_mode(self, pad, mode, value);
  const Margins m = read_pad(self, pad);
  const bool circular = mode == "circular";
  Tensor x = self;
  for (int64_t d = x.dim() - 1; d >= 0; d--) {
    const int64_t before = m.before[d], after = m.after[d];
    if (!before && !after) continue;
    // A circular pad repeats elements that are left after the cut; the other modes pad before they cut.
    if (circular) x = cut(x, d, before, after);
    const int64_t n = x.size(d), most = mode == "reflect" ? n - 1 : circular ? n : INT64_MAX;
    LAMELLA_CHECK(std::max(before, after) <= most, argument("pad"), ": mode '", mode, "' cannot pad dimension ", d,
                  " of size ", n, " by (", before, ", ", after, ")");
    LAMELLA_CHECK(circular || self.size(d) + before + after > 0, argument("pad"), ": mode '", mode,
                  "' leaves nothing of "
                  "dimension ",
                  d, " of size ", n, " with (", before, ", ", after, ")");
    if (before > 0 || after > 0) x = extend(x, d, std::max<int64_t>(before, 0), std::max<int64_t>(after, 0), mode);
    if (!circular) x = cut(x, d, before, after);
  }
  return channels_last(x) ? x : x.contiguous();
}

}  // namespace

LAMELLA_FAMILY(padding, .category = "copy", .dims = "...~ -> ...~") {
  return {
      {.schema = "constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
       .forms = function,
       .infer = shape<infer_pad>,
       .composite = composite<constant_pad>,
       .doc = R"(Puts `value` around: pairs (before, after) for the last dimension, the last but one, and so on;
negative ones cut.

>>> lamella.constant_pad_nd(lamella.tensor([1, 2]), (1, 2), 9)
tensor([9, 1, 2, 9, 9])
)"},
      {.schema = "pad(Tensor self, SymInt[] pad, str mode='constant', float? value=None) -> Tensor",
       .forms = function | hidden,
       .composite = composite<pad>,
       .doc = R"(Extends dimensions, pairs (before, after) from the last one on: by a constant, or, with mode
'reflect', 'replicate' or 'circular', from within.

>>> lamella.ops.aten.pad(lamella.tensor([[1, 2, 3]]), (2, 1), 'reflect')
tensor([[3, 2, 1, 2, 3, 2]])
)"},
  };
}

}  // namespace lamella::operators
