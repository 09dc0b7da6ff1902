// A program without Python that tests of <lamella/run.hpp> run: `run_program COMMAND FILE...`. Numbers are printed as
// bits, so that a test compares them exactly.
#include <lamella/run.hpp>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

using lamella::Tensor;
using lamella::jit::IValue;
using lamella::jit::Module;

namespace {

void print_bits(const Tensor& given) {
  const Tensor t = given.to(lamella::kFloat).contiguous();
  for (const int64_t size : t.sizes()) std::printf("%lld ", static_cast<long long>(size));
  std::printf(":");
  for (int64_t i = 0; i < t.numel(); i++) {
    uint32_t bits;
    std::memcpy(&bits, t.data<float>() + i, sizeof bits);
    std::printf(" %08x", bits);
  }
  std::printf("\n");
}

Tensor input() { return lamella::arange(6, lamella::dtype(lamella::kFloat)).reshape({3, 2}) / 4; }

// Calls the module in every way that there is.
void calls(const char* file) {
  Module net = lamella::jit::load(file);
  const Tensor x = input();
  print_bits(net.forward({x}));
  print_bits(net(x, 3));
  print_bits(net.forward({x}, {{"n", 3}}));
  std::vector<IValue> inputs = {x, 3};
  print_bits(net->forward(inputs).toTensor());
  std::printf("%s\n", net.get_method("name")(1).toStringRef().c_str());
  std::printf("%s\n", net.run_method("name", 0).toStringRef().c_str());
  for (const std::string& name : net.methods()) std::printf("%s ", name.c_str());
  for (const auto& p : net.named_parameters()) std::printf("%s ", p.name.c_str());
  for (const auto& b : net.named_buffers()) std::printf("%s ", b.name.c_str());
  std::printf("%s %d", net.name().c_str(), net.is_training());
  net.eval();
  std::printf(" %d", net.is_training());
  net.train();
  std::printf(" %d %d %d\n", net.is_training(), net.hasattr("weight"), net.hasattr("height"));
  net.setattr("names", std::vector<std::string>{"c"});
  std::printf("%s %zu\n", net.run_method("name", 0).toStringRef().c_str(), net.attr("names").toList().size());
  const Tensor weight = net.parameters()[0];
  net.to(lamella::kDouble);
  std::printf("%d %d\n", weight.dtype() == lamella::kDouble, net.attr("weight").toTensor().is_same(weight));
  print_bits(net.forward({x.to(lamella::kDouble)}));
  for (const char* wrong : {"arguments", "keyword", "type", "method", "attribute", "module"}) try {
      const std::string kind = wrong;
      if (kind == "arguments") net();
      if (kind == "keyword") net.forward({x}, {{"m", 3}});
      if (kind == "type") net(x, "three");
      if (kind == "method") net.get_method("inverse");
      if (kind == "attribute") net.attr("height");
      if (kind == "module") net.module("inner");
    } catch (const lamella::Error& e) {
      std::printf("%s\n", e.what());
    }
}

// Passes a value of each kind through a function, which returns it in a tuple with others.
void kinds(const char* file) {
  Module f = lamella::jit::load(file);
  const std::map<std::string, int64_t> counts = {{"a", 1}, {"b", 2}};
  const std::vector<bool> flags = {true, false};
  const IValue result = f(std::vector<int64_t>{1, 2}, 2, true, "text", counts, std::make_tuple(7, lamella::ones({1})),
                          std::nullopt, flags, std::vector<Tensor>{lamella::ones({2})});
  const std::vector<IValue> parts = result.toTuple();
  for (const int64_t x : parts[0].toIntVector()) std::printf("%lld ", static_cast<long long>(x));
  std::printf("%g %d %s ", parts[1].toDouble(), parts[2].toBool(), parts[3].toStringRef().c_str());
  for (const auto& [key, x] : parts[4].toGenericDict())
    std::printf("%s=%lld ", key.toStringRef().c_str(), static_cast<long long>(x.toInt()));
  const std::vector<IValue> pair = parts[5].toTuple();
  std::printf("%lld %d %d %zu\n", static_cast<long long>(pair[0].toInt()), parts[6].isNone(),
              parts[7].toList()[1].toBool(), parts[8].toTensorVector().size());
  try {
    (void)result.toTensor();
  } catch (const lamella::Error& e) {
    std::printf("%s\n", e.what());
  }
}

// Calls one module from four threads at once.
void threads(const char* file) {
  const Module net = lamella::jit::load(file);
  std::vector<std::thread> all;
  std::vector<Tensor> results(4);
  for (size_t i = 0; i < 4; i++)
    all.emplace_back([&, i] {
      const lamella::NoGradGuard no_grad;
      for (int n = 0; n < 100; n++) results[i] = net(input() + static_cast<int64_t>(i), 3);
    });
  for (std::thread& t : all) t.join();
  for (const Tensor& t : results) print_bits(t);
}

void errors(int n, char** files) {
  for (int i = 0; i < n; i++) {
    for (const bool memory : {false, true}) try {
        std::ifstream stream(files[i], std::ios::binary);
        std::string bytes;
        if (std::filesystem::is_regular_file(files[i])) bytes.assign(std::istreambuf_iterator<char>(stream), {});
        const Module m = memory ? lamella::jit::load(bytes.data(), bytes.size()) : lamella::jit::load(files[i]);
        std::printf("%s is read\n", files[i]);
      } catch (const lamella::Error& e) {
        std::string text = e.what();
        for (char& c : text)
          if (c == '\n') c = ' ';
        if (!memory) std::printf("%s\n", text.c_str());
      }
  }
}

void tensors(const char* file) {  // of the module and those in it
  const Module net = lamella::jit::load(file);
  for (const auto& p : net.named_parameters()) std::printf("%s %d ", p.name.c_str(), p.value.requires_grad());
  for (const auto& b : net.named_buffers()) std::printf("%s ", b.name.c_str());
  std::printf("%s %s\n", net.module("again").name().c_str(), net.extra_file("note").value_or("none").c_str());
  print_bits(net(input()));
  print_bits(net(input()));
  print_bits(lamella::jit::load(file, "", LAMELLA_GRAPH_MAP)(input()));
}

// Takes a step of training, and saves the module and what it had been.
void save(const char* file, const char* to) {
  const Module net = lamella::jit::load(file);
  net(input()).toTensor().sum().backward();
  {
    const lamella::NoGradGuard no_grad;
    for (const Tensor& p : net.parameters()) p.sub_(p.grad() * 0.5);
  }
  lamella::jit::SetExportModuleExtraFilesHook([](lamella_object* saved) {
    const int32_t graphs = lamella_run_graph()->graphs(saved, nullptr, 0);
    return lamella::jit::ExtraFilesMap{{"producer", std::to_string(graphs) + " graphs"}, {"note", "by the hook"}};
  });
  net.save(to, {{"more", std::string("a\0b", 3)}});
  lamella::jit::SetExportModuleExtraFilesHook(nullptr);
  net.save(std::string(to) + ".plain");
  print_bits(net(input()));
  print_bits(lamella::jit::load(to, "", LAMELLA_GRAPH_VERIFY)(input()));
  try {
    net.module("first").save(to);
  } catch (const lamella::Error& e) {
    std::printf("%s\n", e.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string command = argc > 2 ? argv[1] : "";
    if (command == "calls") calls(argv[2]);
    if (command == "kinds") kinds(argv[2]);
    if (command == "threads") threads(argv[2]);
    if (command == "tensors") tensors(argv[2]);
    if (command == "save" && argc == 4) save(argv[2], argv[3]);
    if (command == "errors") errors(argc - 2, argv + 2);
  } catch (const lamella::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
