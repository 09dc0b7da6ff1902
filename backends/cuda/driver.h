// The functions of NVIDIA's driver and of NVRTC that this backend calls, declared here. The libraries are opened when
// the backend is loaded, so that it can be built and installed on machines without them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "shared_library.h"

namespace cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = uintptr_t;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;
struct CUuuid {
  unsigned char bytes[16];
};

// Results and constants of NVIDIA's headers, with their names.
constexpr CUresult CUDA_SUCCESS = 0, CUDA_ERROR_OUT_OF_MEMORY = 2, CUDA_ERROR_DEINITIALIZED = 4,
                   CUDA_ERROR_NOT_READY = 600;
constexpr unsigned CU_STREAM_NON_BLOCKING = 1, CU_EVENT_DISABLE_TIMING = 2, CU_MEMHOSTALLOC_PORTABLE = 1;
constexpr int CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
              CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
              CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38;
constexpr int CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8, CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
              CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9, CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2,
              CU_STREAM_CAPTURE_MODE_RELAXED = 2;
inline const CUstream legacy_stream = reinterpret_cast<CUstream>(1);  // CU_STREAM_LEGACY: the default stream

// X(member, symbol of the library, parameters)
#define CUDA_DRIVER_FUNCTIONS(X)                                                                                  \
  X(init, "cuInit", (unsigned))                                                                                   \
  X(driver_version, "cuDriverGetVersion", (int*))                                                                 \
  X(error_name, "cuGetErrorName", (CUresult, const char**))                                                       \
  X(error_string, "cuGetErrorString", (CUresult, const char**))                                                   \
  X(device_count, "cuDeviceGetCount", (int*))                                                                     \
  X(device_get, "cuDeviceGet", (CUdevice*, int))                                                                  \
  X(device_name, "cuDeviceGetName", (char*, int, CUdevice))                                                       \
  X(device_uuid, "cuDeviceGetUuid", (CUuuid*, CUdevice))                                                          \
  X(device_memory, "cuDeviceTotalMem_v2", (size_t*, CUdevice))                                                    \
  X(device_attribute, "cuDeviceGetAttribute", (int*, int, CUdevice))                                              \
  X(primary_retain, "cuDevicePrimaryCtxRetain", (CUcontext*, CUdevice))                                           \
  X(context_set, "cuCtxSetCurrent", (CUcontext))                                                                  \
  X(context_get, "cuCtxGetCurrent", (CUcontext*))                                                                 \
  X(context_synchronize, "cuCtxSynchronize", ())                                                                  \
  X(stream_priorities, "cuCtxGetStreamPriorityRange", (int*, int*))                                               \
  X(memory_info, "cuMemGetInfo_v2", (size_t*, size_t*))                                                           \
  X(memory_alloc, "cuMemAlloc_v2", (CUdeviceptr*, size_t))                                                        \
  X(memory_free, "cuMemFree_v2", (CUdeviceptr))                                                                   \
  X(host_alloc, "cuMemHostAlloc", (void**, size_t, unsigned))                                                     \
  X(host_free, "cuMemFreeHost", (void*))                                                                          \
  X(pointer_attribute, "cuPointerGetAttribute", (void*, int, CUdeviceptr))                                        \
  X(copy_to_device, "cuMemcpyHtoDAsync_v2", (CUdeviceptr, const void*, size_t, CUstream))                         \
  X(copy_to_host, "cuMemcpyDtoHAsync_v2", (void*, CUdeviceptr, size_t, CUstream))                                 \
  X(copy_on_device, "cuMemcpyDtoDAsync_v2", (CUdeviceptr, CUdeviceptr, size_t, CUstream))                         \
  X(copy_to_peer, "cuMemcpyPeerAsync", (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream))        \
  X(set_bytes, "cuMemsetD8Async", (CUdeviceptr, unsigned char, size_t, CUstream))                                 \
  X(stream_create, "cuStreamCreateWithPriority", (CUstream*, unsigned, int))                                      \
  X(stream_synchronize, "cuStreamSynchronize", (CUstream))                                                        \
  X(stream_query, "cuStreamQuery", (CUstream))                                                                    \
  X(stream_wait, "cuStreamWaitEvent", (CUstream, CUevent, unsigned))                                              \
  X(event_create, "cuEventCreate", (CUevent*, unsigned))                                                          \
  X(event_destroy, "cuEventDestroy_v2", (CUevent))                                                                \
  X(event_record, "cuEventRecord", (CUevent, CUstream))                                                           \
  X(event_synchronize, "cuEventSynchronize", (CUevent))                                                           \
  X(event_query, "cuEventQuery", (CUevent))                                                                       \
  X(event_elapsed, "cuEventElapsedTime", (float*, CUevent, CUevent))                                              \
  X(module_load, "cuModuleLoadData", (CUmodule*, const void*))                                                    \
  X(module_function, "cuModuleGetFunction", (CUfunction*, CUmodule, const char*))                                 \
  X(function_set, "cuFuncSetAttribute", (CUfunction, int, int))                                                   \
  X(launch, "cuLaunchKernel",                                                                                     \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**, void**)) \
  X(capture_begin, "cuStreamBeginCapture_v2", (CUstream, int))                                                    \
  X(capture_end, "cuStreamEndCapture", (CUstream, CUgraph*))                                                      \
  X(capture_status, "cuStreamIsCapturing", (CUstream, int*))                                                      \
  X(graph_instantiate, "cuGraphInstantiateWithFlags", (CUgraphExec*, CUgraph, unsigned long long))                \
  X(graph_launch, "cuGraphLaunch", (CUgraphExec, CUstream))                                                       \
  X(graph_exec_destroy, "cuGraphExecDestroy", (CUgraphExec))                                                      \
  X(graph_destroy, "cuGraphDestroy", (CUgraph))

