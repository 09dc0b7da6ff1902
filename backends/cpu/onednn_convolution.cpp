// Convolutions by oneDNN, through the functions of its C interface. See docs/decisions/0007-convolution.md.
#include "backends/cpu/convolution.h"

#ifdef LAMELLA_ONEDNN
#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "backends/cpu/onednn_primitives.h"
#include "backends/cpu/space.h"
#endif

namespace lamella::cpu {

#ifndef LAMELLA_ONEDNN

lamella_status onednn_convolution(const Convolution&, bool*) { return LAMELLA_OK; }

#else

namespace {

// A two-dimensional float32 convolution of one image, without groups; strides of the memory in elements.
struct Shape {
  int64_t in, outs, image[2], kernel[2], stride[2], padding[2], dilation[2], places[2];
  int64_t from[3], to[3];                 // strides of channel, row and column
  bool bias, channels_last, weight_last;  // channels_last: of images and results; weight_last: of the weight

  bool operator==(const Shape&) const = default;
};

// An image of at most this number of channels is read as it lies.
constexpr int64_t few_channels = 4;

// An operand in the caller's layout and in that of the primitive. If these differ, a copy lies in the space.
struct Reordered {
  Layout given, wanted;
  Primitive reorder;
  int64_t at = 0;

  template <class T>
  T* data(T* callers, char* space) const {
    return reorder ? reinterpret_cast<T*>(space + at) : callers;
  }
};

// oneDNN's primitives for one shape; any number of threads may use them at once.
class Primitives {
 public:
  bool build(const Shape& s);

  int64_t space() const { return space_; }  // the bytes of `space` of run(), which a thread keeps for all its images

  // Computes one image. The packed weight stays in the space, so that only the first image packs it.
  bool run(const float* image, const float* weight, const float* bias, float* out, char* space, bool first) const {
    const float *x = source_.data(image, space), *w = weight_.data(weight, space);
    float* y = result_.data(out, space);
    if (w != weight && first && !convert(weight_, weight, w, space)) return false;
    if (x != image && !convert(source_, image, x, space)) return false;
    Memory m[5];
    if (!memory(&m[0], source_.wanted, x) || !memory(&m[1], weight_.wanted, w) || !memory(&m[2], result_.wanted, y) ||
        !memory(&m[3], scratch_, space) || (bias && !memory(&m[4], bias_, bias)))
      return false;
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, m[0]},
                                    {DNNL_ARG_WEIGHTS, m[1]},
                                    {DNNL_ARG_DST, m[2]},
                                    {DNNL_ARG_SCRATCHPAD, m[3]},
                                    {DNNL_ARG_BIAS, m[4]}};
    if (!ok(dnnl().primitive_execute(primitive_, stream(), bias ? 5 : 4, args))) return false;
    return y == out || convert(result_, y, out, space);
  }

 private:
  // Converts an operand. All primitives use the beginning of the space as scratch memory: they run one after another.
  bool convert(const Reordered& o, const float* from, const float* to, char* space) const {
    const bool back = &o == &result_;
    Memory m[3];
    if (!memory(&m[0], back ? o.wanted : o.given, from) || !memory(&m[1], back ? o.given : o.wanted, to) ||
        !memory(&m[2], scratch_, space))
      return false;
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, m[0]}, {DNNL_ARG_TO, m[1]}, {DNNL_ARG_SCRATCHPAD, m[2]}};
    return ok(dnnl().primitive_execute(o.reorder, stream(), 3, args));
  }

  bool choose(const Shape& s, const Attributes& attributes, Description* chosen);
  bool connect(Reordered* o, const_dnnl_memory_desc_t wanted, const Attributes& attributes);

  Reordered source_, weight_, result_;
  Layout bias_, scratch_;
  Primitive primitive_;
  int64_t space_ = 0, scratch_bytes_ = 0;
};

bool tagged(Layout* l, int n, const dnnl_dims_t& sizes, dnnl_format_tag_t tag) {
  return ok(dnnl().memory_desc_create_with_tag(l->place(), n, sizes, dnnl_f32, tag));
}

bool strided(Layout* l, const dnnl_dims_t& sizes, const int64_t* strides) {
  // The step between images has no effect on one image; it is that of dense layouts, so that oneDNN recognizes these.
  const dnnl_dims_t all = {sizes[1] * sizes[2] * sizes[3], strides[0], strides[1], strides[2]};
  return ok(dnnl().memory_desc_create_with_strides(l->place(), 4, sizes, dnnl_f32, all));
}

