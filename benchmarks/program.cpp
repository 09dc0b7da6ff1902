// Runs a saved module without Python, as programs.py times it: `program FILE MAP ROUNDS`. It prints, as JSON, the time of
// the load, of the first call and of each round's call, in nanoseconds. MAP: 1 maps tensors from the file.
#include <lamella/run.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using Clock = std::chrono::steady_clock;
long long since(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  try {
    Clock::time_point begin = Clock::now();
    const uint32_t flags = std::strcmp(argv[2], "1") == 0 ? LAMELLA_GRAPH_MAP : 0;
    lamella::jit::start();
    std::printf("{\"start\": %lld", since(begin));
    begin = Clock::now();
    auto net = lamella::jit::load(argv[1], "", flags);
    std::printf(", \"load\": %lld", since(begin));
    const lamella::NoGradGuard no_grad;
    const bool picture = net.parameters()[0].dim() == 4;
    const lamella::Tensor x = picture ? lamella::ones({1, 3, 224, 224}) : lamella::ones({1, 16});
    begin = Clock::now();
    (void)net.forward({x}).toTensor();
    std::printf(", \"first\": %lld, \"rounds\": [", since(begin));
    for (int i = 0, n = std::atoi(argv[3]); i < n; i++) {
      begin = Clock::now();
      (void)net.forward({x}).toTensor();
      std::printf(i ? ", %lld" : "%lld", since(begin));
    }
    std::printf("]}\n");
  } catch (const lamella::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
