// libcudnn.so.9 for tests: convolutions and their gradients over memory of the host, from descriptors, as NVIDIA
// documents them. It refuses the same calls as cuDNN, and more: strides of 7 have no algorithm, and dilations of 5 have
// only algorithms that fail when they run. Where TF32 may be used, it rounds as TF32 does. Algorithm 0 is not
// deterministic, 1 is, 2 needs more memory than a device has, 3 has a status. It overwrites the requested work space.
// STANDIN_DNN_DEFECT=1 leaves out a term of each sum, STANDIN_DNN_SPACE is the work space of algorithm 1. The first
// STANDIN_DNN_LACKS handles have no memory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#define API extern "C" __attribute__((visibility("default"))) int

extern "C" int standin_on_stream(void* stream, void (*work)(void*), void* with, void (*destroy)(void*));

namespace {

enum { success = 0, bad = 2000, null = 2002, unsupported = 3000, no_memory = 4004, failed = 5000 };
enum { of_float = 0, of_double = 1, of_half = 2, of_bfloat16 = 9 };

int calls = 0, searches = 0, last_algorithm = -1, last_channels_last = -1;

struct Handle {
  void* stream = nullptr;
};
struct Tensor {
  int type = -1, dims = 0, sizes[5] = {}, strides[5] = {};
};
struct Filter : Tensor {
  int format = -1;
};
struct Convolution {
  int dims = 0, padding[3] = {}, stride[3] = {}, dilation[3] = {}, compute = -1, groups = 1, math = 0;
};
struct Performance {
  int algorithm, status;
  float time;
  size_t memory;
  int determinism, math, reserved[3];
};

double load(const void* data, int type, int64_t at) {
  if (type == of_double) return static_cast<const double*>(data)[at];
  if (type == of_float) return static_cast<const float*>(data)[at];
  if (type == of_half) return static_cast<double>(static_cast<const _Float16*>(data)[at]);
  const uint32_t bits = static_cast<uint32_t>(static_cast<const uint16_t*>(data)[at]) << 16;
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
void store(void* data, int type, int64_t at, double value) {
  if (type == of_double) static_cast<double*>(data)[at] = value;
  if (type == of_float) static_cast<float*>(data)[at] = static_cast<float>(value);
  if (type == of_half) static_cast<_Float16*>(data)[at] = static_cast<_Float16>(static_cast<float>(value));
  if (type != of_bfloat16) return;
  const float f = static_cast<float>(value);
  uint32_t u;
  std::memcpy(&u, &f, 4);
  static_cast<uint16_t*>(data)[at] = static_cast<uint16_t>((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}
double in_tf32(double value) {
  const float f = static_cast<float>(value);
  uint32_t u;
  std::memcpy(&u, &f, 4);
  u = (u + 0x1000u) & ~0x1fffu;
  float rounded;
  std::memcpy(&rounded, &u, 4);
  return rounded;
}

// The arguments of a call, copied, since the descriptors may be destroyed before the stream runs the call.
struct Call {
  Tensor x, w, y;
  Convolution how;
  void *images, *weights, *outputs;
  int computed;  // 0: outputs, 1: images, 2: weights
  void* space;
  size_t space_bytes;
  double alpha, beta;
};

int64_t elements(const Tensor& t) {
  int64_t last = 0;
  for (int d = 0; d < t.dims; d++) last += static_cast<int64_t>(t.sizes[d] - 1) * t.strides[d];
  return last + 1;
}

// Calls body with the places of the three elements of every product, by dimensions one after another.
template <class Body>
void products(const Call& c, Body body) {
  const int spatial = c.x.dims - 2, outs = c.w.sizes[0] / c.how.groups;
  int64_t places = 1, taps = 1;
  for (int d = 0; d < spatial; d++) places *= c.y.sizes[2 + d], taps *= c.w.sizes[2 + d];
  for (int n = 0; n < c.x.sizes[0]; n++)
    for (int k = 0; k < c.w.sizes[0]; k++)
      for (int i = 0; i < c.w.sizes[1]; i++)
        for (int64_t place = 0; place < places; place++)
          for (int64_t tap = 0; tap < taps; tap++) {
            int64_t x = static_cast<int64_t>(n) * c.x.strides[0] + (k / outs * c.w.sizes[1] + i) * c.x.strides[1];
            int64_t w = static_cast<int64_t>(k) * c.w.strides[0] + static_cast<int64_t>(i) * c.w.strides[1];
            int64_t y = static_cast<int64_t>(n) * c.y.strides[0] + static_cast<int64_t>(k) * c.y.strides[1];
            int64_t p = place, t = tap;
            bool inside = true;
            for (int d = spatial - 1; d >= 0; d--) {
              const int64_t to = p % c.y.sizes[2 + d], by = t % c.w.sizes[2 + d];
              p /= c.y.sizes[2 + d], t /= c.w.sizes[2 + d];
              const int64_t from = to * c.how.stride[d] - c.how.padding[d] + by * c.how.dilation[d];
              inside = inside && from >= 0 && from < c.x.sizes[2 + d];
              x += from * c.x.strides[2 + d], w += by * c.w.strides[2 + d], y += to * c.y.strides[2 + d];
            }
            if (inside) body(x, w, y);
          }
}

void run(void* with) {
  Call* c = static_cast<Call*>(with);
  static const bool defect = std::getenv("STANDIN_DNN_DEFECT") != nullptr;
  if (c->space_bytes) std::memset(c->space, 0xa5, c->space_bytes);
  const bool rounds = c->x.type == of_float && c->how.math != 3;
  const Tensor& to = c->computed == 0 ? c->y : c->computed == 1 ? c->x : c->w;
  void* out = c->computed == 0 ? c->outputs : c->computed == 1 ? c->images : c->weights;
  std::vector<double> sums(static_cast<size_t>(elements(to)));
  std::vector<bool> begun(sums.size());
  const auto at = [&](const void* data, int64_t i) {
    const double value = load(data, c->x.type, i);
    return rounds ? in_tf32(value) : value;
  };
  products(*c, [&](int64_t x, int64_t w, int64_t y) {
    const auto i = static_cast<size_t>(c->computed == 0 ? y : c->computed == 1 ? x : w);
    if (defect && !begun[i]) return void(begun[i] = true);
    if (c->computed == 0) sums[i] += at(c->images, x) * at(c->weights, w);
    if (c->computed == 1) sums[i] += at(c->weights, w) * at(c->outputs, y);
    if (c->computed == 2) sums[i] += at(c->images, x) * at(c->outputs, y);
  });
  for (size_t i = 0; i < sums.size(); i++) {
    const double before = c->beta == 0 ? 0 : load(out, to.type, static_cast<int64_t>(i));
    store(out, to.type, static_cast<int64_t>(i), c->alpha * sums[i] + c->beta * before);
  }
}

// Returns whether descriptors go together, as every function checks.
int fit(const Tensor* x, const Filter* w, const Convolution* c, const Tensor* y) {
  if (!x || !w || !c || !y) return null;
  if (!x->dims || x->dims != w->dims || x->dims != y->dims || c->dims != x->dims - 2) return bad;
  if (x->type != w->type || x->type != y->type) return bad;
  if (c->compute != (x->type == of_double ? of_double : of_float)) return unsupported + 3;
  if (x->sizes[1] != w->sizes[1] * c->groups || w->sizes[0] % c->groups || y->sizes[1] != w->sizes[0] ||
      x->sizes[0] != y->sizes[0])
    return bad;
  for (int d = 0; d < c->dims; d++) {
    const int reach = c->dilation[d] * (w->sizes[2 + d] - 1) + 1;
    if (y->sizes[2 + d] != (x->sizes[2 + d] + 2 * c->padding[d] - reach) / c->stride[d] + 1) return bad;
  }
  for (const Tensor* t : {x, y})  // filters in NHWC need images in NHWC
    if (w->format == 1 && t->strides[1] != 1 && t->sizes[1] > 1) return unsupported + 4;
  return success;
}

size_t usual_space() {
  const char* given = std::getenv("STANDIN_DNN_SPACE");
  return given ? static_cast<size_t>(std::atoll(given)) : 1000;
}
int space_of(int algorithm, size_t* bytes) {
  if (algorithm < 0 || algorithm > 2) return unsupported;
  return *bytes = algorithm == 2 ? size_t{1} << 50 : algorithm == 1 ? usual_space() : 0, success;
}

int find(void* h, const Tensor* x, const Filter* w, const Convolution* c, const Tensor* y, int most, int* count,
         Performance* found) {
  if (!h || !count || !found) return null;
  if (most < 1) return bad;
  if (const int wrong = fit(x, w, c, y)) return wrong;
  searches++;
  for (int d = 0; d < c->dims; d++)
    if (c->stride[d] == 7) return unsupported;
  const Performance all[] = {{3, unsupported, -1, 0, 0, c->math, {}},
                             {2, success, 0, size_t{1} << 50, 1, c->math, {}},
                             {0, success, 0, 0, 0, c->math, {}},
                             {1, success, 0, usual_space(), 1, c->math, {}}};
  *count = most < 4 ? most : 4;
  std::memcpy(found, all, static_cast<size_t>(*count) * sizeof *all);
  return success;
}

int convolve(void* h, int computed, const void* alpha, const Tensor* x, const void* images, const Filter* w,
             const void* weights, const Convolution* c, int algorithm, void* space, size_t bytes, const void* beta,
             const Tensor* y, const void* outputs) {
  if (!h || !alpha || !beta || !images || !weights || !outputs) return null;
  if (const int wrong = fit(x, w, c, y)) return wrong;
  for (const void* data : {images, weights, outputs})
    if (reinterpret_cast<uintptr_t>(data) % 16) return bad + 3;
  size_t needed = 0;
  if (const int wrong = space_of(algorithm, &needed)) return wrong;
  if (bytes < needed || (needed && !space)) return bad;
  for (int d = 0; d < c->dims; d++)
    if (c->dilation[d] == 5) return unsupported;
  calls++;
  last_algorithm = algorithm;
  last_channels_last = w->format;
  const auto number = [&](const void* p) { return load(p, x->type == of_double ? of_double : of_float, 0); };
  auto* call = new Call{*x,
                        *w,
                        *y,
                        *c,
                        const_cast<void*>(images),
                        const_cast<void*>(weights),
                        const_cast<void*>(outputs),
                        computed,
                        space,
                        bytes,
                        number(alpha),
                        number(beta)};
  const auto destroy = [](void* with) { delete static_cast<Call*>(with); };
  return standin_on_stream(static_cast<Handle*>(h)->stream, run, call, destroy) ? failed : success;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) size_t cudnnGetVersion() { return 90000; }
API cudnnCreate(void** out) {
  static int lacks = std::getenv("STANDIN_DNN_LACKS") ? std::atoi(std::getenv("STANDIN_DNN_LACKS")) : 0;
  if (!out) return null;
  return lacks-- > 0 ? static_cast<int>(no_memory) : (*out = new Handle, success);
}
API cudnnSetStream(void* h, void* stream) {
  return h ? (static_cast<Handle*>(h)->stream = stream, success) : static_cast<int>(null);
}
API cudnnCreateTensorDescriptor(Tensor** out) { return *out = new Tensor, success; }
API cudnnDestroyTensorDescriptor(Tensor* t) { return delete t, success; }
API cudnnSetTensorNdDescriptor(Tensor* t, int type, int dims, const int* sizes, const int* strides) {
  if (!t || !sizes || !strides) return null;
  if (dims < 4 || dims > 5 || (type != of_float && type != of_double && type != of_half && type != of_bfloat16))
    return unsupported;
  for (int d = 0; d < dims; d++)
    if (sizes[d] < 1 || strides[d] < 1) return bad;
  t->type = type, t->dims = dims;
  std::memcpy(t->sizes, sizes, static_cast<size_t>(dims) * sizeof(int));
  std::memcpy(t->strides, strides, static_cast<size_t>(dims) * sizeof(int));
  return elements(*t) >> 31 ? unsupported : success;
}
API cudnnCreateFilterDescriptor(Filter** out) { return *out = new Filter, success; }
API cudnnDestroyFilterDescriptor(Filter* w) { return delete w, success; }
API cudnnSetFilterNdDescriptor(Filter* w, int type, int format, int dims, const int* sizes) {
  if (!w || !sizes) return null;
  if (dims < 4 || dims > 5 || format < 0 || format > 1) return unsupported;
  int strides[5];
  int step = 1;
  if (format) strides[1] = step, step *= sizes[1];
  for (int d = dims - 1; d >= 0; d--)
    if (!format || d != 1) strides[d] = step, step *= sizes[d];
  w->format = format;
  return cudnnSetTensorNdDescriptor(w, type, dims, sizes, strides);
}
API cudnnCreateConvolutionDescriptor(Convolution** out) { return *out = new Convolution, success; }
API cudnnDestroyConvolutionDescriptor(Convolution* c) { return delete c, success; }
API cudnnSetConvolutionNdDescriptor(Convolution* c, int dims, const int* padding, const int* stride,
                                    const int* dilation, int mode, int compute) {
  if (!c || !padding || !stride || !dilation) return null;
  if (dims < 2 || dims > 3 || mode != 1) return unsupported;
  c->dims = dims, c->compute = compute;
  for (int d = 0; d < dims; d++) {
    if (padding[d] < 0 || stride[d] < 1 || dilation[d] < 1) return bad;
    c->padding[d] = padding[d], c->stride[d] = stride[d], c->dilation[d] = dilation[d];
  }
  return success;
}
API cudnnSetConvolutionGroupCount(Convolution* c, int groups) {
  return !c ? static_cast<int>(null) : groups < 1 ? bad : (c->groups = groups, success);
}
API cudnnSetConvolutionMathType(Convolution* c, int math) {
  return !c ? static_cast<int>(null) : math < 0 || math > 3 ? bad : (c->math = math, success);
}

API cudnnGetConvolutionForwardAlgorithm_v7(void* h, const Tensor* x, const Filter* w, const Convolution* c,
                                           const Tensor* y, int most, int* count, Performance* found) {
  return find(h, x, w, c, y, most, count, found);
}
API cudnnGetConvolutionBackwardDataAlgorithm_v7(void* h, const Filter* w, const Tensor* y, const Convolution* c,
                                                const Tensor* x, int most, int* count, Performance* found) {
  return find(h, x, w, c, y, most, count, found);
}
API cudnnGetConvolutionBackwardFilterAlgorithm_v7(void* h, const Tensor* x, const Tensor* y, const Convolution* c,
                                                  const Filter* w, int most, int* count, Performance* found) {
  return find(h, x, w, c, y, most, count, found);
}
API cudnnGetConvolutionForwardWorkspaceSize(void*, const Tensor* x, const Filter* w, const Convolution* c,
                                            const Tensor* y, int algorithm, size_t* bytes) {
  const int wrong = fit(x, w, c, y);
  return wrong ? wrong : space_of(algorithm, bytes);
}
API cudnnGetConvolutionBackwardDataWorkspaceSize(void*, const Filter* w, const Tensor* y, const Convolution* c,
                                                 const Tensor* x, int algorithm, size_t* bytes) {
  const int wrong = fit(x, w, c, y);
  return wrong ? wrong : space_of(algorithm, bytes);
}
API cudnnGetConvolutionBackwardFilterWorkspaceSize(void*, const Tensor* x, const Tensor* y, const Convolution* c,
                                                   const Filter* w, int algorithm, size_t* bytes) {
  const int wrong = fit(x, w, c, y);
  return wrong ? wrong : space_of(algorithm, bytes);
}
API cudnnConvolutionForward(void* h, const void* alpha, const Tensor* x, const void* images, const Filter* w,
                            const void* weights, const Convolution* c, int algorithm, void* space, size_t bytes,
                            const void* beta, const Tensor* y, void* outputs) {
  return convolve(h, 0, alpha, x, images, w, weights, c, algorithm, space, bytes, beta, y, outputs);
}
API cudnnConvolutionBackwardData(void* h, const void* alpha, const Filter* w, const void* weights, const Tensor* y,
                                 const void* outputs, const Convolution* c, int algorithm, void* space, size_t bytes,
                                 const void* beta, const Tensor* x, void* images) {
  return convolve(h, 1, alpha, x, images, w, weights, c, algorithm, space, bytes, beta, y, outputs);
}
API cudnnConvolutionBackwardFilter(void* h, const void* alpha, const Tensor* x, const void* images, const Tensor* y,
                                   const void* outputs, const Convolution* c, int algorithm, void* space, size_t bytes,
                                   const void* beta, const Filter* w, void* weights) {
  return convolve(h, 2, alpha, x, images, w, weights, c, algorithm, space, bytes, beta, y, outputs);
}

// For tests: the numbers of convolutions that ran and of problems that were searched for, and how the last one ran.
API standin_dnn_calls() { return calls; }
API standin_dnn_searches() { return searches; }
API standin_dnn_algorithm() { return last_algorithm; }
API standin_dnn_channels_last() { return last_channels_last; }
