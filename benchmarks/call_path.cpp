// Measures calls from C++ without Python: the time of a call of an empty kernel and of `add`, with and without a layer
// that is active, and their instructions with and without an idle layer. Prints JSON.
// Usage: call_path LIBLAMELLA_CPU ROUNDS
//
// Instructions are counted by single-stepping a child process, so that no hardware counter or tool is needed.
#include <lamella/program.h>

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

const lamella_api* api;

void check(lamella_status st) {
  if (!st) return;
  std::fprintf(stderr, "call_path: %s\n", api->error_message());
  std::exit(1);
}

lamella_status nothing(lamella_frame*, const lamella_value*, lamella_value*) { return LAMELLA_OK; }
lamella_status onward(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return api->redispatch(f, args, f->num_args, rets, f->num_rets);
}

lamella_library* open(const char* owner) {
  lamella_library* l;
  const lamella_library_def d = {sizeof d, LAMELLA_TARGET_VERSION, "bench", owner, LAMELLA_EXTENDS, 0};
  check(api->library_open(&d, &l));
  return l;
}

const lamella_operator* define_nothing(lamella_library* l) {
  lamella_operator_def d{};
  d.size = sizeof d;
  d.schema = "nothing(Tensor a, Tensor b) -> ()";
  check(api->define(l, &d, nullptr));
  const lamella_kernel_def k = {sizeof k, 0, nothing, nullptr, __FILE__, __LINE__, 2};
  check(api->kernel(l, "bench::nothing", "cpu", &k, nullptr));
  return api->find_operator("bench::nothing", "");
}

int32_t add_layer(lamella_library* l, const char* name) {
  lamella_layer d{};
  d.size = sizeof d;
  d.name = name;
  d.at = "profiler";
  d.fallback = onward;
  int32_t bit;
  check(api->layer(l, &d, &bit, nullptr));
  return bit;
}

struct Case {
  const lamella_operator* op;
  lamella_value args[3];
  int32_t num_args = api->operator_num_args(op), num_rets = api->operator_num_returns(op);

  void once() const {
    lamella_value r{};
    if (api->call(nullptr, op, args, num_args, &r, num_rets)) std::exit(1);
    if (r.tag != LAMELLA_NONE) api->value_release(&r);
  }
};

// A thread state of two slots. `once` captures it, swaps it in and out as another thread would, and discards it.
struct Travel {
  explicit Travel(lamella_library* l) {
    for (const char* name : {"bench: streams", "bench: names"}) {
      lamella_thread_slot_type t{};
      t.size = sizeof t;
      t.name = name;
      t.copy = [](void* state, void** out) -> lamella_status {
        return *out = new int64_t(*static_cast<int64_t*>(state)), LAMELLA_OK;
      };
      t.destroy = [](void* state) { delete static_cast<int64_t*>(state); };
      int32_t slot;
      check(api->thread_slot(l, &t, &slot));
      check(api->thread_slot_set(slot, new int64_t(1)));
    }
  }
  void once() const {
    lamella_captured* state;
    check(api->thread_capture(&state));
    check(api->thread_swap(state));
    check(api->thread_swap(state));
    api->thread_discard(state);
  }
};

template <class Work>
double nanoseconds(const Work& c) {
  constexpr int n = 400000;
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < n; i++) c.once();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / n;
}

// ---- instructions ---------------------------------------------------------------------------------------------------

constexpr int counted_calls = 20;

// Counts the instructions of `counted_calls` calls, which a child process makes between two breakpoints while this
// process single-steps it. Returns -1 if ptrace is forbidden.
long instructions(const Case& c) {
  pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)) _exit(9);
    for (int i = 0; i < 100; i++) c.once();  // fills tables and memory pools
    __asm__ volatile("int3");
    for (int i = 0; i < counted_calls; i++) c.once();
    __asm__ volatile("int3");
    _exit(0);
  }
  int status;
  if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
    if (!WIFEXITED(status)) kill(child, SIGKILL);
    return -1;
  }
  long steps = 0;
  for (;; steps++) {
    siginfo_t info{};
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) || waitpid(child, &status, 0) != child ||
        !WIFSTOPPED(status))
      return -1;
    if (ptrace(PTRACE_GETSIGINFO, child, nullptr, &info)) return -1;
    if (info.si_code == SI_KERNEL) break;  // the second breakpoint
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return steps;
}

void print(const char* name, const std::vector<double>& rounds, const char* end) {
  std::printf("\"%s\": [", name);
  for (size_t i = 0; i < rounds.size(); i++) std::printf("%s%.3f", i ? ", " : "", rounds[i]);
  std::printf("]%s", end);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  api = lamella_get_api(LAMELLA_TARGET_VERSION);
  check(lamella_load_plugin(argv[1]));
  int32_t cpu;
  check(api->find_backend("cpu", &cpu));
  const int rounds = std::atoi(argv[2]);

  int64_t one = 1;
  lamella_tensor* t;
  check(api->tensor_empty(1, &one, nullptr, LAMELLA_FLOAT32, {cpu, 0}, &t));
  *static_cast<float*>(t->dl.data) = 1;
  lamella_value tensor{LAMELLA_TENSOR, 0, {0}};
  tensor.as.tensor = t;

  const Case empty{define_nothing(open("benchmark")), {tensor, tensor}};
  const Case add{api->find_operator("aten::add", "Tensor"), {tensor, tensor, {LAMELLA_INT, 0, {1}}}};

  const long before_empty = instructions(empty), before_add = instructions(add);
  const int32_t bit = add_layer(open("benchmark layer"), "bench.onward");
  const long after_empty = instructions(empty), after_add = instructions(add);

  const Travel travel(open("benchmark state"));
  std::vector<double> plain, layered, adding, adding_layered, travelling;
  for (int i = 0; i < rounds; i++) {
    plain.push_back(nanoseconds(empty));
    travelling.push_back(nanoseconds(travel));
    adding.push_back(nanoseconds(add));
    api->thread()->include |= uint64_t{1} << bit;
    layered.push_back(nanoseconds(empty));
    adding_layered.push_back(nanoseconds(add));
    api->thread()->include &= ~(uint64_t{1} << bit);
  }
  std::printf("{");
  print("empty", plain, ", ");
  print("empty below a layer", layered, ", ");
  print("add", adding, ", ");
  print("a state that travels", travelling, ", ");
  print("add below a layer", adding_layered, ", ");
  std::printf("\"counted calls\": %d, \"instructions\": {\"empty\": [%ld, %ld], \"add\": [%ld, %ld]}}\n", counted_calls,
              before_empty, after_empty, before_add, after_add);
  api->release(t);
  return 0;
}
