// libcufft.so.12 for tests: transforms over memory of the host in the advanced data layout, as NVIDIA documents them. It
// refuses the same calls as cuFFT, and more: a plan allocates no work space itself, each run needs a work space that
// was set after the last one, the thread that runs a plan must be the one that set its stream, and lengths of 19 are not
// supported. A run overwrites its work space, and a transform to real numbers its input, whose imaginary parts at both
// ends it adds to the results. A graph that replays a destroyed plan gets NaN.
// STANDIN_FFT_DEFECT=1 leaves out a term of each sum, STANDIN_FFT_SPACE is the size of the work space. The first
// STANDIN_FFT_LACKS plans have no memory; with STANDIN_FFT_STATUS they fail with that status instead.
#include <atomic>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#define API extern "C" __attribute__((visibility("default"))) int

extern "C" int standin_on_stream(void* stream, void (*work)(void*), void* with, void (*destroy)(void*));
extern "C" int cuStreamSynchronize(void* stream);

namespace {

// cufftResult
enum {
  success = 0,
  invalid_plan = 1,
  alloc_failed = 2,
  invalid_type = 3,
  invalid_value = 4,
  internal_error = 5,
  exec_failed = 6,
  invalid_size = 8,
  unaligned_data = 9,
  no_workspace = 13,
  not_supported = 16
};
enum { real_float = 0, real_double = 1, complex_float = 4, complex_double = 5 };

using Number = std::complex<double>;
using Int = long long;

struct Side {
  int type = -1;
  Int embed[3] = {}, step = 0, batch_step = 0;