using nvrtcProgram = struct nvrtcProgram_st*;
#define CUDA_NVRTC_FUNCTIONS(X)                                                             \
  X(version, "nvrtcVersion", (int*, int*))                                                  \
  X(error_string, "nvrtcGetErrorString", (int))                                             \
  X(create, "nvrtcCreateProgram",                                                           \
    (nvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*)) \
  X(destroy, "nvrtcDestroyProgram", (nvrtcProgram*))                                        \
  X(add_name, "nvrtcAddNameExpression", (nvrtcProgram, const char*))                        \
  X(compile, "nvrtcCompileProgram", (nvrtcProgram, int, const char* const*))                \
  X(lowered_name, "nvrtcGetLoweredName", (nvrtcProgram, const char*, const char**))         \
  X(log_size, "nvrtcGetProgramLogSize", (nvrtcProgram, size_t*))                            \
  X(log, "nvrtcGetProgramLog", (nvrtcProgram, char*))                                       \
  X(cubin_size, "nvrtcGetCUBINSize", (nvrtcProgram, size_t*))                               \
  X(cubin, "nvrtcGetCUBIN", (nvrtcProgram, char*))                                          \
  X(architectures, "nvrtcGetNumSupportedArchs", (int*))                                     \
  X(architecture_list, "nvrtcGetSupportedArchs", (int*))                                    \
  X(ptx_size, "nvrtcGetPTXSize", (nvrtcProgram, size_t*))                                   \
  X(ptx, "nvrtcGetPTX", (nvrtcProgram, char*))

struct Driver {
  CUDA_DRIVER_FUNCTIONS(CUDA_MEMBER)
  void find(SharedLibrary& library) { CUDA_DRIVER_FUNCTIONS(CUDA_FIND) }
  int version = 0;  // 1000 * major + 10 * minor
  int devices = 0;
};
struct Nvrtc {
  CUDA_NVRTC_FUNCTIONS(CUDA_MEMBER)
  void find(SharedLibrary& library) { CUDA_NVRTC_FUNCTIONS(CUDA_FIND) }
  int major = 0, minor = 0;
};

// Opens the driver on the first call, so that driver() has its functions. Returns why that failed, or "".
const std::string& open_driver();
extern Driver driver_functions;
inline const Driver& driver() { return driver_functions; }

// Opens the NVRTC of the driver's CUDA major version, or an older one. Returns why that failed, or "".
const std::string& open_nvrtc();
const Nvrtc& nvrtc();

// Returns the meaning of a result: "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
std::string meaning(CUresult);

}  // namespace cuda