// Chooses the layouts, by measurement. Channels last needs no copies. In plain layout a kernel of one tap is a product
// of matrices, and images of few channels are read without a copy; elsewhere oneDNN's own layouts are faster, in spite
// of the conversions.
bool Primitives::choose(const Shape& s, const Attributes& attributes, Description* chosen) {
  const dnnl_dims_t source = {1, s.in, s.image[0], s.image[1]}, result = {1, s.outs, s.places[0], s.places[1]};
  const dnnl_dims_t weight = {s.outs, s.in, s.kernel[0], s.kernel[1]}, bias = {s.outs};
  const bool one_tap = s.kernel[0] * s.kernel[1] == 1, few = s.in <= few_channels, last = s.channels_last;
  const dnnl_format_tag_t given = last ? dnnl_acdb : dnnl_abcd, own = dnnl_format_tag_any;
  Layout x, w, y;
  if (!tagged(&x, 4, source, last || one_tap || few ? given : own) || !tagged(&w, 4, weight, own) ||
      !tagged(&y, 4, result, last || one_tap ? given : own) || !strided(&source_.given, source, s.from) ||
      !tagged(&weight_.given, 4, weight, s.weight_last ? dnnl_acdb : dnnl_abcd) ||
      !strided(&result_.given, result, s.to) || (s.bias && !tagged(&bias_, 1, bias, dnnl_a)))
    return false;
  const dnnl_dims_t stride = {s.stride[0], s.stride[1]}, padding = {s.padding[0], s.padding[1]};
  const dnnl_dims_t dilation = {s.dilation[0] - 1, s.dilation[1] - 1};
  if (!ok(dnnl().convolution_forward_primitive_desc_create(chosen->place(), dnnl().engine, dnnl_forward_inference,
                                                           dnnl_convolution_direct, x, w, bias_, y, stride, dilation,
                                                           padding, padding, attributes)))
    return false;
  const char* name = "";
  dnnl().primitive_desc_query(*chosen, dnnl_query_impl_info_str, 0, &name);
  return std::strncmp(name, "ref", 3) != 0;  // oneDNN's reference loops are slow
}

bool Primitives::connect(Reordered* o, const_dnnl_memory_desc_t wanted, const Attributes& attributes) {
  if (!ok(dnnl().memory_desc_clone(o->wanted.place(), wanted))) return false;
  if (dnnl().memory_desc_equal(o->given, o->wanted)) return true;
  const_dnnl_memory_desc_t from = o->given, to = o->wanted;
  if (o == &result_) std::swap(from, to);
  Description d;
  if (!ok(dnnl().reorder_primitive_desc_create(d.place(), from, dnnl().engine, to, dnnl().engine, attributes)) ||
      !ok(dnnl().primitive_create(o->reorder.place(), d)))
    return false;
  const size_t bytes = dnnl().memory_desc_get_size(dnnl().primitive_desc_query_md(d, dnnl_query_scratchpad_md, 0));
  scratch_bytes_ = std::max(scratch_bytes_, rounded(bytes));
  o->at = space_;
  space_ += rounded(dnnl().memory_desc_get_size(o->wanted));
  return true;
}

bool Primitives::build(const Shape& s) {
  const Functions& f = dnnl();
  Attributes attributes;
  Description d;
  if (!ok(f.primitive_attr_create(attributes.place())) ||
      !ok(f.primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user)) || !choose(s, attributes, &d) ||
      !ok(f.primitive_create(primitive_.place(), d)))
    return false;
  auto layout = [&](dnnl_query_t what) { return f.primitive_desc_query_md(d, what, 0); };
  scratch_bytes_ = rounded(f.memory_desc_get_size(layout(dnnl_query_scratchpad_md)));
  if (!connect(&source_, layout(dnnl_query_src_md), attributes) ||
      !connect(&weight_, layout(dnnl_query_weights_md), attributes) ||
      !connect(&result_, layout(dnnl_query_dst_md), attributes))
    return false;
  // The scratch memory comes first, as one run of bytes that is large enough for each primitive.
  for (Reordered* o : {&source_, &weight_, &result_}) o->at += scratch_bytes_;
  space_ += scratch_bytes_;
  const dnnl_dims_t bytes = {std::max<int64_t>(scratch_bytes_, 1)};
  return ok(f.memory_desc_create_with_tag(scratch_.place(), 1, bytes, dnnl_u8, dnnl_a));
}

Cache<Shape, Primitives>& cache() {
  static auto* const all = new Cache<Shape, Primitives>;  // never freed: oneDNN's own state may end before ours
  return *all;
}

