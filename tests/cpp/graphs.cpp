// Threads that run one program of the plugin of graphs, from its first call on, while another thread changes a program
// of its own. Run under ThreadSanitizer, too. Usage: test_graphs LIBLAMELLA_CPU.SO LIBLAMELLA_GRAPH.SO
#include <lamella/graph.h>

#include <thread>

#include "calls.h"

static const lamella_graph_table* graphs;

static lamella_object* parsed(const std::string& text) {
  lamella_object* p = nullptr;
  OK(api, graphs->parse(text.data(), static_cast<int64_t>(text.size()), nullptr, 0, &p));
  return p;
}

static lamella_value run(lamella_object* p, std::vector<lamella_value> args) {
  lamella_value r{};
  OK(api, graphs->run(p, "", args.data(), static_cast<int32_t>(args.size()), &r));
  return r;
}

// Runs loops with tensors, lists, a call and a future; checks the result.
static void run_often(lamella_object* p, const lamella_tensor* x) {
  for (int i = 0; i < 50; i++) {
    lamella_value r = run(p, {of(const_cast<lamella_tensor*>(x)), num(20)});
    CHECK(r.tag == LAMELLA_TENSOR && at(r, 0) == 1 + 2 * 190 && at(r, 1) == 2 + 2 * 190);
    api->value_release(&r);
  }
}

// Changes a constant of a program between its runs.
static void change_often() {
  lamella_object* p =
      parsed("graph(%n : int) { %k : int = prim::Constant[value=1]() %r : int = aten::mul.int(%n, %k) return (%r) }");
  lamella_graph_node* k = graphs->first(graphs->top(graphs->graph(p, "")));
  for (int64_t i = 0; i < 100; i++) {
    const lamella_value v = num(i);
    OK(api, graphs->set_node_attribute(k, "value", &v));
    CHECK(run(p, {num(7)}).as.i == 7 * i);
    int32_t changed = 0;
    OK(api, graphs->run_pass("peephole", p, &changed));
    CHECK(run(p, {num(7)}).as.i == 7 * i);
    if (changed) break;  // x * 1 is x: the constant is not used any more
  }
  api->release(p);
}

// Counts in an attribute of an instance that other threads count in, too, and fills and clears its list.
static void count_often(lamella_object* p, lamella_value own, lamella_tensor* x) {
  for (int i = 0; i < 20; i++) {
    lamella_value args[] = {own, of(x), num(20)}, r{}, items{};
    OK(api, graphs->run(p, "C.count", args, 3, &r));
    OK(api, graphs->items(&own, &items));
    CHECK(items.length == 2 && items.as.values[0].as.i > 0);
    api->value_release(&items);
  }
}

static void threads_share_an_instance() {
  lamella_object* p = parsed(R"(class C {
      n : int
      l : Tensor[]
    }
    with C.count = graph(%self : C, %x : Tensor, %trips : int) {
      %t : bool = prim::Constant[value=True]()
      prim::Loop(%trips, %t)
        block0(%i : int) {
          %n : int = prim::GetAttr[name="n"](%self)
          %m : int = aten::add.int(%n, 1)
          prim::SetAttr[name="n"](%self, %m)
          %l : Tensor[] = prim::GetAttr[name="l"](%self)
          %more : Tensor[] = aten::append.t(%l, %x)
          %y : Tensor = aten::cat(%l, 0)
          aten::clear.t(%l)
          -> (%t)
        }
      return ()
    })");
  lamella_tensor* x = floats({1, 2});
  lamella_value empty{}, own{};
  OK(api, graphs->make(LAMELLA_GRAPH_LIST, nullptr, 0, nullptr, nullptr, &empty));
  lamella_value attributes[] = {num(0), empty};
  OK(api, graphs->make(LAMELLA_GRAPH_INSTANCE, attributes, 2, p, "C", &own));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) threads.emplace_back(count_often, p, own, x);
  for (std::thread& t : threads) t.join();
  lamella_value n{};
  OK(api, graphs->get_attribute(&own, "n", &n));
  CHECK(n.as.i == 4 * 20 * 20);
  api->value_release(&own);
  api->release(x);
  api->release(p);
}

int main(int argc, char** argv) {
  start(argc, argv);
  graphs = static_cast<const lamella_graph_table*>(api->find_interface("graph", 1));
  CHECK(graphs);
  for (int round = 0; round < 5; round++) {
    lamella_object* p = parsed(R"(graph(%x : Tensor, %n : int) {
      %t : bool = prim::Constant[value=True]()
      %l : int[] = prim::ListConstruct()
      %y : Tensor = prim::Loop(%n, %t, %x)
        block0(%i : int, %v : Tensor) {
          %m : int[] = aten::append.t(%l, %i)
          %f : Future(Tensor) = prim::fork[name="add"](%v, %i)
          %a : Tensor = aten::wait(%f)
          %b : Tensor = prim::CallFunction[name="add"](%a, %i)
          -> (%t, %b)
        }
      return (%y)
    }
    with add = graph(%x : Tensor, %i : int) { %y : Tensor = aten::add.Scalar(%x, %i) return (%y) })");
    lamella_tensor* x = floats({1, 2});
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) threads.emplace_back(run_often, p, x);
    threads.emplace_back(change_often);
    for (std::thread& t : threads) t.join();
    api->release(x);
    api->release(p);
  }
  threads_share_an_instance();
  done("threads run one program, and another one changes");
}
