// Extensions that come and go while other threads call their operators, and a library loaded by eight threads at once.
// Run under ThreadSanitizer. Usage: test_threads LIBLAMELLA_CPU.SO LIBRARY
#include <lamella/program.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

static const lamella_api* api;

static lamella_status same(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  api->retain(args[0].as.tensor);
  rets[0] = args[0];
  return LAMELLA_OK;
}

// Defines an operator with a rule, a layer and an interface, lets other threads call it, and withdraws everything.
static void come_and_go(std::atomic<bool>* stop) {
  lamella_operator_def d{};
  d.size = sizeof d;
  d.schema = "guest(Tensor self) -> Tensor";
  lamella_layer layer{};
  layer.size = sizeof layer;
  layer.name = "guest_layer";
  layer.flags = LAMELLA_LAYER_FALLTHROUGH;
  static int payload;
  for (int i = 0; i < 300; i++) {
    lamella_library* l;
    OK(api, open_library(api, "test", "guest", &l));
    OK(api, api->define(l, &d, nullptr));
    OK(api, add_kernel(api, l, "guest", "cpu", same));
    OK(api, api->layer(l, &layer, nullptr, nullptr));
    OK(api, keep_rule(api, l, "guest", "guest_layer", &payload, nullptr));
    OK(api, api->publish_interface(l, "guest.table", 1, &payload, nullptr));
    std::this_thread::yield();
    api->library_close(l);
  }
  *stop = true;
}

// Calls the operator if it is defined: the call works, or its error says that the operator was withdrawn.
static void call(int32_t cpu, std::atomic<bool>* stop, std::atomic<int64_t>* worked, std::atomic<int64_t>* refused) {
  const int64_t one = 1;
  lamella_tensor* t;
  OK(api, api->tensor_empty(1, &one, nullptr, LAMELLA_FLOAT32, {cpu, 0}, &t));
  lamella_value arg{LAMELLA_TENSOR, 0, {0}}, r;
  arg.as.tensor = t;
  const lamella_operator* op = nullptr;
  while (!*stop) {
    if (const lamella_operator* found = api->find_operator("test::guest", "")) op = found;
    if (!op) continue;
    if (api->call(nullptr, op, &arg, 1, &r, 1)) {
      const std::string message = api->error_message();
      CHECK(message.find("withdrawn") != std::string::npos ||
            message.find("no library has registered") != std::string::npos ||
            message.find("no kernel") != std::string::npos);
      api->error_clear();
      (*refused)++;
    } else {
      CHECK(r.as.tensor == t);
      api->value_release(&r);
      (*worked)++;
    }
    (void)api->find_interface("guest.table", 1);
  }
  api->release(t);
}

// Forks while other threads take random numbers: the child finds every lock free. A child that hangs is ended by a
// signal after ten seconds.
static void fork_beside_draws(int32_t cpu) {
  std::atomic<bool> stop{false};
  const auto draw = [&] {
    uint64_t seed, offset;
    OK(api, api->generator_reserve(nullptr, {cpu, 0}, 1, &seed, &offset));
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++)
    threads.emplace_back([&] {
      while (!stop) draw();
    });
  for (int i = 0; i < 200; i++) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      draw();
      _exit(0);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  for (auto& t : threads) t.join();
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  api = lamella_get_api(LAMELLA_TARGET_VERSION);
  CHECK(api);
  OK(api, lamella_load_plugin(argv[1]));
  int32_t cpu;
  OK(api, api->find_backend("cpu", &cpu));
  {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++) threads.emplace_back([&] { OK(api, lamella_load_plugin(argv[2])); });
    for (auto& t : threads) t.join();
    OK(api, lamella_load_plugin(argv[2]));
  }
  done("a library loaded by eight threads runs its init function once");
  std::atomic<bool> stop{false};
  std::atomic<int64_t> worked{0}, refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) threads.emplace_back(call, cpu, &stop, &worked, &refused);
  come_and_go(&stop);
  for (auto& t : threads) t.join();
  CHECK(worked > 0);
  std::printf("    %lld calls worked, %lld were told that it is withdrawn\n", static_cast<long long>(worked.load()),
              static_cast<long long>(refused.load()));
  done("operators withdrawn while three threads call them");
  fork_beside_draws(cpu);
  done("children forked while three threads draw numbers draw themselves");
}