  bool operator==(const Side&) const = default;
  bool wide() const { return type == real_double || type == complex_double; }
  bool is_complex() const { return type == complex_float || type == complex_double; }
  Int place(Int batch, int rank, const Int* index) const {
    Int at = index[0];
    for (int d = 1; d < rank; d++) at = at * embed[d] + index[d];
    return batch * batch_step + at * step;
  }
};
struct Plan {
  bool made = false, quiet = false;
  std::atomic<bool> alive{true};
  int rank = 0;
  Int n[3] = {}, batches = 0;
  Side in, out;
  size_t space_bytes = 0;
  void *space = nullptr, *stream = nullptr;
  std::thread::id thread;
};

std::mutex mutex;
std::map<int, std::shared_ptr<Plan>> plans;
int next_handle = 0, calls = 0, made = 0;

std::shared_ptr<Plan> find(int handle) {
  std::lock_guard lock(mutex);
  const auto at = plans.find(handle);
  return at == plans.end() ? nullptr : at->second;
}
int of_environment(const char* name, int usual) {
  const char* given = std::getenv(name);
  return given ? std::atoi(given) : usual;
}

Number load(const Side& s, const void* data, Int at) {
  if (!s.is_complex()) return s.wide() ? static_cast<const double*>(data)[at] : static_cast<const float*>(data)[at];
  if (s.wide()) return static_cast<const Number*>(data)[at];
  return Number(static_cast<const std::complex<float>*>(data)[at]);
}
void store(const Side& s, void* data, Int at, Number x) {
  if (s.type == real_float) static_cast<float*>(data)[at] = static_cast<float>(x.real());
  if (s.type == real_double) static_cast<double*>(data)[at] = x.real();
  if (s.type == complex_float) static_cast<std::complex<float>*>(data)[at] = std::complex<float>(x);
  if (s.type == complex_double) static_cast<Number*>(data)[at] = x;
}

// The arguments of a run, for the time at which the stream comes to it.
struct Call {
  std::shared_ptr<Plan> plan;
  void *in, *out, *space, *stream;
  int direction;
};

// Transforms lines of n elements, `step` elements apart, by the definition.
void transform(std::vector<Number>& x, Int n, Int step, int direction, bool defect) {
  std::vector<Number> roots(static_cast<size_t>(n)), line(static_cast<size_t>(n));
  for (Int k = 0; k < n; k++)
    roots[static_cast<size_t>(k)] =
        std::polar(1.0, direction * 2 * M_PI * static_cast<double>(k) / static_cast<double>(n));
  const Int lines = static_cast<Int>(x.size()) / n;
  for (Int l = 0; l < lines; l++) {
    Number* at = x.data() + l / step * step * n + l % step;
    for (Int k = 0; k < n; k++) {
      Number sum = 0;
      for (Int j = 0; j < n - defect; j++) sum += at[j * step] * roots[static_cast<size_t>(j * k % n)];
      line[static_cast<size_t>(k)] = sum;
    }
    for (Int k = 0; k < n; k++) at[k * step] = line[static_cast<size_t>(k)];
  }
}

// Calls body(place in the array, index) for each element of a signal with these sizes.
template <class Body>
void each(int rank, const Int* sizes, Body body) {
  Int index[3] = {}, count = 1;
  for (int d = 0; d < rank; d++) count *= sizes[d];
  for (Int i = 0; i < count; i++) {
    body(i, index);
    for (int d = rank - 1; d >= 0 && ++index[d] == sizes[d]; d--) index[d] = 0;
  }
}

void run(void* with) {
  Call& c = *static_cast<Call*>(with);
  const Plan& p = *c.plan;
  static const bool defect = std::getenv("STANDIN_FFT_DEFECT") != nullptr;
  if (c.space) std::memset(c.space, 0xa5, p.space_bytes);
  const int last = p.rank - 1;
  Int half[3];
  std::copy(p.n, p.n + 3, half);
  half[last] = p.n[last] / 2 + 1;
  const Int *sizes_in = p.out.is_complex() ? p.n : half, *sizes_out = p.in.is_complex() ? p.n : half;
  Int count = 1;
  for (int d = 0; d < p.rank; d++) count *= p.n[d];
  for (Int b = 0; b < p.batches; b++) {
    std::vector<Number> x(static_cast<size_t>(count));
    const auto at = [&](const Int* i) {
      Int place = i[0];
      for (int d = 1; d < p.rank; d++) place = place * p.n[d] + i[d];
      return static_cast<size_t>(place);
    };
    each(p.rank, sizes_in, [&](Int, const Int* i) { x[at(i)] = load(p.in, c.in, p.in.place(b, p.rank, i)); });
    Int step = 1;
    for (int d = last; d >= 0; d--) {
      if (p.out.is_complex() || d != last) transform(x, p.n[d], step, c.direction, defect);
      step *= p.n[d];
    }
    if (!p.out.is_complex()) {
      const Int n = p.n[last];
      for (Int l = 0; l < count / n; l++) {
        Number* line = x.data() + l * n;
        const double wrong = line[0].imag() + (n % 2 ? 0 : line[n / 2].imag());
        for (Int k = n / 2 + 1; k < n; k++) line[k] = std::conj(line[n - k]);
        line[0] += wrong;
      }
      transform(x, n, 1, 1, defect);
    }
    each(p.rank, sizes_out, [&](Int, const Int* i) {
      store(p.out, c.out, p.out.place(b, p.rank, i), p.alive ? x[at(i)] : Number(NAN, NAN));
    });
    if (!p.out.is_complex())
      each(p.rank, sizes_in, [&](Int, const Int* i) { store(p.in, c.in, p.in.place(b, p.rank, i), {NAN, NAN}); });
  }
}

// Returns whether a side's description fits the sizes of its signal.
bool fits(const Side& s, int rank, const Int* n, bool halved) {
  for (int d = 1; d < rank; d++)
    if (s.embed[d] < (halved && d == rank - 1 ? n[d] / 2 + 1 : n[d])) return false;
  return s.step > 0 && s.batch_step > 0;
}

}  // namespace

API standin_fft_calls() { return calls; }
API standin_fft_made() { return made; }
API standin_fft_handles() {
  std::lock_guard lock(mutex);
  return static_cast<int>(plans.size());
}