// Returns whether oneDNN computes a convolution. Signals are blocked while it computes an image's channels, so the work
// has an upper bound.
bool suits(const Convolution& c) {
  const double work = c.work(), most = 1e9 / static_cast<double>(std::min<int64_t>(c.outs, 128));
  if (work < 1e5 || work > most * static_cast<double>(c.outs)) return false;
  if (c.input->dtype != LAMELLA_FLOAT32 || c.out->dtype != LAMELLA_FLOAT32 || c.groups != 1) return false;
  if (!is_contiguous(c.weight) && !lies_channels_last(c.weight)) return false;
  if ((c.bias && !is_contiguous(c.bias)) || c.image[0] != 1 || c.kernel[0] != 1 || c.padding[0] != 0) return false;
  const bool whole = c.in % 16 == 0 && c.outs % 16 == 0;
  if (c.channels_last()) return c.taps > 1 || (whole && work >= 1e6);
  if (c.taps > 1 && c.count <= 64) return false;
  if (c.taps > 1 && c.in <= few_channels && c.outs % 16 == 0) return work >= 1e6;
  return whole && work >= (c.taps == 1 ? 1e6 : 3e6);
}

Shape shape_of(const Convolution& c) {
  Shape s{};
  s.in = c.in;
  s.bias = c.bias != nullptr;
  s.channels_last = c.channels_last();
  s.weight_last = !is_contiguous(c.weight);
  for (int i = 0; i < 2; i++) {
    s.image[i] = c.image[i + 1];
    s.kernel[i] = c.kernel[i + 1];
    s.stride[i] = c.stride[i + 1];
    s.padding[i] = c.padding[i + 1];
    s.dilation[i] = c.dilation[i + 1];
    s.places[i] = c.places[i + 1];
  }
  auto steps = [](const lamella_tensor* t, const int64_t* image, int64_t* to) {
    const int n = t->dl.ndim;
    to[0] = t->dl.strides[1];
    to[2] = t->dl.strides[n - 1];
    to[1] = n >= 4 ? t->dl.strides[n - 2] : image[1] * to[2];  // a line has no rows
  };
  steps(c.input, s.image, s.from);
  steps(c.out, s.places, s.to);
  return s;
}

}  // namespace

// The threads share the images, or the channels if images are few. Channels are cut at multiples of 16 only: oneDNN
// could choose a primitive for other numbers of channels that adds up in another order than the primitive for all.
lamella_status onednn_convolution(const Convolution& c, bool* done) {
  *done = false;
  if (!suits(c) || !dnnl().complete) return LAMELLA_OK;
  const Shape whole = shape_of(c);
  const bool by_images = c.images >= 8 || c.outs % 16;
  const int64_t step = c.outs % 32 ? 16 : 32, units = by_images ? c.images : c.outs / step;
  const double unit = by_images ? c.work() : c.work() * static_cast<double>(c.images) / static_cast<double>(units);
  const int64_t grain = std::max<int64_t>(static_cast<int64_t>(2e6 / unit) + 1, by_images ? c.images / 8 : 1);
  std::atomic<bool> refused{false};
  lamella_status st = parallel_for(0, units, grain, [&](int64_t begin, int64_t end) -> lamella_status {
    const int64_t from = by_images ? 0 : begin * step, first = by_images ? begin : 0;
    Shape s = whole;
    s.outs = by_images ? c.outs : (end - begin) * step;
    [[maybe_unused]] OneThread guard;
    const auto part = cache().get(s);
    Space space;
    if (!part) {
      refused = true;
      return LAMELLA_OK;
    }
    if (lamella_status bad = space.take(part->space())) return bad;
    for (int64_t i = first; i < (by_images ? end : c.images); i++) {
      SignalsWait wait;
      if (!part->run(static_cast<const float*>(c.input->dl.data) + i * c.input->dl.strides[0],
                     static_cast<const float*>(c.weight->dl.data) + from * c.depth(),
                     c.bias ? static_cast<const float*>(c.bias->dl.data) + from : nullptr,
                     static_cast<float*>(c.out->dl.data) + i * c.out->dl.strides[0] + from * whole.to[0], space.data(),
                     i == first))
        return fail(LAMELLA_RUNTIME_ERROR,
                    lamella::detail::text("convolution: argument 'input': oneDNN reports an error for an image of ",
                                          c.in, " channels, ", c.image[1], " rows and ", c.image[2], " columns"));
    }
    return LAMELLA_OK;
  });
  *done = !st && !refused;
  return st;
}

#endif

}  // namespace lamella::cpu
