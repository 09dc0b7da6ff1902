// cuSOLVER, which is opened at run time, and cuBLAS's functions for batches of small matrices. A thread has a handle of
// cuSOLVER for each device and stream.
#include "solver.h"

#include "kept.h"
#include "memory.h"

namespace cuda {
namespace {

// Constants of NVIDIA's headers, with their names.
constexpr int CUSOLVER_STATUS_NOT_INITIALIZED = 1, CUSOLVER_STATUS_ALLOC_FAILED = 2, CUSOLVER_STATUS_INTERNAL_ERROR = 7;

std::string symbol_of(int which, const char* real, const char* complex) {
  std::string name = which < 2 ? real : complex;
  name[name.find('?')] = "SDCZ"[which];
  return name;
}

std::string& solver_folders() {
  static auto* folders = new std::string;
  return *folders;
}
// Returns the path of a library in the first of the folders from which it can be opened, or its name alone.
std::string path_of(const std::string& name) {
  std::string_view rest = solver_folders();
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const std::string path = std::string(rest.substr(0, end)) + "/" + name;
    if (SharedLibrary(path).opened()) return path;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return name;
}

struct SolverHandle {
  int device;
  CUstream stream;
  cusolverHandle handle = nullptr;
  cusolverParams params = nullptr;
  cusolverSyevj syevj = nullptr;
  cusolverGesvdj gesvdj = nullptr;
};

// Makes a handle and the objects that its calls take. After a failure it destroys the handle.
void make_solver(SolverHandle& h) {
  // When memory is short, any of three statuses may come.
  const int made =
      with_room({CUSOLVER_STATUS_ALLOC_FAILED, CUSOLVER_STATUS_NOT_INITIALIZED, CUSOLVER_STATUS_INTERNAL_ERROR},
                [&] { return solver().create(&h.handle); });
  require_solver(h.device, made, "cusolverDnCreate");
  try {
    require_solver(h.device, solver().set_stream(h.handle, h.stream), "cusolverDnSetStream");
    require_solver(h.device, solver().create_params(&h.params), "cusolverDnCreateParams");
    require_solver(h.device, solver().create_syevj(&h.syevj), "cusolverDnCreateSyevjInfo");
    require_solver(h.device, solver().create_gesvdj(&h.gesvdj), "cusolverDnCreateGesvdjInfo");
  } catch (...) {
    solver().destroy(h.handle);
    throw;
  }
}

const SolverHandle& solver_handle(int device) {
  thread_local Kept<SolverHandle> mine;
  enter(device);
  const CUstream current = current_stream(device), stream = current == legacy_stream ? nullptr : current;
  if (const SolverHandle* found =
          mine.find([=](const SolverHandle& h) { return h.device == device && h.stream == stream; }))
    return *found;
  SolverHandle h{device, stream};
  make_solver(h);
  return *mine.add(h);
}

void require_status(int device, int status, bool lacks, const char* library, const char* function) {
  if (!status) return;
  const std::string who = text("cuda: ", library, ": ", function);
  lamella::check(lacks ? raise_lack(device, who) : fail(LAMELLA_RUNTIME_ERROR, text(who, ": status ", status)));
}

}  // namespace

#define CUDA_TYPED_FIND(member, symbol, complex_symbol, parameters) \
  for (int i = 0; i < 4; i++) library.find(this->member[i], symbol_of(i, symbol, complex_symbol).c_str());

// The major version of cuSOLVER is one less than that of its cuBLAS.
Solver::Solver() {
  if (!blas_major()) return;
  const int each = blas_major() - 1;
  const std::string name = path_of("libcusolver.so." + std::to_string(each));
  bool whole;
  {
    SharedLibrary library(name);
    CUDA_SOLVER_FUNCTIONS(CUDA_FIND)
    CUDA_SOLVER_TYPED_FUNCTIONS(CUDA_TYPED_FIND)
    whole = library.whole();
  }
  {
    SharedLibrary library("libcublas.so." + std::to_string(blas_major()));
    CUDA_FACTOR_FUNCTIONS(CUDA_TYPED_FIND)
    whole = whole && library.whole();
  }
  if (!whole) return;
  SharedLibrary library(name);
  CUDA_SOLVER_NEWER_FUNCTIONS(CUDA_FIND)
  int number = 0;
  version(&number);
  if (number < 11703) syev_batched = nullptr, syev_batched_space = nullptr;  // its vectors may be wrong
  major = each;
}

const Solver& solver() {
  static const Solver opened;
  return opened;
}

void set_solver_folders(std::string_view folders) { solver_folders() = folders; }

int64_t solver_version() {
  int version = 0;
  if (solver_there()) solver().version(&version);
  return version;
}

void require_solver(int device, int status, const char* function) {
  require_status(device, status, status == CUSOLVER_STATUS_ALLOC_FAILED, "cuSOLVER", function);
}
void require_factors(int device, int status, const char* function) {
  require_status(device, status, status == CUBLAS_STATUS_ALLOC_FAILED, "cuBLAS", function);
}

Solving::Solving(const Tensor& of)
    : on(of.get()),
      device(index_of(on)),
      dtype(on->dtype),
      which(dtype - LAMELLA_FLOAT32),
      type(blas_type(dtype)),
      real_type(blas_type(which % 2 ? LAMELLA_FLOAT64 : LAMELLA_FLOAT32)),
      item(item_of(dtype)),
      real_item(which >= 2 ? item / 2 : item) {
  const SolverHandle& h = solver_handle(device);
  handle = h.handle, params = h.params, syevj = h.syevj, gesvdj = h.gesvdj;
  const BlasHandle* b;
  lamella::check(blas_handle(device, &b));
  blas = b->handle;
}

Tensor Solving::addresses(const void* first, int64_t each, int64_t count) const {
  static Kernel kernel("linalg.cu", "addresses");
  Tensor made = space_on(on, count * static_cast<int64_t>(sizeof(void*)));
  lamella::check(launch(kernel, on, grid_for(on, count), {256}, 0, first, each * item, count, made.data_ptr()));
  return made;
}

void SolverSpace::make(const lamella_tensor* on) {
  memory = space_on(on, static_cast<int64_t>(bytes));
  if (host_bytes) host.reset(new char[host_bytes]);
}

}  // namespace cuda
