// What the parts of this backend share: sealed addresses, the stream, and views by which kernels read and write.
#pragma once

#include <lattis/extension.h>

#include <complex>
#include <functional>
#include <type_traits>

namespace bank {

using lattis::api;

// Note [Sealed pages]  The addresses that tensors carry lie in pages that mprotect keeps closed for ever: whoever
//   follows one without asking this backend gets SIGSEGV, also while a kernel runs. The data lie `capacity` bytes
//   further, where only this backend's kernels look.
constexpr int64_t capacity = int64_t{1} << 36;  // of one bank
inline char* open(const void* sealed) { return static_cast<char*>(const_cast<void*>(sealed)) + capacity; }

// What went wrong in a kernel after its call had returned; raised when somebody next waits for the stream.
struct Fault {
  int kind = LATTIS_OK;
  std::string message;
};
using Task = std::function<Fault()>;
lattis_status launch(const lattis_tensor* on, Task task);  // behind all tasks of the tensor's bank
lattis_status synchronize(void*, int32_t index);           // until none is left; raises the first fault

constexpr int sizes[LATTIS_NUM_DTYPES] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};

// All that a kernel keeps of a tensor, which may be gone, or have changed, when it runs: its elements, broadcast to a
// shape, in row-major order. Dimensions in the mask `last` are the innermost, so that they form lines.
struct View {
  explicit View(const lattis_tensor* t, uint64_t last = 0) : View(t, t, last) {}
  View(const lattis_tensor* t, const lattis_tensor* shape, uint64_t last = 0, bool whole = false);  // whole lines of t
  View(const lattis_value& v, int dtype, const lattis_tensor* shape);  // a tensor, or a number as a dtype
  View(char* row, int dtype, int64_t count) : dtype(dtype), data(row) { add(count, sizes[dtype]); }
  void add(int64_t size, int64_t step);  // an innermost dimension; step in bytes
  template <class Body>
  void rows(Body body) const;

  int dtype;
  int64_t count = 1, line = 1;  // elements, and how many of them form a line
  std::vector<std::pair<int64_t, int64_t>> dims;
  char* data = nullptr;  // null: the number
  alignas(16) char number[16];
};

// A view's elements as a dtype, each `step` bytes behind the one before: the view's own where they lie so, else a copy.
class Row {
 public:
  Row(const View& view, int dtype, bool read = true, bool dense = true);
  Fault write() const;  // a copy's elements into the view; there is no fault
  char* data;
  int64_t step;
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data);
  }

 private:
  const View& view_;
  int dtype_;
  std::vector<char> copy_;
};

// Kernels compute in few types and convert at both ends: integers wrap in 64 bits, floats fit in double.
template <class T>
constexpr int code = std::is_same_v<T, uint64_t>  ? LATTIS_UINT64
                     : std::is_same_v<T, int64_t> ? LATTIS_INT64
                     : std::is_same_v<T, float>   ? LATTIS_FLOAT32
                     : std::is_same_v<T, double>  ? LATTIS_FLOAT64
                                                  : LATTIS_COMPLEX128;
template <bool Complex = true, class Body>
lattis_status with_type(int dtype, Body body) {
  if constexpr (Complex)
    if (dtype >= LATTIS_COMPLEX64) return body(std::complex<double>());
  if (dtype >= LATTIS_FLOAT16) return body(double());
  return dtype == LATTIS_UINT64 ? body(uint64_t()) : body(int64_t());
}

// One dimension's bit in a mask; it may be negative, as it was passed.
inline uint64_t bit(int64_t dim, const lattis_tensor* t) {
  return uint64_t{1} << (dim < 0 ? dim + (t->dl.ndim ? t->dl.ndim : 1) : dim);
}

}  // namespace bank
