// Channels rearranged into pixels and back, and channels in another order.
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

void check_dims(const Tensor& self, int64_t least) {
  LAMELLA_CHECK(self.dim() >= least, argument("self"), ": expected at least ", least, " dimensions, got shape ",
                shape_text(self));
}

void check_positive(const char* name, int64_t n) {
  LAMELLA_CHECK(n > 0, argument(name), ": must be positive, got ", n);
}

Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  const int64_t r = upscale_factor;
  check_dims(self, 3);
  check_positive("upscale_factor", r);
  const int64_t c = self.size(-3), h = self.size(-2), w = self.size(-1), n = self.dim() - 3;
  LAMELLA_CHECK(r <= 1 << 20 && c % (r * r) == 0, argument("self"), ": ", c, " channels are no multiple of ", r, " x ",
                r);
  DimVector apart(IntArrayRef(self.sizes().data(), n)), order, joined = apart;
  for (int64_t d = 0; d < n; d++) order.push_back(d);
  for (int64_t s : {c / (r * r), r, r, h, w}) apart.push_back(s);
  for (int64_t d : {0, 3, 1, 4, 2}) order.push_back(n + d);
  for (int64_t s : {c / (r * r), h * r, w * r}) joined.push_back(s);
  return self.reshape(apart).permute(order).reshape(joined);
}

Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  const int64_t r = downscale_factor;
  check_dims(self, 3);
  check_positive("downscale_factor", r);
  const int64_t c = self.size(-3), h = self.size(-2), w = self.size(-1), n = self.dim() - 3;
  LAMELLA_CHECK(h % r == 0 && w % r == 0, argument("self"), ": images of ", h, " x ", w, " are no multiples of ", r);
  DimVector apart(IntArrayRef(self.sizes().data(), n)), order, joined = apart;
  for (int64_t d = 0; d < n; d++) order.push_back(d);
  for (int64_t s : {c, h / r, r, w / r, r}) apart.push_back(s);
  for (int64_t d : {0, 2, 4, 1, 3}) order.push_back(n + d);
  for (int64_t s : {c * r * r, h / r, w / r}) joined.push_back(s);
  return self.reshape(apart).permute(order).reshape(joined);
}

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  check_dims(self, 3);
  check_positive("groups", groups);
  const int64_t c = self.size(1);
  LAMELLA_CHECK(c % groups == 0, argument("self"), ": ", c, " channels are no multiple of ", groups, " groups");
  DimVector apart(self.sizes());
  apart[1] = groups;
  apart.insert(2, c / groups);
  return self.reshape(apart).transpose(1, 2).reshape(self.sizes());
}

}  // namespace

LAMELLA_FAMILY(shuffling, .category = "copy", .forms = function) {
  return {
      {.schema = "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
       .dims = "... c~ h~ w~ -> ... c~ h~ w~",
       .composite = composite<pixel_shuffle>,
       .doc = R"(Every r x r channels become r x r pixels in place of one, as Shi et al. (2016) enlarge images.

Raises:
    RuntimeError: the channels are no multiple of r x r

>>> lamella.pixel_shuffle(lamella.arange(4.).view(4, 1, 1), 2)
tensor([[[0., 1.],
         [2., 3.]]])
)"},
      {.schema = "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
       .dims = "... c~ h~ w~ -> ... c~ h~ w~",
       .composite = composite<pixel_unshuffle>,
       .doc = R"(The reverse of pixel_shuffle: every r x r pixels become channels of one.

>>> lamella.pixel_unshuffle(lamella.arange(4.).view(1, 2, 2), 2).flatten()
tensor([0., 1., 2., 3.])
)"},
      {.schema = "channel_shuffle(Tensor self, SymInt groups) -> Tensor",
       .dims = "n c~ ... -> n c~ ...",
       .composite = composite<channel_shuffle>,
       .doc = R"(Channels dealt out anew: the first of each group, then the second of each, as in Zhang et al. (2018).

>>> lamella.channel_shuffle(lamella.arange(4.).view(1, 4, 1), 2).flatten()
tensor([0., 2., 1., 3.])
)"},
      {.schema = "native_channel_shuffle(Tensor self, SymInt groups) -> Tensor",
       .dims = "n c~ ... -> n c~ ...",
       .composite = composite<channel_shuffle>,
       .doc = R"(channel_shuffle, under its other name.

>>> lamella.native_channel_shuffle(lamella.arange(4.).view(1, 4, 1), 2).flatten()
tensor([0., 2., 1., 3.])
)"},
  };
}

}  // namespace lamella::operators
