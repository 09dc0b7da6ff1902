// Graphs: the work that is queued on a stream is captured once and replayed as a whole. The operators of graphs, which
// lamella.cuda.CUDAGraph (graphs.py) calls, are in the namespace `cuda`, beside those that the backend's other Python
// files call. `cuda::delay` keeps a stream busy, for tests of order.
#include "graphs.h"

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "blas.h"
#include "dnn.h"
#include "faults.h"
#include "launch.h"
#include "kernels/random.h"
#include "memory.h"
#include "pointers.h"
#include "solver.h"

namespace cuda {
namespace {

// A generator, and the number of its words that the captured kernels take.
struct Drawing {
  lamella::Generator generator;
  uint64_t words = 0;
};
constexpr size_t most_drawings = 16;
struct Graph {
  int device;
  CUstream stream;  // the captured stream; its pool gives no memory back to the driver while the graph lives
  CUgraph graph = nullptr;
  CUgraphExec ready = nullptr;
  CUdeviceptr words = 0;  // a Stream for each drawing
  std::vector<Drawing> drawings;
};
Graph& graph_of(int64_t handle) { return *reinterpret_cast<Graph*>(handle); }

// The graphs that are being captured, by their streams.
struct Captures {
  std::atomic<int> count{0};
  std::mutex mutex;
  std::map<std::pair<int, CUstream>, Graph*> all;
};
Captures& captures() {
  static auto* all = new Captures;
  return *all;
}
void end_capture(Graph& g) {
  std::lock_guard lock(captures().mutex);
  captures().count -= static_cast<int>(captures().all.erase({g.device, g.stream}));
}

int64_t begin(int64_t device) {
  const int at = static_cast<int>(device);
  LAMELLA_CHECK_INDEX(at >= 0 && at < device_count(), "graph: argument 'device': device 'cuda:", device,
                      "' does not exist; there are ", device_count());
  enter(at);
  const CUstream s = current_stream(at);
  LAMELLA_CHECK(s != legacy_stream, "graph: the default stream cannot be captured; enter another one first");
  fault_of(at, s);
  auto g = std::make_unique<Graph>(Graph{at, s});
  require(driver().memory_alloc(&g->words, most_drawings * sizeof(Stream)), "graph: memory for random words");
  hold_pool(at, s, 1);
  // The relaxed mode lets kernels be loaded and memory be allocated during the capture.
  if (const CUresult r = driver().capture_begin(s, CU_STREAM_CAPTURE_MODE_RELAXED)) {
    driver().memory_free(g->words);
    hold_pool(at, s, -1);
    require(r, "graph: beginning to capture");
  }
  std::lock_guard lock(captures().mutex);
  captures().all[{at, s}] = g.get();
  captures().count++;
  return reinterpret_cast<int64_t>(g.release());
}

void end(int64_t handle) {
  Graph& g = graph_of(handle);
  enter(g.device);
  end_capture(g);
  require(driver().capture_end(g.stream, &g.graph), "graph: ending the capture");
  require(driver().graph_instantiate(&g.ready, g.graph, 0), "graph: making the captured graph ready");
}

void replay(int64_t handle) {
  Graph& g = graph_of(handle);
  LAMELLA_CHECK(g.ready, "replay: the graph has not been captured");
  enter(g.device);
  const CUstream s = current_stream(g.device);
  follow_faults(g.device, s, g.stream);
  if (!g.drawings.empty()) {
    Stream now[most_drawings];
    const lamella_device there = lamella::Device("cuda", g.device).get();
    for (size_t i = 0; i < g.drawings.size(); i++) {
      const Drawing& d = g.drawings[i];
      uint64_t offset;
      lamella::check(api().generator_reserve(d.generator.get(), there, d.words, &now[i].seed, &offset));
      now[i].counter = offset / 4;
    }
    // The driver has read `now` when its function returns. The copy waits for an earlier replay on the same stream.
    require(driver().copy_to_device(g.words, now, g.drawings.size() * sizeof(Stream), s), "replay: random words");
  }
  require(driver().graph_launch(g.ready, s), "replay: the graph");
}

// Destroys a graph. The caller has waited until the device's work is done.
void destroy(int64_t handle) {
  Graph& g = graph_of(handle);
  if (!in_forked_child()) {
    if (g.ready) driver().graph_exec_destroy(g.ready);
    if (g.graph) driver().graph_destroy(g.graph);
    end_capture(g);
    if (g.words) driver().memory_free(g.words);
    hold_pool(g.device, g.stream, -1);
  }
  delete &g;
}

bool is_capturing(int64_t device) {
  const int at = static_cast<int>(device);
  LAMELLA_CHECK_INDEX(at >= 0 && at < device_count(),
                      "is_current_stream_capturing: argument 'device': device 'cuda:", device,
                      "' does not exist; there are ", device_count());
  enter(at);
  int status = 0;
  require(driver().capture_status(current_stream(at), &status), "is_current_stream_capturing");
  return status != 0;
}

void delay(const lamella::Tensor& on, int64_t microseconds) {
  static Kernel busy("delay.cu", "delay");
  lamella::check(launch(busy, on.get(), {1}, {1}, 0, microseconds));
}

// Returns a property of a device as text, a number in digits. "" and 0 mean that it is unknown.
std::string text_property(int64_t device, std::string_view name) {
  const lamella::Device d("cuda", static_cast<int>(device));
  lamella_value v{};
  const lamella_backend* b = api().backend_description(d.get().backend);
  lamella::check(b->property(b->context, d.get().index, std::string(name).c_str(), &v));
  const std::string found = v.tag == LAMELLA_STRING ? std::string(v.as.string, v.length)
                            : v.tag == LAMELLA_INT  ? std::to_string(v.as.i)
                                                    : "";
  api().value_release(&v);
  return found;
}

// Returns whether products of float32 and complex64 may round operands to TF32, after setting it if `on` is given.
bool tf32(std::optional<bool> on) {
  if (on) allow_tf32(*on);
  return tf32_allowed();
}

}  // namespace

CapturedWords captured_words(int device, const lamella::Generator& generator, uint64_t count) {
  if (!captures().count.load(std::memory_order_acquire)) return {};
  std::lock_guard lock(captures().mutex);
  const auto at = captures().all.find({device, current_stream(device)});
  if (at == captures().all.end()) return {};
  Graph& g = *at->second;
  size_t i = 0;
  while (i < g.drawings.size() && g.drawings[i].generator.get() != generator.get()) i++;
  if (i == g.drawings.size()) {
    LAMELLA_CHECK(i < most_drawings, "graph: a capture can draw from at most ", most_drawings, " generators");
    g.drawings.push_back({generator});
  }
  const CapturedWords found = {g.words + i * sizeof(Stream), g.drawings[i].words / 4};
  g.drawings[i].words += (count + 3) / 4 * 4;  // rounded up to fours, as in a generator
  return found;
}

LAMELLA_LIBRARY(cuda, m) {
  m.def("_property(int device, str name) -> str", text_property);
  m.def("_graph_begin(int device) -> int", begin);
  m.def("_graph_end(int graph) -> ()", end);
  m.def("_graph_replay(int graph) -> ()", replay);
  m.def("_graph_destroy(int graph) -> ()", destroy);
  m.def("_allow_tf32(bool? on=None) -> bool", tf32);
  m.def("_cudnn_switch(str name, bool? on=None) -> bool", dnn_switch);
  m.def("_cudnn_version() -> int", dnn_version);
  m.def("_cudnn_plans() -> str", dnn_plans);
  m.def("_cusolver_version() -> int", solver_version);
  m.def("_cusolver_folders(str folders) -> ()", set_solver_folders);
  m.def("_is_capturing(int device) -> bool", is_capturing);
  m.def("_device_of_pointer(int address) -> int", device_of_pointer);
  m.def("_wait_for_stream(int device, int stream) -> ()", wait_for_stream);
  m.def("delay(Tensor on, int microseconds) -> ()", delay);
}

}  // namespace cuda
