// Eight threads make names, which the plugin keeps in tables without locks, and add tensors with them, without Python; run
// under ThreadSanitizer. The threads take the same new names at the same time, and one name must be kept once: tensors
// are added across threads, and names that differ are an error. Usage: test_named LIBLAMELLA_CPU LIBLAMELLA_NAMED_TENSOR
#include <lamella/extension.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "program_calls.h"

namespace {

using lamella::Tensor;
constexpr int rounds = 300, many = 8;

Tensor named(const Tensor& t, const std::string& name) {
  static const lamella::Operator<Tensor(const Tensor&, int64_t, const std::string&)> unsqueeze("unsqueeze.named");
  return unsqueeze(t, 0, name);
}

// Holds the tensor that each thread made last, for its neighbour.
struct Made {
  std::atomic<int> round{0};
  Tensor tensor;
};
Made places[many];
std::atomic<long> refused{0};

void worker(int which) {
  const Tensor ones = lamella::ones({3});
  for (int round = 1; round <= rounds; round++) {
    Made& mine = places[which];
    const std::string row = "row" + std::to_string(round), page = "page" + std::to_string(round);
    mine.tensor = named(named(ones, row), page);
    mine.round.store(round, std::memory_order_release);
    const Made& other = places[(which + 1) % many];
    while (other.round.load(std::memory_order_acquire) != round) std::this_thread::yield();
    const Tensor sum = mine.tensor + other.tensor;  // an error if the two have lists of their own
    CHECK(sum.dim() == 3);
    try {
      mine.tensor + named(named(ones, "other"), page);
      CHECK(false);
    } catch (const lamella::Error& e) {
      CHECK(std::string(e.what()).find("'" + row + "' meets one with the name 'other'") != std::string::npos);
      refused++;
    }
    static std::atomic<int> waiting{0};
    const int end = round * many;  // all threads wait for each other, so that no tensor is replaced while one reads it
    waiting++;
    while (waiting < end) std::this_thread::yield();
  }
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc >= 3);
  begin_program(argv[1], argv[2]);
  std::vector<std::thread> threads;
  for (int i = 0; i < many; i++) threads.emplace_back(worker, i);
  for (auto& t : threads) t.join();
  CHECK(refused == many * rounds);
  for (Made& made : places) made.tensor = Tensor();
  std::printf("ok  %d names kept by %d threads at once\n", 2 * rounds, many);
  return 0;
}
