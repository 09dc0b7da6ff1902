#include "library.h"

#include <dlfcn.h>
#include <lamella/process_group.h>

#include <cstdlib>
#include <iterator>

namespace lamella::mpi {
namespace {

// A handle in both kinds of libraries: its number in the standard's ABI, and its symbol in Open MPI.
struct Constant {
  uintptr_t number;
  const char* symbol;
};
constexpr Constant no_type = {0, nullptr};

// By enum lamella_dtype; see its places in <lamella/types.h>.
constexpr Constant dtype_constants[] = {
    {0x239, "ompi_mpi_cxx_bool"},         // bool
    {0x241, "ompi_mpi_uint8_t"},          // uint8
    {0x249, "ompi_mpi_uint16_t"},         // uint16
    {0x251, "ompi_mpi_uint32_t"},         // uint32
    {0x259, "ompi_mpi_uint64_t"},         // uint64
    {0x240, "ompi_mpi_int8_t"},           // int8
    {0x248, "ompi_mpi_int16_t"},          // int16
    {0x250, "ompi_mpi_int32_t"},          // int32
    {0x258, "ompi_mpi_int64_t"},          // int64
    no_type,                              // float16
    no_type,                              // bfloat16
    {0x210, "ompi_mpi_float"},            // float32
    {0x214, "ompi_mpi_double"},           // float64
    {0x212, "ompi_mpi_c_float_complex"},  // complex64
    {0x216, "ompi_mpi_c_double_complex"}  // complex128
};
// By enum lamella_reduction.
constexpr Constant reduction_constants[] = {
    {0x21, "ompi_mpi_op_sum"},  {0x24, "ompi_mpi_op_prod"}, {0x22, "ompi_mpi_op_min"}, {0x23, "ompi_mpi_op_max"},
    {0x28, "ompi_mpi_op_band"}, {0x29, "ompi_mpi_op_bor"},  {0x2a, "ompi_mpi_op_bxor"}};

static_assert(LAMELLA_INT8 == 5 && LAMELLA_FLOAT32 == 11 && LAMELLA_COMPLEX128 == 14);
static_assert(std::size(reduction_constants) == LAMELLA_REDUCE_BXOR + 1);

[[noreturn]] void raise_absent(const std::string& why) {
  throw Error(LAMELLA_RUNTIME_ERROR, "process group 'mpi': there is no MPI library (" + why +
                                         "): pip install 'lamella[mpi]', which brings mpich, or set LAMELLA_MPI to the "
                                         "path of a library with the ABI of MPI 5 (libmpi_abi.so.1) or of Open MPI "
                                         "(libmpi.so.40)");
}

class Opening {
 public:
  Opening() {
    const char* named = std::getenv("LAMELLA_MPI");
    const char* const names[] = {named, "libmpi_abi.so.1", "libmpi.so.40"};
    std::string why;
    for (const char* name : names) {
      if (!name || !*name) continue;
      library_ = ::dlopen(name, RTLD_NOW | RTLD_GLOBAL);  // Open MPI's components look for symbols among all
      if (library_) break;
      if (why.empty()) why = ::dlerror();
      if (name == named) break;
    }
    if (!library_) raise_absent(why);
    is_open_mpi_ = ::dlsym(library_, "ompi_mpi_comm_world");
    if (!is_open_mpi_ && !::dlsym(library_, "MPI_Abi_get_version"))
      raise_absent("the library has neither the ABI of MPI 5 nor that of Open MPI");
  }

  template <class F>
  void function(F& f, const char* name) const {
    f = reinterpret_cast<F>(::dlsym(library_, name));
    if (!f) raise_absent(std::string("the library lacks ") + name);
  }
  Handle handle(const Constant& c) const {
    if (!c.symbol) return nullptr;
    return is_open_mpi_ ? ::dlsym(library_, c.symbol) : reinterpret_cast<Handle>(c.number);
  }
  bool is_open_mpi() const { return is_open_mpi_; }

 private:
  void* library_ = nullptr;
  bool is_open_mpi_;
};

Mpi open() {
  const Opening o;
  Mpi m{};
#define FUNCTION(name) o.function(m.name, "MPI_" #name)
  FUNCTION(Get_library_version);
  FUNCTION(Initialized);
  FUNCTION(Init_thread);
  FUNCTION(Query_thread);
  FUNCTION(Finalize);
  FUNCTION(Comm_size);
  FUNCTION(Comm_split);
  FUNCTION(Comm_free);
  FUNCTION(Comm_group);
  FUNCTION(Comm_set_errhandler);
  FUNCTION(Group_incl);
  FUNCTION(Group_free);
  FUNCTION(Comm_create_group);
  FUNCTION(Error_string);
  FUNCTION(Test);
  FUNCTION(Get_count);
  FUNCTION(Ibarrier);
  FUNCTION(Ibcast);
  FUNCTION(Iallreduce);
  FUNCTION(Ireduce);
  FUNCTION(Ireduce_scatter_block);
  FUNCTION(Iallgather);
  FUNCTION(Igather);
  FUNCTION(Iscatter);
  FUNCTION(Ialltoallv);
  FUNCTION(Isend);
  FUNCTION(Irecv);
#undef FUNCTION
  m.world = o.handle({0x101, "ompi_mpi_comm_world"});
  m.null_request = o.handle({0x180, "ompi_request_null"});
  m.errors_return = o.handle({0x143, "ompi_mpi_errors_return"});
  m.byte = o.handle({0x247, "ompi_mpi_byte"});
  for (size_t i = 0; i < std::size(dtype_constants); i++) m.dtypes[i] = o.handle(dtype_constants[i]);
  for (size_t i = 0; i < std::size(reduction_constants); i++) m.reductions[i] = o.handle(reduction_constants[i]);
  m.logical_or = o.handle({0x31, "ompi_mpi_op_lor"});
  m.logical_and = o.handle({0x30, "ompi_mpi_op_land"});
  m.logical_xor = o.handle({0x32, "ompi_mpi_op_lxor"});
  m.thread_multiple = o.is_open_mpi() ? 3 : 4096;
  m.any_source = -1;
  char text[8192] = {};
  int length = 0;
  m.Get_library_version(text, &length);
  m.version = text;
  m.is_mpich = m.version.find("MPICH") != std::string::npos;
  return m;
}

}  // namespace

void Mpi::check(const char* function, int code) const {
  if (!code) return;
  char message[8192] = {};
  int length = 0;
  Error_string(code, message, &length);
  throw Error(LAMELLA_RUNTIME_ERROR, detail::text("MPI_", function, ": ", message));
}

const Mpi& mpi() {
  static const Mpi opened = open();
  return opened;
}

uint64_t reduced_dtypes() {
  uint64_t all = 0;
  for (size_t i = 0; i < std::size(dtype_constants); i++)
    if (dtype_constants[i].symbol) all |= uint64_t{1} << i;
  return all;
}

}  // namespace lamella::mpi
