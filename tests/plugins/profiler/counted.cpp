// Counts a call's instructions: with a backend alone, with the profiler, with an observer, and after its removal; and
// if autograd records it, with one observer of its number, and with nine. Prints the counts, or "forbidden" if a
// process may not be single-stepped. Usage: counted LIBLAMELLA_CPU LIBLAMELLA_PROFILER LIBLAMELLA_AUTOGRAD
#include <lamella/autograd.h>
#include <lamella/profiler.h>
#include <lamella/program.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

lamella_tensor* one_element() {
  int32_t cpu;
  const int64_t one = 1;
  lamella_tensor* made;
  lamella::check(lamella::api().find_backend("cpu", &cpu));
  lamella::check(lamella::api().tensor_empty(1, &one, nullptr, LAMELLA_FLOAT32, {cpu, 0}, &made));
  return made;
}

lamella_tensor* t;

void call() {
  static const lamella_operator* const op = lamella::api().find_operator("aten::add", "Tensor");
  lamella_value args[3] = {{LAMELLA_TENSOR, 0, {0}}, {LAMELLA_TENSOR, 0, {0}}, {LAMELLA_INT, 0, {1}}}, r{};
  args[0].as.tensor = args[1].as.tensor = t;
  lamella::check(lamella::api().call(nullptr, op, args, 3, &r, 1));
  lamella::api().value_release(&r);
}

// The child makes ten calls between two breakpoints; the parent single-steps in between.
long count() {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)) _exit(9);
    for (int i = 0; i < 100; i++) call();
    __asm__ volatile("int3");
    for (int i = 0; i < 10; i++) call();
    __asm__ volatile("int3");
    _exit(0);
  }
  int status;
  if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
    std::puts("forbidden");
    std::exit(0);
  }
  for (long steps = 0;; steps++) {
    siginfo_t info{};
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) || waitpid(child, &status, 0) != child ||
        !WIFSTOPPED(status) || ptrace(PTRACE_GETSIGINFO, child, nullptr, &info))
      std::exit(2);
    if (info.si_code != SI_KERNEL) continue;  // not a breakpoint
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return steps;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  lamella::Api::table() = lamella_get_api(LAMELLA_TARGET_VERSION);
  lamella::check(lamella_load_plugin(argv[1]));
  t = one_element();
  const long without = count();
  lamella::check(lamella_load_plugin(argv[2]));
  const long idle = count();
  const uint64_t handle =
      lamella::add_global_callback(lamella::RecordFunctionCallback([](const lamella::RecordFunction&) {}));
  const long observed = count();
  lamella::remove_callback(handle);
  const long gone = count();
  lamella::check(lamella_load_plugin(argv[3]));
  const auto* autograd = static_cast<const lamella_autograd*>(lamella::api().find_interface("autograd", 1));
  lamella::check(autograd->set_requires_grad(t, 1));
  const auto add = [] {
    lamella::RecordFunctionCallback numbered([](const lamella::RecordFunction&) {});
    numbered.needs_ids().scopes({lamella::RecordScope::BACKWARD_FUNCTION});
    return lamella::add_global_callback(numbered);
  };
  const uint64_t first = add();
  const long one = count();
  uint64_t others[8];
  for (uint64_t& other : others) other = add();
  const long nine = count();
  lamella::remove_callback(first);
  for (uint64_t other : others) lamella::remove_callback(other);
  std::printf("%ld %ld %ld %ld %ld %ld\n", without, idle, observed, gone, one, nine);
  return 0;
}
