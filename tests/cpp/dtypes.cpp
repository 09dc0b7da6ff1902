// Dtypes that are not plain, without Python: the kernels that get them, registration and its errors, numbers that are
// not reused, promotion, casts and fills through float32. Usage: test_dtypes LIBLAMELLA_CPU.SO
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "calls.h"

namespace {

lamella_value dtype(int32_t t) { return {LAMELLA_DTYPE, 0, {t}}; }
lamella_value ints(const std::vector<int64_t>& all) {
  lamella_value v{LAMELLA_INT_LIST, static_cast<uint32_t>(all.size()), {0}};
  v.as.ints = all.data();
  return v;
}
lamella_tensor* as(lamella_tensor* t, int32_t to) {
  return made("aten::to", "dtype", {of(t), dtype(to), no, no, none});
}
std::vector<float> numbers(lamella_tensor* t) {
  lamella_tensor* f = as(t, LAMELLA_FLOAT32);
  lamella_tensor* packed = made("aten::contiguous", "", {of(f), {LAMELLA_MEMORY_FORMAT, 0, {0}}});
  const auto* data = static_cast<const float*>(packed->dl.data);
  std::vector<float> out(data, data + packed->numel);
  api->release(f);
  api->release(packed);
  return out;
}

// The dtype `tenths`: a two-byte integer n means the number n / 10.
void from_tenths(int64_t n, const void* from, float* to) {
  for (int64_t i = 0; i < n; i++) to[i] = static_cast<float>(static_cast<const int16_t*>(from)[i]) / 10;
}
void to_tenths(int64_t n, const float* from, void* to) {
  for (int64_t i = 0; i < n; i++) static_cast<int16_t*>(to)[i] = static_cast<int16_t>(std::lround(from[i] * 10));
}

lamella_dtype_def tenths_def() {
  lamella_dtype_def d{};
  d.size = sizeof d;
  d.itemsize = 2;
  d.name = "tenths";
  d.dtype_class = LAMELLA_CLASS_FLOATING;
  d.dlpack = {kDLOpaqueHandle, 16, 1};
  d.to_float32 = from_tenths;
  d.from_float32 = to_tenths;
  return d;
}

lamella_library* library(const char* name) {
  lamella_library* l;
  OK(api, open_library(api, name, name, &l, LAMELLA_DEFINES));
  return l;
}

// ---- the kernels that get them -------------------------------------------------------------------------------------

lamella_status same_shape(lamella_frame*, const lamella_value* args, lamella_meta* outs) {
  const lamella_tensor* t = args[0].as.tensor;
  outs[0].ndim = t->dl.ndim;
  for (int i = 0; i < t->dl.ndim; i++) outs[0].sizes[i] = t->dl.shape[i];
  outs[0].dtype = LAMELLA_INT64;
  return LAMELLA_OK;
}
lamella_status of_dtype(lamella_frame*, const lamella_value* args, lamella_meta* outs) {
  outs[0].ndim = 1;
  outs[0].sizes[0] = 2;
  outs[0].dtype = static_cast<uint8_t>(args[0].as.i);
  return LAMELLA_OK;
}

int ran = 0;
lamella_status plain_kernel(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  CHECK(args[0].tag != LAMELLA_TENSOR || args[0].as.tensor->dtype < LAMELLA_PLAIN_DTYPES);
  CHECK(rets[0].as.tensor->dtype < LAMELLA_PLAIN_DTYPES);
  ran = 1;
  return LAMELLA_OK;
}
lamella_status any_kernel(lamella_frame*, const lamella_value*, lamella_value*) {
  ran = 2;
  return LAMELLA_OK;
}
lamella_status tenths_kernel(lamella_frame*, const lamella_value*, lamella_value*) {
  ran = 3;
  return LAMELLA_OK;
}
lamella_status composite(lamella_frame* f, const lamella_value*, lamella_value* rets) {
  ran = 4;
  int64_t two = 2;
  (void)f;
  lamella_tensor* t;
  if (lamella_status st = api->tensor_empty(1, &two, nullptr, LAMELLA_INT64, {cpu, 0}, &t)) return st;
  rets[0] = of(t);
  return LAMELLA_OK;
}

lamella_handle kernel(lamella_library* l, const char* op, const char* key, lamella_kernel fn, uint32_t flags = 0) {
  const lamella_kernel_def d = {sizeof d, flags, fn, nullptr, nullptr, 0, 0};
  lamella_handle h;
  OK(api, api->kernel(l, op, key, &d, &h));
  return h;
}

void who_gets_them() {
  lamella_library* l = library("whom");
  const lamella_dtype_def def = tenths_def();
  int32_t tenths;
  OK(api, api->dtype_register(l, &def, &tenths, nullptr));
  CHECK(tenths >= LAMELLA_FIRST_PLUGIN_DTYPE && tenths < LAMELLA_NO_DTYPE);
  lamella_operator_def d{};
  d.size = sizeof d;
  for (const bool factory : {false, true}) {
    d.schema = factory ? "make(ScalarType dtype) -> Tensor" : "look(Tensor self) -> Tensor";
    d.infer = factory ? of_dtype : same_shape;
    OK(api, api->define(l, &d, nullptr));
    const char* const name = factory ? "whom::make" : "whom::look";
    const std::string refusal =
        factory ? "make: its result has dtype tenths, for which 'cpu' has no kernel of whom::make; ask for a plain one"
                : "look: argument 'self' has dtype tenths, for which 'cpu' has no kernel of whom::look; convert it";
    lamella_tensor *odd = empty(tenths, 2), *usual = empty(LAMELLA_FLOAT32, 2);
    const auto run = [&](int32_t t) {
      lamella_value r;
      const int32_t st = call(name, "", {factory ? dtype(t) : of(t == tenths ? odd : usual)}, &r);
      if (!st) {
        CHECK(r.as.tensor->dtype == (factory && ran != 4 ? t : LAMELLA_INT64));
        api->release(r.as.tensor);
      }
      return st;
    };
    const lamella_handle first = kernel(l, name, "cpu", plain_kernel);
    OK(api, run(LAMELLA_FLOAT32));
    CHECK(ran == 1);
    ran = 0;
    FAILS(api, run(tenths), refusal);
    CHECK(ran == 0);
    // A composite serves if the kernel refuses the dtype; a kernel of that dtype or of all dtypes has precedence.
    const lamella_handle whole = kernel(l, name, "composite", composite);
    OK(api, run(tenths));
    CHECK(ran == 4);
    const lamella_handle own = kernel(l, name, "tenths", tenths_kernel);
    OK(api, run(tenths));
    CHECK(ran == 3);
    OK(api, run(LAMELLA_FLOAT32));
    CHECK(ran == 1);
    OK(api, api->withdraw(first));
    const lamella_handle all = kernel(l, name, "cpu", any_kernel, LAMELLA_KERNEL_ANY_DTYPE);
    OK(api, run(tenths));
    CHECK(ran == 3);
    OK(api, api->withdraw(own));
    OK(api, run(tenths));
    CHECK(ran == 2);
    for (lamella_handle h : {all, whole}) OK(api, api->withdraw(h));
    api->release(odd);
    api->release(usual);
  }
  // A kernel of one dtype gets no tensor of another dtype, neither as a result nor as an argument.
  d.schema = "as(Tensor self, ScalarType dtype) -> Tensor";
  d.infer = [](lamella_frame*, const lamella_value* args, lamella_meta* outs) -> lamella_status {
    outs[0].ndim = 0;
    outs[0].dtype = static_cast<uint8_t>(args[1].as.i);
    return LAMELLA_OK;
  };
  OK(api, api->define(l, &d, nullptr));
  kernel(l, "whom::as", "cpu", plain_kernel);
  kernel(l, "whom::as", "tenths", tenths_kernel);
  lamella_tensor *odd = empty(tenths, 2), *eight = empty(LAMELLA_FLOAT8_E5M2, 2), *usual = empty(LAMELLA_FLOAT32, 2);
  lamella_value r;
  for (lamella_tensor* x : {odd, eight, usual})
    for (const int32_t to : {tenths, int32_t{LAMELLA_FLOAT8_E5M2}, int32_t{LAMELLA_FLOAT32}}) {
      const bool serves = (x == odd && to != LAMELLA_FLOAT8_E5M2) || (x == usual && to == tenths);
      ran = 0;
      const int32_t st = call("whom::as", "", {of(x), dtype(to)}, &r);
      CHECK((st == 0) == (serves || (x == usual && to == LAMELLA_FLOAT32)));
      CHECK(ran == (serves ? 3 : st == 0 ? 1 : 0));
      st ? api->error_clear() : api->release(r.as.tensor);
    }
  FAILS(api, call("whom::as", "", {of(usual), dtype(60)}, &r), "dtype");
  // Without a shape rule, the derived forms store the kernel's own results; dtypes that are not plain are refused too.
  d.schema = "bare(Tensor self) -> Tensor";
  d.infer = nullptr;
  d.forms = LAMELLA_FORM_FUNCTION | LAMELLA_FORM_OUT | LAMELLA_FORM_INPLACE;
  OK(api, api->define(l, &d, nullptr));
  kernel(l, "whom::bare", "cpu", [](lamella_frame*, const lamella_value* args, lamella_value* rets) -> lamella_status {
    CHECK(args[0].as.tensor->dtype < LAMELLA_PLAIN_DTYPES);
    api->retain(args[0].as.tensor);
    rets[0] = args[0];
    return LAMELLA_OK;
  });
  FAILS(api, call("whom::bare", "", {of(eight)}, &r), "bare: argument 'self' has dtype float8_e5m2");
  FAILS(api, call("whom::bare", "out", {of(eight), of(eight)}, &r), "bare: argument 'self' has dtype float8_e5m2");
  FAILS(api, call("whom::bare_", "", {of(eight)}, &r), "bare_: argument 'self' has dtype float8_e5m2");
  for (lamella_tensor* x : {odd, eight, usual}) api->release(x);
  api->library_close(l);
  done("kernels: old ones never meet such a dtype, neither as an argument nor as a result");
}

// ---- registration --------------------------------------------------------------------------------------------------

void registration() {
  lamella_library* l = library("registration");
  int32_t t;
  struct Wrong {
    void (*spoil)(lamella_dtype_def&);
    const char* says;
  };
  const Wrong all[] = {
      {[](lamella_dtype_def& d) { d.name = nullptr; }, "'name' must not be null"},
      {[](lamella_dtype_def& d) { d.itemsize = 3; }, "tenths: 'itemsize' is 3; it must be 1, 2, 4, 8 or 16"},
      {[](lamella_dtype_def& d) { d.dtype_class = LAMELLA_CLASS_COMPLEX; }, "'dtype_class' is 8"},
      {[](lamella_dtype_def& d) { d.dtype_class = 3; }, "'dtype_class' is 3"},
      {[](lamella_dtype_def& d) { d.to_float32 = nullptr; }, "'to_float32' and 'from_float32' must not be null"},
      {[](lamella_dtype_def& d) { d.dlpack.lanes = 2; }, "16 bits and 2 lanes, which do not make the 2 bytes"},
      {[](lamella_dtype_def& d) { d.num_promotions = 1; }, "'promotions' must not be null"},
      {[](lamella_dtype_def& d) { d.reserved = 1; }, "'reserved'"},
      {[](lamella_dtype_def& d) { d.name = "float32"; }, "'float32' is taken by lamella; registration cannot"},
      {[](lamella_dtype_def& d) { d.name = "half"; }, "'half' is taken by lamella"},
      {[](lamella_dtype_def& d) { d.name = "cpu"; }, "'cpu' is the name of a backend already"},
      {[](lamella_dtype_def& d) { d.name = "composite"; }, "cannot be its name"},
  };
  for (const Wrong& w : all) {
    lamella_dtype_def d = tenths_def();
    w.spoil(d);
    FAILS(api, api->dtype_register(l, &d, &t, nullptr), w.says);
  }
  lamella_dtype_def d = tenths_def();
  const lamella_promotion wrong[] = {{LAMELLA_FLOAT32, 200}};
  d.promotions = wrong;
  d.num_promotions = 1;
  FAILS(api, api->dtype_register(l, &d, &t, nullptr), "'promotions' names the dtype 200");
  d = tenths_def();
  // A dtype that is registered again under its name gets its former number.
  int32_t first, again;
  lamella_handle h;
  OK(api, api->dtype_register(l, &d, &first, &h));
  FAILS(api, api->dtype_register(l, &d, &t, nullptr), "'tenths' is taken by registration");
  OK(api, api->find_dtype("tenths", &again));
  CHECK(again == first);
  lamella_layer layer{};
  layer.size = sizeof layer;
  layer.name = "tenths";
  layer.flags = LAMELLA_LAYER_FALLTHROUGH;
  FAILS(api, api->layer(l, &layer, nullptr, nullptr), "'tenths' is the name of a dtype already");
  lamella_tensor* kept = floats({1.5, -2});
  lamella_tensor* odd = as(kept, first);
  // After the dtype is withdrawn, no new tensor can have it, but existing tensors can still be read.
  OK(api, api->withdraw(h));
  FAILS(api, api->find_dtype("tenths", &again), "there is no dtype 'tenths'");
  lamella_tensor* none_made;
  const int64_t one = 1;
  FAILS(api, api->tensor_empty(1, &one, nullptr, first, {cpu, 0}, &none_made), "there is no dtype");
  lamella_value r;
  FAILS(api, call("aten::to", "dtype", {of(kept), dtype(first), no, no, none}, &r), "dtype");
  CHECK((numbers(odd) == std::vector<float>{1.5, -2}));
  CHECK(api->dtype_info(first) && std::string(api->dtype_info(first)->name) == "tenths");
  d.itemsize = 4;
  d.dlpack.bits = 32;
  FAILS(api, api->dtype_register(l, &d, &t, nullptr),
        "'tenths' was registered with elements of 2 bytes, and tensors may still have it");
  d = tenths_def();
  OK(api, api->dtype_register(l, &d, &again, nullptr));
  CHECK(again == first);
  api->release(kept);
  api->release(odd);
  api->library_close(l);
  // dtype_info() describes each registered dtype, and is null for any other number.
  CHECK(!api->dtype_info(-1) && !api->dtype_info(255) && !api->dtype_info(100) && !api->dtype_info(256));
  const lamella_dtype_def* f8 = api->dtype_info(LAMELLA_FLOAT8_E4M3FN);
  CHECK(f8->itemsize == 1 && f8->dtype_class == LAMELLA_CLASS_FLOATING && f8->dlpack.code == kDLFloat8_e4m3fn &&
        f8->to_float32 && std::string(f8->name) == "float8_e4m3fn");
  CHECK(api->dtype_info(LAMELLA_COMPLEX128)->itemsize == 16 && !api->dtype_info(LAMELLA_INT8)->to_float32);
  done("registration: errors, names that are taken, numbers that stay, what is withdrawn");
}

// ---- casts, fills, copies, promotion -------------------------------------------------------------------------------

void conversions() {
  lamella_library* l = library("conversions");
  lamella_dtype_def d = tenths_def();
  const lamella_promotion with[] = {{LAMELLA_FLOAT16, LAMELLA_FLOAT32},
                                    {LAMELLA_FLOAT32, LAMELLA_FLOAT32},
                                    {LAMELLA_FLOAT8_E4M3FN, LAMELLA_FLOAT32},
                                    {LAMELLA_FLOAT64, LAMELLA_THIS_DTYPE},
                                    {LAMELLA_COMPLEX128, LAMELLA_NO_DTYPE}};
  d.promotions = with;
  d.num_promotions = 5;
  int32_t tenths;
  OK(api, api->dtype_register(l, &d, &tenths, nullptr));
  // Casts of long and strided rows, fills, an item, copies, views, detached and assigned tensors.
  std::vector<float> many(5000);
  for (size_t i = 0; i < many.size(); i++) many[i] = static_cast<float>(i % 100) / 10;
  lamella_tensor *source = floats(many), *odd = as(source, tenths);
  CHECK(odd->dtype == tenths && odd->dl.dtype.bits == 16 && odd->dl.strides[0] == 1);
  CHECK(numbers(odd) == many);
  lamella_tensor* table = made("aten::view", "", {of(odd), ints({50, 100})});
  lamella_tensor* turned = made("aten::t", "", {of(table)});
  std::vector<float> by_columns;
  for (int c = 0; c < 100; c++)
    for (int r = 0; r < 50; r++) by_columns.push_back(many[r * 100 + c]);
  CHECK(numbers(turned) == by_columns);
  lamella_tensor* whole = as(turned, LAMELLA_INT32);
  CHECK(static_cast<const int32_t*>(whole->dl.data)[0] == 0 && whole->numel == 5000);
  lamella_tensor* back = as(whole, tenths);
  lamella_tensor* full = made("aten::full", "", {ints({3}), {LAMELLA_FLOAT, 0, {0}}, dtype(tenths), none, none, none});
  lamella_value half{LAMELLA_FLOAT, 0, {0}};
  half.as.d = 2.5;
  lamella_value r;
  OK(api, call("aten::fill_", "Scalar", {of(full), half}, &r));
  api->release(r.as.tensor);
  CHECK((numbers(full) == std::vector<float>{2.5, 2.5, 2.5}));
  lamella_tensor* last = made("aten::select", "int", {of(full), num(0), num(2)});
  OK(api, call("aten::item", "", {of(last)}, &r));
  CHECK(r.tag == LAMELLA_FLOAT && r.as.d == 2.5);
  // In this dtype, zero bits do not mean 0, so zeros() must convert its fill value.
  lamella_dtype_def biased = tenths_def();
  biased.name = "biased";
  biased.itemsize = 1;
  biased.dtype_class = LAMELLA_CLASS_INTEGRAL;
  biased.dlpack.bits = 8;
  biased.to_float32 = [](int64_t n, const void* from, float* to) {
    for (int64_t i = 0; i < n; i++) to[i] = static_cast<float>(static_cast<const uint8_t*>(from)[i]) - 7;
  };
  biased.from_float32 = [](int64_t n, const float* from, void* to) {
    for (int64_t i = 0; i < n; i++) static_cast<uint8_t*>(to)[i] = static_cast<uint8_t>(from[i] + 7);
  };
  int32_t seven;
  OK(api, api->dtype_register(l, &biased, &seven, nullptr));
  lamella_tensor* zeros = made("aten::zeros", "", {ints({3}), dtype(seven), none, none, none});
  CHECK((numbers(zeros) == std::vector<float>{0, 0, 0}));
  api->release(zeros);
  // A layer cannot take away the bit that marks such a dtype.
  FAILS(api, api->tensor_update_keys(full, 0, 1), "no layer has the bits");
  lamella_tensor* detached;
  OK(api, api->tensor_detach(full, ~uint64_t{0}, &detached));
  FAILS(api, call("aten::neg", "", {of(detached)}, &r), "neg: argument 'self' has dtype tenths");
  lamella_tensor* plain = floats({1});
  OK(api, api->tensor_assign(detached, plain));
  lamella_tensor* negative = made("aten::neg", "", {of(detached)});
  CHECK(negative->dtype == LAMELLA_FLOAT32);
  OK(api, api->tensor_assign(detached, full));
  FAILS(api, call("aten::neg", "", {of(detached)}, &r), "neg: argument 'self' has dtype tenths");
  // A sum with another dtype has the declared dtype, else that of the higher class, else it is an error.
  const auto sum = [&](int32_t a, int32_t b, lamella_value* out) {
    lamella_tensor *x = empty(a, 1), *y = empty(b, 1);
    const int32_t st = call("aten::add", "Tensor", {of(x), of(y), num(1)}, out);
    api->release(x);
    api->release(y);
    return st;
  };
  const auto common = [&](int32_t other, int32_t expected) {
    for (const bool turn : {false, true}) {
      OK(api, sum(turn ? other : tenths, turn ? tenths : other, &r));
      CHECK(r.as.tensor->dtype == expected);
      api->release(r.as.tensor);
    }
  };
  const auto refused = [&](int32_t other, const char* says) {
    FAILS(api, sum(tenths, other, &r), says);
    FAILS(api, sum(other, tenths, &r), says);
  };
  common(LAMELLA_FLOAT16, LAMELLA_FLOAT32);
  common(LAMELLA_FLOAT32, LAMELLA_FLOAT32);
  common(LAMELLA_FLOAT8_E4M3FN, LAMELLA_FLOAT32);
  common(LAMELLA_COMPLEX64, LAMELLA_COMPLEX64);
  for (int32_t other : {LAMELLA_INT64, LAMELLA_BOOL, LAMELLA_FLOAT64})
    refused(other, "has dtype tenths, for which 'cpu' has no kernel of add");
  refused(LAMELLA_BFLOAT16, "bfloat16");
  refused(LAMELLA_FLOAT8_E5M2, "float8_e5m2");
  refused(LAMELLA_COMPLEX128, "complex128");
  for (lamella_tensor* x : {source, odd, table, turned, whole, back, full, last, detached, plain, negative})
    api->release(x);
  api->library_close(l);
  done("casts, fills, items, views, promotion");
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  who_gets_them();
  registration();
  conversions();
}
