// Records graphs and runs backward from several threads over shared parts, through the C table alone; run under
// ThreadSanitizer, without OpenMP. Usage: test_backward LIBLAMELLA_CPU LIBLAMELLA_AUTOGRAD
#include <lamella/autograd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "calls.h"

static const lamella_autograd* autograd;

static lamella_tensor* filled(double x) {
  const int64_t n = 16;
  lamella_tensor* t;
  OK(api, api->tensor_empty(1, &n, nullptr, LAMELLA_FLOAT64, {cpu, 0}, &t));
  for (int64_t i = 0; i < n; i++) static_cast<double*>(t->dl.data)[i] = x;
  return t;
}

static lamella_tensor* times(lamella_tensor* a, lamella_tensor* b) {
  return made("aten::mul", "Tensor", {of(a), of(b)});
}
static lamella_tensor* total(lamella_tensor* t) { return made("aten::sum", "", {of(t), {LAMELLA_NONE, 0, {0}}}); }

static void check_all(lamella_tensor* t, double wanted) {
  CHECK(t);
  for (int64_t i = 0; i < t->numel; i++) CHECK(static_cast<double*>(t->dl.data)[i] == wanted);
}

// Returns w * 2^depth, computed by adding the tensor to itself.
static lamella_tensor* chain(lamella_tensor* w, lamella_tensor* one, int depth) {
  lamella_tensor* t = times(w, one);
  for (int i = 0; i < depth; i++) {
    lamella_tensor* next = made("aten::add", "Tensor", {of(t), of(t), {LAMELLA_INT, 0, {1}}});
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

static lamella_tensor *w, *one, *shared, *root;
static constexpr int threads = 4, rounds = 50, depth = 10;
static std::atomic<int> refused{0}, ran{0};

static lamella_status look(void*, lamella_tensor**, int32_t, lamella_tensor* const*, int32_t) { return LAMELLA_OK; }

int main(int argc, char** argv) {
  CHECK(argc == 3);
  start(argc, argv);
  autograd = static_cast<const lamella_autograd*>(api->find_interface("autograd", 1));
  CHECK(autograd);
  w = filled(1);
  one = filled(1);
  OK(api, autograd->set_requires_grad(w, 1));
  shared = chain(w, one, depth);
  root = total(shared);

  in_threads(threads, [](int) {  // each thread runs backward over the same graph
    for (int i = 0; i < rounds; i++)
      OK(api, autograd->backward(&root, nullptr, 1, nullptr, 0, nullptr,
                                 LAMELLA_BACKWARD_ACCUMULATE | LAMELLA_BACKWARD_RETAIN_GRAPH));
  });
  lamella_tensor* grad = nullptr;
  OK(api, autograd->grad(w, &grad));
  check_all(grad, threads * rounds * (1 << depth));
  api->release(grad);
  OK(api, autograd->set_grad(w, nullptr));
  done("one graph is walked by several threads");

  in_threads(threads, [](int which) {  // each records a chain of its own on the shared part, and adds and removes hooks
    for (int i = 0; i < rounds; i++) {
      lamella_tensor *own = chain(shared, one, which), *sum = total(own), *got = nullptr;
      lamella_node* node;
      OK(api, autograd->edge(shared, &node, nullptr));
      const lamella_hook hook = {sizeof hook, LAMELLA_HOOK_TENSOR, nullptr, look, nullptr, nullptr};
      uint64_t id;
      OK(api, autograd->hook_add(node, 0, &hook, &id));
      OK(api, autograd->backward(&sum, nullptr, 1, &w, 1, &got, LAMELLA_BACKWARD_RETAIN_GRAPH));
      check_all(got, (1 << depth) * (1 << which));
      autograd->hook_remove(id);
      autograd->node_release(node);
      for (lamella_tensor* t : {own, sum, got}) api->release(t);
    }
  });
  done("several threads record on shared parts and go back");

  for (int i = 0; i < rounds; i++) {  // one run may free the graph while another walks it, which then gets an error
    api->release(shared);
    api->release(root);
    lamella_tensor* product = times(w, w);
    shared = chain(product, one, 3);
    api->release(product);
    root = total(shared);
    in_threads(2, [](int) {
      lamella_tensor* got = nullptr;
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

  lamella_tensor* deep = chain(w, one, 100000);
  std::thread([deep] { api->release(deep); }).join();
  for (lamella_tensor* t : {shared, root, w, one}) api->release(t);
  done("a graph is freed by another thread");

  lamella_tensor *x = filled(2), *direction = filled(1), *y = filled(3);
  const int64_t three = 3;
  lamella_tensor* other;
  OK(api, api->tensor_empty(1, &three, nullptr, LAMELLA_FLOAT64, {cpu, 0}, &other));
  CHECK(!autograd->tangent(x));
  FAILS(api, autograd->set_tangent(x, other), "the device of the tensor that it belongs to");
  OK(api, autograd->set_tangent(x, direction));
  lamella_tensor* back = autograd->tangent(x);
  CHECK(back == direction && !autograd->requires_grad(x));
  api->release(back);
  const lamella_value both[2] = {of(x), of(y)};
  lamella_value r{};
  FAILS(api, api->call(nullptr, api->find_operator("aten::mul", "Tensor"), both, 2, &r, 1), "has a forward tangent");
  OK(api, autograd->set_tangent(x, nullptr));
  CHECK(!autograd->tangent(x) && !(x->keys & uint64_t{1} << autograd->layer));
  lamella_tensor* product = times(x, y);
  check_all(product, 6);
  for (lamella_tensor* t : {x, y, direction, other, product}) api->release(t);
  done("a forward tangent has its place, and no operator drops it without a word");
  return 0;
}