API cufftCreate(int* out) {
  if (!out) return invalid_value;
  std::lock_guard lock(mutex);
  *out = next_handle++;
  plans[*out] = std::make_shared<Plan>();
  return success;
}
API cufftDestroy(int handle) {
  const std::shared_ptr<Plan> p = find(handle);
  if (!p) return invalid_plan;
  if (p->stream) cuStreamSynchronize(p->stream);  // memory is freed, which waits for the device
  p->alive = false;
  std::lock_guard lock(mutex);
  plans.erase(handle);
  return success;
}
API cufftSetAutoAllocation(int handle, int automatic) {
  const std::shared_ptr<Plan> p = find(handle);
  if (!p || p->made) return invalid_plan;
  p->quiet = !automatic;
  return success;
}
API cufftXtMakePlanMany(int handle, int rank, Int* n, Int* in_embed, Int in_step, Int in_batch_step, int in_type,
                        Int* out_embed, Int out_step, Int out_batch_step, int out_type, Int batches, size_t* bytes,
                        int type) {
  static int lacks = of_environment("STANDIN_FFT_LACKS", 0);
  const std::shared_ptr<Plan> p = find(handle);
  if (!p || p->made) return invalid_plan;
  p->made = true;  // also a plan that fails cannot be made again
  if (lacks-- > 0) return of_environment("STANDIN_FFT_STATUS", alloc_failed);
  if (rank < 1 || rank > 3 || !n || !in_embed || !out_embed || !bytes || batches < 1) return invalid_value;
  if (!p->quiet) return internal_error;
  const int real = type - complex_float;
  if (type != complex_float && type != complex_double) return invalid_type;
  for (const int each : {in_type, out_type})
    if (each != type && each != real) return invalid_type;
  if (in_type == real && out_type == real) return invalid_type;
  for (int d = 0; d < rank; d++) {
    if (n[d] < 1) return invalid_size;
    if (n[d] == 19) return not_supported;
    p->n[d] = n[d];
    p->in.embed[d] = in_embed[d];
    p->out.embed[d] = out_embed[d];
  }
  p->rank = rank;
  p->batches = batches;
  p->in.type = in_type, p->in.step = in_step, p->in.batch_step = in_batch_step;
  p->out.type = out_type, p->out.step = out_step, p->out.batch_step = out_batch_step;
  if (!fits(p->in, rank, n, out_type == real) || !fits(p->out, rank, n, in_type == real)) return invalid_value;
  // Powers of two are transformed without a work space.
  const bool power = rank == 1 && !(n[0] & (n[0] - 1));
  p->space_bytes = *bytes = power ? 0 : static_cast<size_t>(of_environment("STANDIN_FFT_SPACE", 1000));
  made++;
  return success;
}
API cufftSetStream(int handle, void* stream) {
  const std::shared_ptr<Plan> p = find(handle);
  if (!p) return invalid_plan;
  p->stream = stream;
  p->thread = std::this_thread::get_id();
  return success;
}
API cufftSetWorkArea(int handle, void* space) {
  const std::shared_ptr<Plan> p = find(handle);
  if (!p) return invalid_plan;
  if (!space || reinterpret_cast<uintptr_t>(space) % 256) return invalid_value;
  p->space = space;
  return success;
}
API cufftXtExec(int handle, void* in, void* out, int direction) {
  const std::shared_ptr<Plan> p = find(handle);
  if (!p || !p->made || !p->rank) return invalid_plan;
  if (!in || !out || (direction != -1 && direction != 1)) return invalid_value;
  if (p->space_bytes && !p->space) return no_workspace;
  if (p->thread != std::this_thread::get_id()) return exec_failed;
  for (const void* data : {in, out})
    if (reinterpret_cast<uintptr_t>(data) % (p->in.wide() ? 16 : 8)) return unaligned_data;
  if (in == out && !(p->in == p->out)) return invalid_value;
  auto* call = new Call{p, in, out, p->space, p->stream, p->in.is_complex() ? direction : -1};
  p->space = nullptr;
  calls++;
  const auto destroy = [](void* with) { delete static_cast<Call*>(with); };
  return standin_on_stream(p->stream, run, call, destroy) ? exec_failed : success;
}
