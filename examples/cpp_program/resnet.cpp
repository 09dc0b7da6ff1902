// Runs a saved ResNet in C++, without Python: `resnet [FILE]`. The first lines of main are the program that the
// documentation of torch::jit has, with lamella in the place of torch.
#include <lamella/run.hpp>

#include <cstdio>

int main(int argc, const char* argv[]) {
  try {
    auto module = lamella::jit::load(argc > 1 ? argv[1] : "resnet.lamella");
    std::vector<lamella::jit::IValue> inputs;
    inputs.push_back(lamella::ones({1, 3, 224, 224}));
    lamella::Tensor output = module->forward(inputs).toTensor();

    const int64_t best = output.argmax().item<int64_t>();
    std::printf("best %lld, score %.6f\n", static_cast<long long>(best), output[0][best].item<double>());
  } catch (const lamella::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
