// Copies, views, work space and the radix sort for the heavier kernels.
#include "operands.h"

#include "elementwise.h"
#include "kernels/sort.h"

namespace cuda {

int64_t count_of(const lamella_tensor* t, int first, int behind) {
  int64_t n = 1;
  for (int d = first; d < behind; d++) n *= t->dl.shape[d];
  return n;
}

const char* word_name(int bytes) {
  return bytes == 1   ? "uint8_t"
         : bytes == 2 ? "uint16_t"
         : bytes == 4 ? "uint32_t"
         : bytes == 8 ? "uint64_t"
                      : "Word16";
}

lamella_status clear(const lamella_tensor* t) {
  const int64_t bytes = t->numel * item_of(t->dtype);
  if (!bytes) return LAMELLA_OK;
  const int device = index_of(t);
  enter(device);
  return checked(driver().set_bytes(reinterpret_cast<CUdeviceptr>(t->dl.data), 0, static_cast<size_t>(bytes),
                                    current_stream(device)),
                 "cuda: setting memory to zeros");
}

lamella_status assign(const lamella_tensor* to, const lamella_tensor* from) {
  Element e{};
  e.dtypes[0] = to->dtype;
  e.dtypes[1] = from->dtype;
  e.compute = from->dtype;
  const lamella_tensor* inputs[1] = {from};
  return run_elementwise(e, to, inputs, 1, Numbers());
}

Tensor copy_of(const lamella_tensor* t) {
  Tensor copy = lamella::allocate_like(t, t->dtype);
  lamella::check(assign(copy.get(), t));
  return copy;
}

Tensor view_of(const lamella_tensor* t, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) {
  lamella_tensor* raw;
  lamella::check(
      api().tensor_view(const_cast<lamella_tensor*>(t), ndim, sizes, strides, t->storage_offset + offset, &raw));
  return Tensor::steal(raw);
}

int64_t read_number(const lamella_tensor* t, int64_t at) {
  int64_t number = 0;
  const int device = index_of(t);
  enter(device);
  const CUstream stream = current_stream(device);
  require(
      driver().copy_to_host(&number, reinterpret_cast<CUdeviceptr>(data_of<int64_t>(t) + at), sizeof number, stream),
      "cuda: reading a number from the device");
  require(driver().stream_synchronize(stream), "cuda: reading a number from the device");
  lamella::check(raise_fault(device, stream));
  return number;
}

int pack_width(int item, int64_t length, std::initializer_list<const void*> addresses, int most) {
  int width = 16 / item < most ? 16 / item : most;
  while (width > 1) {
    bool fits = length % width == 0;
    for (const void* at : addresses)
      fits = fits && reinterpret_cast<uintptr_t>(at) % (static_cast<uintptr_t>(width) * item) == 0;
    if (fits) return width;
    width /= 2;
  }
  return 1;
}

Sorted radix_sort(const Tensor& keys, const Tensor& numbers, int64_t count, int bits, int number_bytes) {
  static Kernels counts("sort.cu"), places("sort.cu"), moves("sort.cu");
  const lamella_tensor* on = keys.get();
  const int key_bytes = item_of(on->dtype);
  const char *key = word_name(key_bytes), *number = word_name(number_bytes);
  const int number_dtype = number_bytes == 8 ? LAMELLA_UINT64 : LAMELLA_UINT32;
  const int64_t blocks = (count + radix_tile - 1) / radix_tile;
  Sorted now = {keys, numbers}, next = {empty_on(on, {count}, on->dtype), empty_on(on, {count}, number_dtype)};
  if (!count) return next;
  const Tensor table = empty_on(on, {(blocks + 1) * 256}, number_dtype);
  char *all = data_of(table), *totals = all + blocks * 256 * number_bytes;
  const Dim grid = {static_cast<unsigned>(blocks)};
  for (int shift = 0; shift < bits; shift += 8) {
    const void *from = now.keys.data_ptr(), *with = data_of(now.numbers);
    void *to = next.keys.data_ptr(), *to_with = next.numbers.data_ptr();
    lamella::check(
        launch(counts.get({key_bytes, number_bytes}, [&] { return text("radix_count<", key, ", ", number, ">"); }), on,
               grid, {256}, 0, from, count, shift, all, blocks));
    lamella::check(launch(places.get({number_bytes}, [&] { return text("radix_places<", number, ">"); }), on, {256},
                          {256}, 0, all, blocks, totals));
    lamella::check(
        launch(moves.get({key_bytes, number_bytes}, [&] { return text("radix_move<", key, ", ", number, ">"); }), on,
               grid, {256}, 0, from, with, to, to_with, count, shift, all, totals, blocks));
    if (!now.numbers.defined() || shift == 0) {
      now = next;  // the caller's own tensors stay as they are
      next = {empty_on(on, {count}, on->dtype), empty_on(on, {count}, number_dtype)};
    } else {
      std::swap(now, next);
    }
  }
  return now;
}

}  // namespace cuda
