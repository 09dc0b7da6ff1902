/* Operators that return the results of <lamella/operands.h>'s helpers, for test_operands.py. */
#include <lamella/extension.h>
#include <lamella/operands.h>

using namespace lamella;

namespace {

Status tripled(const Tensor& self, const Tensor& out) {
  const Operand x(self, kFloat);
  const Result y(out, kFloat);
  for (int64_t i = 0; i < x->numel; i++) y.data<float>()[i] = 3 * x.data<float>()[i];
  return y.finish();
}

/* Returns whether an operand and a result use the tensor itself; the second pair takes any layout. */
std::vector<bool> themselves(const Tensor& t, ScalarType dtype) {
  const int d = static_cast<int>(dtype);
  return {!Operand(t, dtype).is_copy(), !Result(t, dtype).is_beside(), !Operand(t.get(), d, true).is_copy(),
          !Result(t.get(), d, true).is_beside()};
}

bool absent(const std::optional<Tensor>& t) {
  const Tensor none(t);
  const Operand x(none);
  const Result y(none);
  check(y.finish());
  return !x && !x.data() && !y && !y.data();
}

/* Returns each joined dimension's size and both operands' steps, outermost first; then the number of elements. */
std::vector<int64_t> joined(const Tensor& a, const Tensor& b, bool sorted) {
  Dimensions<2> all;
  const lamella_tensor* both[] = {a.get(), b.get()};
  all.add(static_cast<int>(a.dim()), a.sizes().data(), both, 2);
  if (sorted) all.sort();
  all.join();
  std::vector<int64_t> numbers;
  for (const auto& d : all) numbers.insert(numbers.end(), {d.size, d.steps[0], d.steps[1]});
  numbers.push_back(all.elements());
  return numbers;
}

std::vector<int64_t> quotients(IntArrayRef numbers, int64_t by) {
  const Quotient q = quotient_by(by);
  std::vector<int64_t> all;
  for (int64_t x : numbers) all.push_back(divide(static_cast<uint32_t>(x), q));
  return all;
}

std::vector<int64_t> window(IntArrayRef image, IntArrayRef places, IntArrayRef kernel, IntArrayRef stride,
                            IntArrayRef padding, IntArrayRef dilation) {
  const auto w =
      window_of<3>(static_cast<int>(image.size()), image.data(), places.data(), kernel, stride, padding, dilation);
  std::vector<int64_t> all;
  for (const auto* row : {w.image, w.places, w.kernel, w.stride, w.padding, w.dilation})
    all.insert(all.end(), row, row + 3);
  return all;
}

}  // namespace

LAMELLA_LIBRARY(operands, m) {
  m.define("tripled(Tensor self) -> Tensor", nullptr, nullptr, nullptr,
           LAMELLA_FORM_FUNCTION | LAMELLA_FORM_INPLACE | LAMELLA_FORM_OUT);
  m.infer("tripled", [](const Tensor& self, Output out) { out.like(self); }).impl("tripled", "cpu", tripled);
  m.def("themselves(Tensor self, ScalarType dtype) -> bool[]", themselves);
  m.def("absent(Tensor? self) -> bool", absent);
  m.def("joined(Tensor self, Tensor other, bool sorted) -> int[]", joined);
  m.def("quotients(int[] numbers, int by) -> int[]", quotients);
  m.def("window(int[] image, int[] places, int[] kernel, int[] stride, int[] padding, int[] dilation) -> int[]",
        window);
  m.def("wrapped(int dim, int ndim) -> int",
        [](int64_t dim, int64_t ndim) { return static_cast<int64_t>(wrapped_dim(dim, ndim)); });
  m.def("unindexed(Tensor?[] indices) -> bool", [](TensorList indices) { return nothing_indexed(indices); });
}
