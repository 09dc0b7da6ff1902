// Recording and backward from several threads over shared parts, through the C table alone: run under ThreadSanitizer,
// without OpenMP. Usage: test_backward LIBLATTIS_CPU LIBLATTIS_AUTOGRAD
#include <lattis/autograd.h>

#include <atomic>
#include <cstring>
#include <initializer_list>
#include <thread>
#include <vector>

#include "check.h"

extern "C" const lattis_api* lattis_get_api(void);
extern "C" lattis_status lattis_load_plugin(const char* path);

static const lattis_api* api;
static const lattis_autograd* autograd;
static int32_t cpu;

static lattis_value of(lattis_tensor* t) {
  lattis_value v{LATTIS_TENSOR, 0, {0}};
  v.as.tensor = t;
  return v;
}

static lattis_tensor* filled(double x) {
  const int64_t n = 16;
  lattis_tensor* t;
  OK(api, api->tensor_empty(1, &n, nullptr, LATTIS_FLOAT64, {cpu, 0}, &t));
  for (int64_t i = 0; i < n; i++) static_cast<double*>(t->dl.data)[i] = x;
  return t;
}

static lattis_tensor* call(const char* name, const char* overload, std::initializer_list<lattis_value> args) {
  lattis_value r{};
  OK(api, api->call(nullptr, api->find_operator(name, overload), args.begin(), &r));
  return r.as.tensor;
}

static lattis_tensor* times(lattis_tensor* a, lattis_tensor* b) { return call("aten::mul", "Tensor", {of(a), of(b)}); }
static lattis_tensor* total(lattis_tensor* t) { return call("aten::sum", "", {of(t), {LATTIS_NONE, 0, {0}}}); }

static void check_all(lattis_tensor* t, double wanted) {
  CHECK(t);
  for (int64_t i = 0; i < t->numel; i++) CHECK(static_cast<double*>(t->dl.data)[i] == wanted);
}

// w * 2^depth, by sums with itself.
static lattis_tensor* chain(lattis_tensor* w, lattis_tensor* one, int depth) {
  lattis_tensor* t = times(w, one);
  for (int i = 0; i < depth; i++) {
    lattis_tensor* next = call("aten::add", "Tensor", {of(t), of(t), {LATTIS_INT, 0, {1}}});
    api->release(t);
    t = next;
  }
  return t;
}

static void in_threads(int count, void (*work)(int)) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; i++) threads.emplace_back(work, i);
  for (auto& t : threads) t.join();
}

static lattis_tensor *w, *one, *shared, *root;
static constexpr int threads = 4, rounds = 50, depth = 10;
static std::atomic<int> refused{0}, ran{0};

static lattis_status look(void*, lattis_tensor**, int32_t, lattis_tensor* const*, int32_t) { return LATTIS_OK; }

int main(int argc, char** argv) {
  CHECK(argc == 3);
  api = lattis_get_api();
  OK(api, lattis_load_plugin(argv[1]));
  OK(api, lattis_load_plugin(argv[2]));
  OK(api, api->find_backend("cpu", &cpu));
  autograd = static_cast<const lattis_autograd*>(api->find_interface("autograd", 1));
  CHECK(autograd);
  w = filled(1);
  one = filled(1);
  OK(api, autograd->set_requires_grad(w, 1));
  shared = chain(w, one, depth);
  root = total(shared);

  in_threads(threads, [](int) {  // each the shared part
    for (int i = 0; i < rounds; i++)
      OK(api, autograd->backward(&root, nullptr, 1, nullptr, 0, nullptr,
                                 LATTIS_BACKWARD_ACCUMULATE | LATTIS_BACKWARD_RETAIN_GRAPH));
  });
  lattis_tensor* grad = autograd->grad(w);
  check_all(grad, threads * rounds * (1 << depth));
  api->release(grad);
  OK(api, autograd->set_grad(w, nullptr));
  done("one graph is walked by several threads");

  in_threads(threads, [](int which) {  // each its own, on the shared part; hooks come and go
    for (int i = 0; i < rounds; i++) {
      lattis_tensor *own = chain(shared, one, which), *sum = total(own), *got = nullptr;
      lattis_node* node;
      OK(api, autograd->edge(shared, &node, nullptr));
      const lattis_hook hook = {sizeof hook, LATTIS_HOOK_TENSOR, nullptr, look, nullptr, nullptr};
      uint64_t id;
      OK(api, autograd->hook_add(node, 0, &hook, &id));
      OK(api, autograd->backward(&sum, nullptr, 1, &w, 1, &got, LATTIS_BACKWARD_RETAIN_GRAPH));
      check_all(got, (1 << depth) * (1 << which));
      autograd->hook_remove(id);
      autograd->node_release(node);
      for (lattis_tensor* t : {own, sum, got}) api->release(t);
    }
  });
  done("several threads record on shared parts and go back");

  for (int i = 0; i < rounds; i++) {  // the graph is freed under somebody's feet: an error or a result
    api->release(shared);
    api->release(root);
    lattis_tensor* product = times(w, w);
    shared = chain(product, one, 3);
    api->release(product);
    root = total(shared);
    in_threads(2, [](int) {
      lattis_tensor* got = nullptr;
      if (autograd->backward(&root, nullptr, 1, &w, 1, &got, 0)) {
        refused++;
        api->error_clear();
      } else {
        ran++;
        if (got) api->release(got);
      }
    });
  }
  CHECK(refused + ran == 2 * rounds && ran >= rounds / 2);
  done("a graph that is not retained is walked once");

  lattis_tensor* deep = chain(w, one, 100000);
  std::thread([deep] { api->release(deep); }).join();
  for (lattis_tensor* t : {shared, root, w, one}) api->release(t);
  done("a graph is freed by another thread");
  return 0;
}
