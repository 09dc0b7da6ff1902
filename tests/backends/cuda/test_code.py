"""The interface ``code.cuda``: a library that is no part of the backend compiles texts and launches their functions."""

import pytest
from compiled import compile_library

STRANGER = r"""
#include <lamella/code.h>
#include <lamella/extension.h>

namespace {
using lamella::Tensor;

const lamella_code& code() {
  const auto* found = static_cast<const lamella_code*>(lamella::api().find_interface("code.cuda", 1));
  LAMELLA_CHECK(found, "no library publishes code.cuda");
  return *found;
}
lamella_code_function* compiled(const std::string& text, const std::string& name, const std::string& options) {
  lamella_code_function* function = nullptr;
  lamella::check(code().compile(code().context, 0, text.c_str(), name.c_str(), options.c_str(), &function));
  return function;
}
// out = x times a number, by a function (const float*, float*, long long, float) of the text.
Tensor run(const Tensor& x, const std::string& text, const std::string& name, const std::string& options, double by) {
  Tensor out = lamella::empty_like(x);
  const void* from = x.data_ptr();
  void* to = out.data_ptr();
  long long n = x.numel();
  float factor = static_cast<float>(by);
  void* arguments[] = {&from, &to, &n, &factor};
  const lamella_code_launch how = {{2, 1, 1}, {64, 1, 1}, 0};
  lamella::check(code().launch(code().context, 0, nullptr, compiled(text, name, options), &how, arguments));
  return out;
}
bool same(const std::string& text, const std::string& name, const std::string& other) {
  return compiled(text, name, "") == compiled(text, other, "");
}
std::string language() { return code().language; }
}  // namespace

LAMELLA_LIBRARY(stranger, m) {
  m.def("run(Tensor x, str text, str name, str options, float by) -> Tensor", run);
  m.def("same(str text, str name, str other) -> bool", same);
  m.def("language() -> str", language);
}
"""

PROGRAM = """
    import sys, lamella, numpy as np
    ops = lamella.ops.load_library(sys.argv[1])
    x = np.arange(1000, dtype=np.float32)
    there = lamella.from_numpy(x).cuda()
    text = '''
    template <int Plus>
    __global__ void scaled(const float* x, float* out, long long n, float by) {
      for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = x[i] * by + Plus + MORE;
    }
    '''
    for plus, more in ((1, 0), (2, 5)):
        found = ops.run(there, text, f"scaled<{plus}>", f"-DMORE={more}", 0.5)
        np.testing.assert_array_equal(found.cpu().numpy(), x * np.float32(0.5) + plus + more)
    assert ops.language() == "CUDA C++"
    whole = text.replace("MORE", "0")
    assert ops.same(whole, "scaled<1>", "scaled<1>") and not ops.same(whole, "scaled<1>", "scaled<2>")
    side = lamella.cuda.Stream()
    with lamella.cuda.stream(side):
        again = ops.run(there, whole, "scaled<3>", "", 2)
    side.synchronize()
    np.testing.assert_array_equal(again.cpu().numpy(), x * 2 + 3)
    try:
        ops.run(there, whole.replace("out[i]", "nothing[i]"), "scaled<1>", "", 1)
    except RuntimeError as error:
        assert "scaled<1>" in str(error) and "nothing" in str(error), error
    else:
        raise SystemExit("a text with an error has compiled")
    try:
        ops.run(there, "", "scaled<1>", "", 1)
    except ValueError as error:
        assert "empty" in str(error)
"""


@pytest.fixture(scope="module")
def stranger(tmp_path_factory):
    return compile_library(tmp_path_factory, STRANGER)


def test_a_text_of_another_library_runs(cuda, stranger):
    cuda.run(PROGRAM, str(stranger))
