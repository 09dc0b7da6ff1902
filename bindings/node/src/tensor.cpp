// Class Tensor in JavaScript: an object that keeps a tensor, and its elements as a typed array over the same memory.
#include <cstring>
#include <memory>

#include "napi.h"

namespace lamella::node {
namespace {

// An object of JavaScript's class Tensor wraps this.
struct Box {
  lamella_tensor* tensor;    // null: it was disposed of
  int64_t counted;           // the bytes that the collector of JavaScript knows of
  napi_ref view = nullptr;   // the typed array that `data` returned last, weak
  void* viewed = nullptr;    // the memory that it shows
  int64_t viewed_bytes = 0;  // and how much of it
};

int64_t bytes_of(const lamella_tensor* t) {
  return t->numel * static_cast<int64_t>(itemsize(static_cast<ScalarType>(t->dtype)));
}

void count(napi_env env, int64_t bytes) {
  int64_t now;
  napi_adjust_external_memory(env, bytes, &now);
}

void release(napi_env env, Box& box) {
  if (!box.tensor) return;
  api().release(std::exchange(box.tensor, nullptr));
  count(env, -box.counted);
}

void finalize(napi_env env, void* data, void*) {
  const std::unique_ptr<Box> box(static_cast<Box*>(data));
  release(env, *box);
  if (box->view) napi_delete_reference(env, box->view);
}

napi_value construct(Call& c) {
  Addon& addon = Addon::of(c.env);
  LAMELLA_CHECK_TYPE(c.is_new && addon.making,
                     "Tensor: is no constructor; make a tensor by tensor(), ones() or zeros()");
  auto box = std::make_unique<Box>(Box{addon.making, bytes_of(addon.making)});
  must(c.env, napi_type_tag_object(c.env, c.self, &TENSOR_TAG));
  must(c.env, napi_wrap(c.env, c.self, box.get(), finalize, nullptr, nullptr));
  addon.making = nullptr;
  count(c.env, box.release()->counted);
  return c.self;
}

Box& box_of(napi_env env, napi_value v, const char* what) {
  if (!is_tagged(env, v, TENSOR_TAG))
    throw Error(LAMELLA_TYPE_ERROR, std::string(what) + " must be a Tensor, got " + described(env, v));
  void* box;
  must(env, napi_unwrap(env, v, &box));
  return *static_cast<Box*>(box);
}

Tensor given(Call& c) { return Tensor::borrow(tensor_of(c.env, c.self)); }

// ---- dtypes and typed arrays ----

struct Elements {
  napi_typedarray_type type;
  int64_t each;  // elements of the array for one of the tensor
};

// The typed array that shows a dtype: its own type where JavaScript has it; for half precision the bits, for complex
// numbers their parts, and for all others bytes.
Elements elements_of(const lamella_tensor* t) {
  switch (t->dtype) {
    case LAMELLA_BOOL:
    case LAMELLA_UINT8:
      return {napi_uint8_array, 1};
    case LAMELLA_UINT16:
    case LAMELLA_FLOAT16:
    case LAMELLA_BFLOAT16:
      return {napi_uint16_array, 1};
    case LAMELLA_UINT32:
      return {napi_uint32_array, 1};
    case LAMELLA_UINT64:
      return {napi_biguint64_array, 1};
    case LAMELLA_INT8:
      return {napi_int8_array, 1};
    case LAMELLA_INT16:
      return {napi_int16_array, 1};
    case LAMELLA_INT32:
      return {napi_int32_array, 1};
    case LAMELLA_INT64:
      return {napi_bigint64_array, 1};
    case LAMELLA_FLOAT32:
      return {napi_float32_array, 1};
    case LAMELLA_FLOAT64:
      return {napi_float64_array, 1};
    case LAMELLA_COMPLEX64:
      return {napi_float32_array, 2};
    case LAMELLA_COMPLEX128:
      return {napi_float64_array, 2};
    default:
      return {napi_uint8_array, itemsize(static_cast<ScalarType>(t->dtype))};
  }
}

ScalarType dtype_of_array(napi_typedarray_type type) {
  switch (type) {
    case napi_int8_array:
      return kInt8;
    case napi_uint8_array:
    case napi_uint8_clamped_array:
      return kUInt8;
    case napi_int16_array:
      return kInt16;
    case napi_uint16_array:
      return kUInt16;
    case napi_int32_array:
      return kInt32;
    case napi_uint32_array:
      return kUInt32;
    case napi_float32_array:
      return kFloat;
    case napi_float64_array:
      return kDouble;
    case napi_bigint64_array:
      return kInt64;
    case napi_biguint64_array:
      return kUInt64;
    default:
      throw Error(LAMELLA_TYPE_ERROR, "a typed array of this type has no dtype");
  }
}

ScalarType dtype_named(napi_env env, napi_value v, const char* what) {
  LAMELLA_CHECK_TYPE(type_of(env, v) == napi_string, what, ": argument 'dtype' must be a string, got ",
                     described(env, v));
  const std::string name = string_of(env, v);
  int32_t dtype;
  if (lamella_status status = api().find_dtype(name.c_str(), &dtype)) {
    (void)Error::pending(status);
    throw Error(LAMELLA_TYPE_ERROR, std::string(what) + ": argument 'dtype' must be the name of a dtype, such as " +
                                        "'float32', got '" + name + "'");
  }
  return static_cast<ScalarType>(dtype);
}

DimVector shape_of(napi_env env, napi_value v, const char* what) {
  bool is = false;
  must(env, napi_is_array(env, v, &is));
  LAMELLA_CHECK_TYPE(is, what, ": argument 'shape' must be an array of whole numbers, got ", described(env, v));
  uint32_t length;
  must(env, napi_get_array_length(env, v, &length));
  LAMELLA_CHECK_TYPE(length <= LAMELLA_MAX_DIMS, what, ": argument 'shape' has ", length, " entries, and a tensor at ",
                     "most ", LAMELLA_MAX_DIMS, " dimensions");
  DimVector shape;
  for (uint32_t i = 0; i < length; i++) {
    napi_value item;
    must(env, napi_get_element(env, v, i, &item));
    double x = -1;
    if (type_of(env, item) == napi_number) must(env, napi_get_value_double(env, item, &x));
    if (!(x >= 0 && x <= 9007199254740991.0 && x == static_cast<double>(static_cast<int64_t>(x))))
      throw Error(
          LAMELLA_TYPE_ERROR,
          detail::text(what, ": argument 'shape' must have whole numbers from 0 on, got ",
                       type_of(env, item) == napi_number ? detail::text(x) : described(env, item), " at [", i, "]"));
    shape.push_back(static_cast<int64_t>(x));
  }
  return shape;
}

struct Array {
  napi_typedarray_type type;
  size_t length;
  void* data;
};

Array array_of(napi_env env, napi_value v) {
  Array a{};
  must(env, napi_get_typedarray_info(env, v, &a.type, &a.length, &a.data, nullptr, nullptr));
  return a;
}

Tensor copied(const Array& a, IntArrayRef shape, ScalarType dtype) {
  lamella_tensor* made;
  check(api().tensor_empty(static_cast<int32_t>(shape.size()), shape.data(), nullptr, static_cast<uint8_t>(dtype),
                           Device(kCPU).get(), &made));
  if (made->numel) std::memcpy(made->dl.data, a.data, static_cast<size_t>(bytes_of(made)));
  return Tensor::steal(made);
}

// Returns the dtype whose elements an array of dtype `own` has: the wanted one, if the array has its bits or its parts
// as `data` does, else `own`.
ScalarType dtype_within(ScalarType own, std::optional<ScalarType> wanted) {
  if (!wanted) return own;
  const bool half = own == kUInt16 && is_half(*wanted);
  const bool complex = (own == kFloat && *wanted == kComplexFloat) || (own == kDouble && *wanted == kComplexDouble);
  return half || complex ? *wanted : own;
}

// fromTypedArray(array, shape or undefined, dtype or undefined)
napi_value from_typed_array(Call& c) {
  const char* const what = "tensor";
  const Array a = array_of(c.env, c.arg(0));
  std::optional<ScalarType> wanted;
  if (!is_absent(c.env, c.arg(2))) wanted = dtype_named(c.env, c.arg(2), what);
  const ScalarType stored = dtype_within(dtype_of_array(a.type), wanted);
  const int64_t each = is_complex(stored) ? 2 : 1, length = static_cast<int64_t>(a.length);
  LAMELLA_CHECK_TYPE(length % each == 0, what, ": argument 'data' has ", length,
                     " elements, and complex numbers have two parts each");
  DimVector shape;
  if (is_absent(c.env, c.arg(1)))
    shape.push_back(length / each);
  else
    shape = shape_of(c.env, c.arg(1), what);
  int64_t numel = 1;
  for (const int64_t size : shape)
    LAMELLA_CHECK_TYPE(!__builtin_mul_overflow(numel, size, &numel), what, ": argument 'shape' ", IntArrayRef(shape),
                       " needs more elements than memory has");
  LAMELLA_CHECK_TYPE(numel == length / each, what, ": argument 'shape' ", IntArrayRef(shape), " needs ", numel,
                     " elements, and the data has ", length / each);
  Tensor made = copied(a, shape, stored);
  if (wanted && stored != *wanted) made = made.to(*wanted);
  return tensor_object(c.env, made.release());
}

// ones(shape, dtype or undefined), and zeros
template <Tensor (*Make)(IntArrayRef, const TensorOptions&)>
napi_value filled(Call& c) {
  const char* const what = static_cast<const char*>(c.data);
  const DimVector shape = shape_of(c.env, c.arg(0), what);
  const ScalarType dtype = is_absent(c.env, c.arg(1)) ? kFloat : dtype_named(c.env, c.arg(1), what);
  return tensor_object(c.env, Make(shape, lamella::dtype(dtype)).release());
}

// ---- properties and methods ----

napi_value shape(Call& c) {
  const Tensor t = given(c);
  napi_value out, size;
  must(c.env, napi_create_array_with_length(c.env, static_cast<size_t>(t.dim()), &out));
  for (int64_t i = 0; i < t.dim(); i++) {
    must(c.env, napi_create_int64(c.env, t.size(i), &size));
    must(c.env, napi_set_element(c.env, out, static_cast<uint32_t>(i), size));
  }
  return out;
}
napi_value dtype(Call& c) { return text(c.env, name(given(c).dtype())); }
napi_value device(Call& c) { return text(c.env, detail::text(given(c).device())); }
napi_value numel(Call& c) {
  napi_value out;
  must(c.env, napi_create_int64(c.env, given(c).numel(), &out));
  return out;
}

// Returns the elements of a tensor in host memory, row by row: the tensor itself if it is so.
Tensor in_rows(Tensor t) {
  if (t.is_opaque()) t = lamella::_materialize(t);
  LAMELLA_CHECK(!t.is_meta(), "data: a tensor on device meta has no elements");
  if (!t.is_cpu()) t = t.cpu();
  return t.contiguous();
}

// Makes a buffer over the memory of a tensor, which lives as long as the buffer; without a way to do so, one with a
// copy.
napi_value buffer_over(napi_env env, const lamella_tensor* t) {
  const auto bytes = static_cast<size_t>(bytes_of(t));
  napi_value buffer;
  void* memory;
  if (bytes) {
    api().storage_retain(t->storage);
    const auto end = [](napi_env, void*, void* storage) {
      api().storage_release(static_cast<lamella_storage*>(storage));
    };
    const napi_status made = napi_create_external_arraybuffer(env, t->dl.data, bytes, end, t->storage, &buffer);
    if (made == napi_ok) return buffer;
    api().storage_release(t->storage);
    if (made != napi_no_external_buffers_allowed) must(env, made);
  }
  must(env, napi_create_arraybuffer(env, bytes, &memory, &buffer));
  if (bytes) std::memcpy(memory, t->dl.data, bytes);
  return buffer;
}

napi_value data(Call& c) {
  Box& box = box_of(c.env, c.self, "data: 'this'");
  const Tensor own = given(c), rows = in_rows(own);
  void* const memory = rows.data_ptr();
  napi_value out = nullptr;
  if (box.view && box.viewed == memory && box.viewed_bytes == bytes_of(rows.get()))
    must(c.env, napi_get_reference_value(c.env, box.view, &out));
  if (out) return out;
  const Elements e = elements_of(rows.get());
  must(c.env, napi_create_typedarray(c.env, e.type, static_cast<size_t>(rows.numel() * e.each),
                                     buffer_over(c.env, rows.get()), 0, &out));
  if (box.view) must(c.env, napi_delete_reference(c.env, std::exchange(box.view, nullptr)));
  must(c.env, napi_create_reference(c.env, out, 0, &box.view));
  box.viewed = memory;
  box.viewed_bytes = bytes_of(rows.get());
  return out;
}

napi_value to(Call& c) {
  const Tensor t = given(c);
  return tensor_object(c.env, t.to(dtype_named(c.env, c.arg(0), "to")).release());
}

napi_value dispose(Call& c) {
  release(c.env, box_of(c.env, c.self, "dispose: 'this'"));
  return nullptr;
}

}  // namespace

lamella_tensor* tensor_of(napi_env env, napi_value v) {
  Box& box = box_of(env, v, "'this'");
  LAMELLA_CHECK(box.tensor, "this tensor was disposed of");
  return box.tensor;
}

napi_value tensor_object(napi_env env, lamella_tensor* owned) {
  Addon& addon = Addon::of(env);
  addon.making = owned;
  napi_value out;
  const napi_status made = napi_new_instance(env, referred(env, addon.tensor_class), 0, nullptr, &out);
  if (addon.making) api().release(std::exchange(addon.making, nullptr));
  must(env, made);
  return out;
}

Tensor tensor_of_array(napi_env env, napi_value v) {
  const Array a = array_of(env, v);
  return copied(a, {static_cast<int64_t>(a.length)}, dtype_of_array(a.type));
}

void define_tensor(napi_env env, napi_value exports) {
  const napi_property_descriptor members[] = {
      getter<shape>("shape"), getter<dtype>("dtype"), getter<device>("device"),  getter<numel>("numel"),
      getter<data>("data"),   method<to>("to"),       method<dispose>("dispose")};
  napi_value made;
  must(env, napi_define_class(env, "Tensor", NAPI_AUTO_LENGTH, entry<construct>, nullptr, std::size(members), members,
                              &made));
  must(env, napi_create_reference(env, made, 1, &Addon::of(env).tensor_class));
  must(env, napi_set_named_property(env, exports, "Tensor", made));
  const napi_property_descriptor functions[] = {method<from_typed_array>("fromTypedArray"),
                                                method<filled<lamella::ones>>("ones", "ones"),
                                                method<filled<lamella::zeros>>("zeros", "zeros")};
  must(env, napi_define_properties(env, exports, std::size(functions), functions));
}

}  // namespace lamella::node
