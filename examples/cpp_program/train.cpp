// Trains a saved module in C++ by stochastic gradient descent: `train FILE STEPS`. The module takes a picture of numbers
// (8, 4) and returns (8, 1). The program prints the loss of each step, as the bits of a float.
#include <lamella/run.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, const char* argv[]) {
  if (argc != 3) return std::fprintf(stderr, "usage: %s FILE STEPS\n", argv[0]), 2;
  try {
    auto net = lamella::jit::load(argv[1]);
    net.train();
    const lamella::Tensor x = lamella::arange(32, lamella::dtype(lamella::kFloat)).reshape({8, 4}) / 32;
    const lamella::Tensor y = x.sum({1}, true);
    for (int step = 0; step < std::atoi(argv[2]); step++) {
      const lamella::Tensor error = net.forward({x}).toTensor() - y;
      const lamella::Tensor loss = (error * error).mean();
      loss.backward();
      const lamella::NoGradGuard no_grad;
      for (const lamella::Tensor& p : net.parameters()) {
        p.sub_(p.grad() * 0.1);
        p.grad().zero_();
      }
      const float value = loss.item<float>();
      uint32_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      std::printf("%08x %g\n", bits, static_cast<double>(value));
    }
  } catch (const lamella::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
