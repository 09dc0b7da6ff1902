// Writes rows to places of a tensor, so that the result never depends on timing.
#include "scattering.h"

#include "elementwise.h"
#include "kernels/indexing.h"
#include "numbers.h"

namespace cuda {
namespace {

const char* const fold_names[] = {"Add", "Multiply", "Most", "Least"};

// Returns the type in which elements are folded. Extrema of integers are of the elements' own type.
const char* fold_type(int dtype, Fold how) {
  if (is_half(dtype)) return "float";
  const bool integral = lamella::dtype_class(lamella::ScalarType(dtype)) == LAMELLA_CLASS_INTEGRAL;
  if (!integral || how == Fold::largest || how == Fold::least) return type_name(dtype);
  return item_of(dtype) == 8 ? "uint64_t" : "uint32_t";
}
int fold_dtype(int dtype, Fold how) {
  const bool integral = lamella::dtype_class(lamella::ScalarType(dtype)) == LAMELLA_CLASS_INTEGRAL;
  if (integral && how != Fold::largest && how != Fold::least && item_of(dtype) < 4) return LAMELLA_INT32;
  return computed_in(dtype);
}

lamella_status add_integers(const lamella_tensor* self, const Targets& t, const void* src, const Scalar& factor) {
  static Kernels kernels("indexing.cu");
  const int item = item_of(self->dtype);
  Kernel& kernel =
      kernels.get({item, t.bytes}, [&] { return text("add_integers<", word_name(item), ", ", t.place(), ">"); });
  alignas(16) unsigned char by[16];
  put_number(factor.value(), self->dtype, by);
  void *places = t.places.data_ptr(), *to = self->dl.data;
  void* arguments[] = {&places, const_cast<int64_t*>(&t.count), &to, &src, const_cast<int64_t*>(&t.width), by};
  return launch(kernel, self, grid_for(self, t.count * t.width), {256}, 0, arguments);
}

}  // namespace

lamella_status put_rows(const lamella_tensor* self, const Targets& t, const void* src, bool same) {
  static Kernels clears("indexing.cu"), claims("indexing.cu");
  static Kernels puts("indexing.cu");
  if (!t.count || !t.width) return LAMELLA_OK;
  Tensor winners;
  if (!same) {
    winners = empty_on(self, {t.limit}, t.bytes == 4 ? LAMELLA_UINT32 : LAMELLA_UINT64);
    for (auto* kernels : {&clears, &claims}) {
      Kernel& kernel = kernels->get(
          {t.bytes == 8}, [&] { return text(kernels == &clears ? "claim_clear<" : "claim<", t.place(), ">"); });
      if (lamella_status st =
              launch(kernel, self, grid_for(self, t.count), {256}, 0, t.places.data_ptr(), t.count, winners.data_ptr()))
        return st;
    }
  }
  const int64_t bytes = t.width * item_of(self->dtype);
  const int word = same && t.width == 1
                       ? static_cast<int>(bytes)
                       : item_of(self->dtype) * pack_width(item_of(self->dtype), t.width, {self->dl.data, src}, 16);
  const int64_t width = bytes / word;
  Kernel& kernel = puts.get({word, t.bytes == 8}, [&] { return text("put<", word_name(word), ", ", t.place(), ">"); });
  return launch(kernel, self, grid_for(self, t.count * width), {256}, 0, t.places.data_ptr(), t.count,
                static_cast<const void*>(data_of(winners)), self->dl.data, src, width, same ? int64_t{0} : width);
}

lamella_status fold_rows(const lamella_tensor* self, const Targets& t, Fold how, const void* src, const Scalar& factor,
                         Sorted* sorted) {
  static Kernels pieces("indexing.cu"), across("indexing.cu");
  if (!t.count || !t.width) return LAMELLA_OK;
  const int dtype = self->dtype, item = item_of(dtype);
  const bool integral = lamella::dtype_class(lamella::ScalarType(dtype)) == LAMELLA_CLASS_INTEGRAL;
  if (integral && how == Fold::sum && item >= 4 && !sorted) return add_integers(self, t, src, factor);
  const Sorted order = radix_sort(t.places, Tensor(), t.count, bits_of(static_cast<uint64_t>(t.limit)), t.bytes);
  if (sorted) *sorted = order;
  const int64_t count = (t.count + fold_piece - 1) / fold_piece;
  const char *type = type_name(dtype), *wide = fold_type(dtype, how), *name = fold_names[static_cast<int>(how)];
  const auto numbers_of = {dtype, static_cast<int>(how), t.bytes};
  alignas(16) unsigned char by[16];
  put_number(factor.value(), fold_dtype(dtype, how), by);
  const Tensor parts = space_on(self, 2 * count * t.width * (item < 4 ? 4 : item));
  void *places = order.keys.data_ptr(), *numbers = order.numbers.data_ptr(), *to = self->dl.data,
       *kept = parts.data_ptr();
  int64_t n = t.count, width = t.width;
  void* arguments[] = {&places, &numbers, &n, &to, &src, &width, by, &kept};
  Kernel& first =
      pieces.get(numbers_of, [&] { return text("fold_pieces<", type, ", ", wide, ", ", name, ", ", t.place(), ">"); });
  if (lamella_status st = launch(first, self, grid_for(self, count * width, 128), {128}, 0, arguments)) return st;
  if (count < 2) return LAMELLA_OK;
  Kernel& second =
      across.get(numbers_of, [&] { return text("fold_across<", type, ", ", wide, ", ", name, ", ", t.place(), ">"); });
  return launch(second, self, grid_for(self, (count - 1) * width, 128), {128}, 0, places, n, to, width, kept);
}

lamella_status row_targets(const Targets& t, const lamella_tensor* index, int64_t outer, int64_t size, bool wraps,
                           int64_t skipped, int32_t code) {
  static Kernels kernels("indexing.cu");
  const lamella_tensor* on = t.places.get();
  Kernel& kernel = kernels.get({t.bytes == 8}, [&] { return text("row_places<", t.place(), ">"); });
  const int64_t count = index->numel;
  return launch(kernel, on, grid_for(on, t.count), {256}, 0, index->dl.data,
                index->dl.ndim ? index->dl.strides[0] : int64_t{1}, outer, count, size, wraps, skipped, on->dl.data,
                fault_of(on), code);
}

Written::Written(const lamella_tensor* self) : self_(self) {
  if (!lamella::is_contiguous(self)) copy_ = copy_of(self);
}
lamella_status Written::finish() const { return copy_.defined() ? assign(self_, copy_.get()) : LAMELLA_OK; }

Tensor number_on(const lamella_tensor* on, const Scalar& number, int dtype) {
  Tensor one = empty_on(on, {1}, dtype);
  Element e{};
  e.dtypes[0] = e.compute = dtype;
  Numbers numbers;
  put_number(number.value(), dtype, numbers.operand(0, item_of(computed_in(dtype))));
  const lamella_tensor* inputs[1] = {};
  lamella::check(run_elementwise(e, one.get(), inputs, 1, numbers));
  return one;
}

}  // namespace cuda
