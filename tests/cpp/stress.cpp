// Four threads register and withdraw kernels while eight call them; run under ThreadSanitizer, without OpenMP. Usage:
// test_stress LIBLAMELLA_CPU SECONDS
#include <lamella/program.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "check.h"

static const lamella_api* api;
static int32_t cpu;
static std::atomic<bool> stop{false};
static std::atomic<long> calls{0}, registrations{0};

static lamella_status seven(lamella_frame*, const lamella_value*, lamella_value* rets) {
  *static_cast<float*>(rets[0].as.tensor->dl.data) = 7;
  return LAMELLA_OK;
}
static lamella_status through(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return api->redispatch(f, args, f->num_args, rets, f->num_rets);
}

static void caller() {
  int64_t one = 1;
  lamella_tensor* a;
  OK(api, api->tensor_empty(1, &one, nullptr, LAMELLA_FLOAT32, {cpu, 0}, &a));
  *static_cast<float*>(a->dl.data) = 1;
  const lamella_operator* op = api->find_operator("aten::add", "Tensor");
  lamella_value args[3] = {{LAMELLA_TENSOR, 0, {0}}, {LAMELLA_TENSOR, 0, {0}}, {LAMELLA_INT, 0, {1}}};
  args[0].as.tensor = args[1].as.tensor = a;
  while (!stop) {
    lamella_value r{};
    OK(api, api->call(nullptr, op, args, 3, &r, 1));
    float x = *static_cast<float*>(r.as.tensor->dl.data);
    CHECK(x == 2 || x == 7);
    api->value_release(&r);
    calls++;
  }
  api->release(a);
}

static void registrar(int which) {
  std::string name = "stress" + std::to_string(which);
  while (!stop) {
    lamella_library* l;
    OK(api, open_library(api, "stress", name.c_str(), &l));
    OK(api, add_kernel(api, l, "aten::add.Tensor", "cpu", seven));
    lamella_layer d{};
    d.size = sizeof d;
    d.name = name.c_str();
    d.fallback = through;
    int32_t bit;
    OK(api, api->layer(l, &d, &bit, nullptr));
    OK(api, api->process_include(l, uint64_t{1} << bit, nullptr));
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    api->library_close(l);
    registrations++;
  }
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  api = lamella_get_api(LAMELLA_TARGET_VERSION);
  OK(api, lamella_load_plugin(argv[1]));
  OK(api, api->find_backend("cpu", &cpu));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++) threads.emplace_back(caller);
  for (int i = 0; i < 4; i++) threads.emplace_back(registrar, i);
  std::this_thread::sleep_for(std::chrono::duration<double>(std::atof(argv[2])));
  stop = true;
  for (auto& t : threads) t.join();
  CHECK(calls > 100 && registrations > 10);
  std::printf("ok  %ld calls beside %ld registrations\n", calls.load(), registrations.load());
  return 0;
}
