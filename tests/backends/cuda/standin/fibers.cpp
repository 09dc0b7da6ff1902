// The fibers of a block, their barriers and the primitives of warps. A block's fibers run on one thread of the host,
// one after another, each until its next barrier. It is an error if not all threads reach a barrier, if they reach it
// at different places, or if a kernel follows an address that it must not.
#include "fibers.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

struct uint3 {
  unsigned x, y, z;
};
struct standin_place {
  uint3 thread, block, block_size, grid_size;
};
extern "C" {
__attribute__((visibility("default"))) thread_local standin_place standin_here
    __attribute__((tls_model("initial-exec")));
}

// Saves the registers that a call must keep on the present stack, and continues on the other one.
extern "C" void standin_switch(void** from, void* to);
asm(R"(
.text
.globl standin_switch
.hidden standin_switch
standin_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
)");

namespace standin {
namespace {

constexpr size_t stack_bytes = 64 << 10;
enum State { ready, at_barrier, at_warp, done };
struct Fiber {
  void* stack = nullptr;  // the stack on which the fiber continues
  State state = ready;
  uint3 thread{};
  const void* place = nullptr;  // of the barrier at which the fiber waits
  unsigned mask = 0;
  unsigned long long value = 0;
};

struct Block {
  const Grid* grid = nullptr;
  std::vector<Fiber> fibers;
  size_t now = 0;
  void* home = nullptr;
  std::string error;
  std::vector<char> shared;
  int counted[3] = {};
};
thread_local Block block;
thread_local sigjmp_buf escape;
thread_local bool running = false;

// Returns the thread's i-th stack. The thread keeps its stacks, with a page below each that may not be touched.
char* stack_of(size_t i) {
  static thread_local std::vector<char*> stacks;
  while (stacks.size() <= i) {
    void* p =
        mmap(nullptr, stack_bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mprotect(p, 4096, PROT_NONE);
    stacks.push_back(static_cast<char*>(p) + 4096);
  }
  return stacks[i];
}

void leave() {
  Fiber& f = block.fibers[block.now];
  standin_switch(&f.stack, block.home);
  standin_here.thread = f.thread;
}

void begin_fiber() {
  block.grid->entry(block.grid->arguments);
  block.fibers[block.now].state = done;
  leave();
  std::abort();
}

std::string name_of(size_t i) {
  const uint3& t = block.fibers[i].thread;
  return "thread (" + std::to_string(t.x) + ", " + std::to_string(t.y) + ", " + std::to_string(t.z) + ")";
}

// If all threads wait at the block's barrier, lets them continue.
bool pass_barrier() {
  for (size_t i = 0; i < block.fibers.size(); i++) {
    if (block.fibers[i].state != at_barrier) {
      for (size_t k = 0; k < block.fibers.size(); k++)
        if (block.fibers[k].state == at_barrier) {
          block.error = "a barrier is not reached by all threads: " + name_of(k) + " waits, " + name_of(i) +
                        (block.fibers[i].state == done ? " has ended" : " waits for its warp");
          return false;
        }
      return false;
    }
    if (block.fibers[i].place != block.fibers[0].place) {
      block.error = "threads wait at different barriers: " + name_of(0) + " and " + name_of(i);
      return false;
    }
  }
  for (Fiber& f : block.fibers) f.state = ready;
  return true;
}

// If all lanes of a warp's mask wait, lets them continue.
bool pass_warp(size_t warp) {
  bool passed = false;
  const size_t begin = warp * 32, end = std::min(begin + 32, block.fibers.size());
  for (size_t i = begin; i < end; i++) {
    if (block.fibers[i].state != at_warp) continue;
    const unsigned mask = block.fibers[i].mask;
    bool all = true;
    for (size_t k = begin; k < end; k++)
      if (mask >> (k - begin) & 1)
        all = all && block.fibers[k].state == at_warp && block.fibers[k].mask == mask &&
              block.fibers[k].place == block.fibers[i].place;
    if (!all) continue;
    for (size_t k = begin; k < end; k++)
      if (mask >> (k - begin) & 1) block.fibers[k].state = ready;
    passed = true;
  }
  return passed;
}

bool backwards() {
  static const bool on = std::getenv("STANDIN_ORDER") && !std::strcmp(std::getenv("STANDIN_ORDER"), "backwards");
  return on;
}

void run_fibers() {
  const size_t n = block.fibers.size();
  for (size_t i = 0; i < n; i++) {
    Fiber& f = block.fibers[i];
    f.state = ready;
    char* top = stack_of(i) + stack_bytes;
    auto** s = reinterpret_cast<void**>(top) - 2;
    *s = reinterpret_cast<void*>(&begin_fiber);  // switching to the fiber returns to begin_fiber()
    f.stack = s - 6;
    std::memset(f.stack, 0, 6 * sizeof(void*));
  }
  for (;;) {
    size_t ended = 0, ran = 0;
    for (size_t k = 0; k < n; k++) {
      block.now = backwards() ? n - 1 - k : k;
      Fiber& f = block.fibers[block.now];
      if (f.state == ready) {
        ran++;
        standin_here.thread = f.thread;
        standin_switch(&block.home, f.stack);
      }
      ended += f.state == done;
    }
    if (ended == n) return;
    bool passed = false;
    for (size_t w = 0; w * 32 < n; w++) passed = pass_warp(w) || passed;
    if (passed || ran) {
      if (passed) continue;
      bool waits_for_warp = false;
      for (const Fiber& f : block.fibers) waits_for_warp = waits_for_warp || f.state == at_warp;
      if (!waits_for_warp && pass_barrier()) continue;
    }
    if (!block.error.empty()) return;
    for (size_t i = 0; i < n; i++)
      if (block.fibers[i].state == at_warp) {
        block.error = "a warp's primitive is not reached by all lanes of its mask: " + name_of(i) + " waits";
        return;
      }
    block.error = "the threads of a block wait for each other";
    return;
  }
}

void wait_at(State state, const void* place, unsigned mask) {
  Fiber& f = block.fibers[block.now];
  f.state = state;
  f.place = place;
  f.mask = mask;
  leave();
}

struct sigaction before[2];
void on_signal(int number, siginfo_t* info, void* context) {
  if (running) siglongjmp(escape, 1 + number);
  const struct sigaction& old = before[number == SIGBUS];
  if (old.sa_flags & SA_SIGINFO) return old.sa_sigaction(number, info, context);
  if (old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN) {
    signal(number, SIG_DFL);
    raise(number);
    return;
  }
  old.sa_handler(number);
}
void catch_signals() {
  static const bool once = [] {
    struct sigaction a {};
    a.sa_sigaction = on_signal;
    a.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigaction(SIGSEGV, &a, &before[0]);
    sigaction(SIGBUS, &a, &before[1]);
    return true;
  }();
  (void)once;
}

}  // namespace

std::string run_grid(const Grid& g) {
  catch_signals();
  block.grid = &g;
  block.error.clear();
  block.shared.assign(g.shared_bytes + 16, static_cast<char>(0xAA));
  standin_here.block_size = {g.block[0], g.block[1], g.block[2]};
  standin_here.grid_size = {g.grid[0], g.grid[1], g.grid[2]};
  const unsigned threads = g.block[0] * g.block[1] * g.block[2];
  if (threads == 0 || threads > 1024) return "a block has " + std::to_string(threads) + " threads; 1 to 1024 can be";
  block.fibers.resize(threads);
  for (unsigned i = 0; i < threads; i++)
    block.fibers[i].thread = {i % g.block[0], i / g.block[0] % g.block[1], i / (g.block[0] * g.block[1])};
  if (const int number = sigsetjmp(escape, 0)) {
    running = false;
    return number == 1 + SIGSEGV || number == 1 + SIGBUS ? "an illegal memory access was encountered"
                                                         : "the kernel trapped";
  }
  running = true;
  for (unsigned z = 0; z < g.grid[2]; z++)
    for (unsigned y = 0; y < g.grid[1]; y++)
      for (unsigned x = 0; x < g.grid[0]; x++) {
        standin_here.block = {x, y, z};
        if (g.fibers) {
          run_fibers();
          if (!block.error.empty()) {
            running = false;
            return block.error;
          }
          continue;
        }
        for (unsigned i = 0; i < threads; i++) {
          standin_here.thread = block.fibers[backwards() ? threads - 1 - i : i].thread;
          g.entry(g.arguments);
        }
      }
  running = false;
  return "";
}

}  // namespace standin

using namespace standin;
extern "C" {
__attribute__((visibility("default"))) void* standin_shared_bytes() {
  return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(block.shared.data()) + 15) / 16 * 16);
}
__attribute__((visibility("default"))) void standin_barrier(const void*) {
  wait_at(at_barrier, __builtin_return_address(0), 0);
}
__attribute__((visibility("default"))) int standin_barrier_count(const void*, int predicate, int how) {
  const void* here = __builtin_return_address(0);
  Fiber& mine = block.fibers[block.now];
  mine.value = predicate != 0;
  wait_at(at_barrier, here, 0);
  unsigned count = 0;
  for (const Fiber& f : block.fibers) count += f.value != 0;
  wait_at(at_barrier, static_cast<const char*>(here) + 1, 0);
  return how == 0 ? static_cast<int>(count) : how == 1 ? count == block.fibers.size() : count > 0;
}
__attribute__((visibility("default"))) void standin_warp_barrier(const void*, unsigned mask) {
  const size_t warp = block.now / 32 * 32, lanes = std::min<size_t>(32, block.fibers.size() - warp);
  wait_at(at_warp, __builtin_return_address(0), lanes == 32 ? mask : mask & ((1u << lanes) - 1));
}
static unsigned there(unsigned mask) {
  const size_t warp = block.now / 32 * 32, lanes = std::min<size_t>(32, block.fibers.size() - warp);
  return lanes == 32 ? mask : mask & ((1u << lanes) - 1);
}
__attribute__((visibility("default"))) unsigned long long standin_exchange(const void*, unsigned mask,
                                                                           unsigned long long value, int lane) {
  const void* here = __builtin_return_address(0);
  const size_t warp = block.now / 32 * 32;
  block.fibers[block.now].value = value;
  wait_at(at_warp, here, there(mask));
  const size_t from = warp + (lane & 31);
  const unsigned long long got = from < block.fibers.size() ? block.fibers[from].value : value;
  wait_at(at_warp, static_cast<const char*>(here) + 1, there(mask));
  return got;
}
__attribute__((visibility("default"))) unsigned standin_ballot(const void*, unsigned mask, int predicate) {
  const void* here = __builtin_return_address(0);
  const size_t warp = block.now / 32 * 32;
  block.fibers[block.now].value = predicate != 0;
  wait_at(at_warp, here, there(mask));
  unsigned votes = 0;
  for (size_t i = 0; i < 32 && warp + i < block.fibers.size(); i++)
    if (there(mask) >> i & 1) votes |= static_cast<unsigned>(block.fibers[warp + i].value != 0) << i;
  wait_at(at_warp, static_cast<const char*>(here) + 1, there(mask));
  return votes;
}
__attribute__((visibility("default"))) void standin_sleep(unsigned nanoseconds) {
  static thread_local unsigned owed = 0;  // short sleeps add up before the thread sleeps
  if ((owed += nanoseconds) < 1000000) return;
  usleep(owed / 1000);
  owed = 0;
}
__attribute__((visibility("default"))) void standin_trap() { siglongjmp(escape, 1); }
}
