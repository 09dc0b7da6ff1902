// A pybind11 module with every caster and every kind of error; it also registers operators.
#include <lamella/pybind.h>

using namespace lamella;

LAMELLA_LIBRARY(bound, m) {
  m.def("twice(Tensor self) -> Tensor", [](const Tensor& x) { return x * 2; });
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("add", [](const Tensor& x, std::optional<Tensor> y) { return y ? x + *y : x; });
  m.def("stacked", [](const std::vector<Tensor>& all) { return stack(all); });
  m.def("made", [] { return std::vector<Tensor>{zeros({1}), ones({2}, kLong)}; });
  m.def("nothing", [] { return Tensor(); });
  m.def("dtype", [](const Tensor& x, ScalarType t) { return std::make_pair(x.to(t), x.dtype()); });
  m.def("device", [](const Tensor& x, Device d) { return std::make_pair(x.to(d), x.device()); });
  m.def("scaled", [](const Tensor& x, Scalar s) { return std::make_pair(x * s, s); });
  m.def("drawn", [](Generator g) { return rand({2}, g); });
  m.def("total", [](IntArrayRef list) {
    int64_t sum = 0;
    for (int64_t x : list) sum += x;
    return sum;
  });
  m.def("last", [](const Tensor& x, std::optional<IntArrayRef> list) {
    const Tensor y = x.clone();  // the clone would reuse the list's memory if that were freed
    return list ? list->vec() : y.sizes().vec();
  });
  m.def("sizes", [](const Tensor& x) { return x.sizes(); });
  m.def("joined", [](TensorList list) { return cat(list); });
  m.def("formats", [](MemoryFormat f, Layout l, std::optional<MemoryFormat> g) { return std::make_tuple(f, l, g); });
  m.def("fail", [](const std::string& what) {
    if (what == "operator") return ones({2}) + ones({3});
    LAMELLA_CHECK_INDEX(what != "index", "an index");
    LAMELLA_CHECK_VALUE(what != "value", "a value");
    LAMELLA_CHECK_TYPE(what != "type", "a type");
    if (what == "undefined") return Tensor().t();
    if (what == "std") throw std::out_of_range("of the standard library");
    return ones({2}).sum(5);
  });
  m.def("call", [](pybind11::function f, const Tensor& x) { return f(x).cast<Tensor>() + 1; });
}
