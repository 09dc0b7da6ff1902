// Planted defects, selected by a word: each sanitizer must report its own, or the test that runs this fails. Usage:
// planted heap|shift|race
#include <cstdlib>
#include <cstring>
#include <thread>

static int shared = 0;

int main(int argc, char** argv) {
  volatile int n = argc;
  if (argc < 2) return 2;
  if (!std::strcmp(argv[1], "heap")) {
    auto* p = static_cast<volatile char*>(std::malloc(8));
    p[7 + n] = 1;
    std::free(const_cast<char*>(p));
  } else if (!std::strcmp(argv[1], "shift")) {
    volatile int by = 40 + n;
    n = 1 << by;
  } else {
    std::thread other([] {
      for (int i = 0; i < 100000; i++) shared++;
    });
    for (int i = 0; i < 100000; i++) shared++;
    other.join();
  }
  return 0;
}
