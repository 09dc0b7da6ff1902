// An allocator that fails once; it must be loaded before all other libraries (LD_PRELOAD). After scarce_arm(n), the
// n-th allocation (from 0) that Lamella makes, itself or by operator new, fails, and so does the next one of the same
// size, which may be a second try. Allocations by other libraries always succeed.
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include <atomic>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

std::atomic<long> left{-1};  // number of allocations before the one that fails; negative: none fails
std::atomic<bool> armed{false};
std::atomic<size_t> refused{0};  // bytes

struct Range {
  uintptr_t begin, end;
};
Range ranges[16];
int count = 0;

int add_range(dl_phdr_info* info, size_t, void*) {
  const char* names[] = {"/liblamella.so", "/liblamella_cpu.so", "/liblamella_autograd.so", "/libstdc++.so"};
  bool ours = strstr(info->dlpi_name, "/_C.cpython") && strstr(info->dlpi_name, "lamella");
  for (const char* name : names) ours |= strstr(info->dlpi_name, name) != nullptr;
  for (int i = 0; ours && i < info->dlpi_phnum && count < 16; i++) {
    const auto& h = info->dlpi_phdr[i];
    if (h.p_type == PT_LOAD && (h.p_flags & PF_X))
      ranges[count++] = {info->dlpi_addr + h.p_vaddr, info->dlpi_addr + h.p_vaddr + h.p_memsz};
  }
  return 0;
}

bool fails(void* caller, size_t bytes) {
  if (!armed.load(std::memory_order_relaxed)) return false;
  const auto at = reinterpret_cast<uintptr_t>(caller);
  bool ours = false;
  for (int i = 0; i < count; i++) ours |= at >= ranges[i].begin && at < ranges[i].end;
  if (!ours) return false;
  size_t same = bytes;
  if (bytes && refused.compare_exchange_strong(same, 0)) return true;
  if (left.fetch_sub(1) != 0) return false;
  refused = bytes;
  return true;
}

}  // namespace

extern "C" {

void scarce_arm(long n) {
  count = 0;
  dl_iterate_phdr(add_range, nullptr);
  left = n;
  refused = 0;
  armed = true;
}
// Stops the failing; returns whether an allocation failed.
int scarce_disarm() {
  armed = false;
  return left < 0;
}

void* malloc(size_t n) { return fails(__builtin_return_address(0), n) ? (errno = ENOMEM, nullptr) : __libc_malloc(n); }
void* calloc(size_t n, size_t m) {
  return fails(__builtin_return_address(0), n * m) ? (errno = ENOMEM, nullptr) : __libc_calloc(n, m);
}
void* realloc(void* p, size_t n) {
  return fails(__builtin_return_address(0), n) ? (errno = ENOMEM, nullptr) : __libc_realloc(p, n);
}
void* aligned_alloc(size_t unit, size_t n) {
  return fails(__builtin_return_address(0), n) ? (errno = ENOMEM, nullptr) : __libc_memalign(unit, n);
}
int posix_memalign(void** out, size_t unit, size_t n) {
  if (fails(__builtin_return_address(0), n)) return ENOMEM;
  return (*out = __libc_memalign(unit, n)) ? 0 : ENOMEM;
}
}
