// A program in C++17 without Python: it opens liblamella.so at run time, loads the CPU backend and an extension, and
// calls operators from several threads. Usage: program LIBLAMELLA.SO LIBLAMELLA_CPU.SO EXTENSION.SO
#include <dlfcn.h>
#include <lamella/program.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static const lamella_api* api;

static void check(lamella_status st) {
  if (st) throw std::runtime_error(api->error_message());
}

static lamella_value call(const char* name, const char* overload, std::vector<lamella_value> args) {
  lamella_value r{};
  const lamella_operator* op = api->find_operator(name, overload);
  if (!op) throw std::runtime_error(std::string("there is no operator ") + name);
  check(api->call(nullptr, op, args.data(), static_cast<int32_t>(args.size()), &r, 1));
  return r;
}

static float work(lamella_device cpu) {
  const int64_t n = 100000;
  lamella_value x{LAMELLA_TENSOR, 0, {0}};
  check(api->tensor_empty(1, &n, nullptr, LAMELLA_FLOAT32, cpu, &x.as.tensor));
  for (int64_t i = 0; i < n; i++) static_cast<float*>(x.as.tensor->dl.data)[i] = 1;
  lamella_value twice = call("demo::twice", "", {x}), sum = call("aten::sum", "", {twice});
  const float result = *static_cast<float*>(sum.as.tensor->dl.data);
  for (lamella_value* v : {&x, &twice, &sum}) api->value_release(v);
  return result;
}

int main(int argc, char** argv) try {
  if (argc != 4) return 2;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  auto get_api = reinterpret_cast<decltype(&lamella_get_api)>(dlsym(library, "lamella_get_api"));
  auto load = reinterpret_cast<decltype(&lamella_load_plugin)>(dlsym(library, "lamella_load_plugin"));
  if (!get_api || !load || !(api = get_api(LAMELLA_TARGET_VERSION)))
    throw std::runtime_error("this is no such library");
  check(load(argv[2]));
  check(load(argv[3]));
  lamella_device cpu{};
  check(api->find_backend("cpu", &cpu.backend));
  std::vector<float> sums(4);
  std::vector<std::thread> threads;
  for (float& s : sums) threads.emplace_back([&s, cpu] { s = work(cpu); });
  for (auto& t : threads) t.join();
  for (float s : sums) std::printf("%g\n", s);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("libpython") != std::string::npos) throw std::runtime_error("Python is in this process");
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
