// The event channel and notices of interfaces, without Python: which events are sent to which subscribers, and no
// others. Usage: test_events LIBLAMELLA_CPU.SO LIBLAMELLA_AUTOGRAD.SO
#include <lamella/autograd.h>

#include <malloc.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "calls.h"

namespace {

struct Seen {
  uint32_t kind, phase;
  int64_t bytes;
  std::string name;
};
std::vector<Seen> seen;

void on_event(void* context, const lamella_event* e) {
  CHECK(context == &seen && e->size >= sizeof(lamella_event));
  seen.push_back({e->kind, e->phase, e->bytes, e->name ? e->name : ""});
}
uint64_t bit(int kind) { return uint64_t{1} << kind; }

lamella_tensor* zeros(int64_t n) {
  lamella_tensor* t;
  OK(api, api->tensor_empty(1, &n, nullptr, LAMELLA_FLOAT32, {cpu, 0}, &t));
  for (int64_t i = 0; i < n; i++) static_cast<float*>(t->dl.data)[i] = 0;
  return t;
}

void memory(lamella_library* l) {
  lamella_handle h;
  const uint64_t kinds = bit(LAMELLA_EVENT_ALLOCATE) | bit(LAMELLA_EVENT_FREE) | bit(LAMELLA_EVENT_STORAGE_END);
  CHECK(*api->event_kinds() == 0);
  api->release(zeros(100));
  OK(api, api->subscribe(l, kinds, on_event, &seen, &h));
  CHECK(*api->event_kinds() == kinds && seen.empty());
  lamella_tensor *large = zeros(1000), *small = zeros(1), *none = zeros(0);
  CHECK(seen.size() == 2 && seen[0].kind == LAMELLA_EVENT_ALLOCATE && seen[0].bytes == 4000 && seen[1].bytes == 4);
  CHECK(seen[0].phase == LAMELLA_EVENT_INSTANT);
  lamella_tensor* view;
  const int64_t ten = 10, one = 1;
  OK(api, api->tensor_view(large, 1, &ten, &one, 0, &view));
  api->release(large);
  CHECK(seen.size() == 2);  // the view keeps the storage alive
  api->release(view);
  api->release(small);
  CHECK(seen.size() == 6 && seen[2].kind == LAMELLA_EVENT_STORAGE_END && seen[3].kind == LAMELLA_EVENT_FREE);
  CHECK(seen[3].bytes == 4000 && seen[5].bytes == 4);
  api->release(none);
  CHECK(seen.size() == 7 && seen[6].kind == LAMELLA_EVENT_STORAGE_END && seen[6].bytes == 0);
  // A storage over foreign memory sends STORAGE_END and no FREE, because this library frees nothing.
  float number = 0;
  lamella_tensor* foreign;
  OK(api, api->tensor_from_blob(&number, 1, &one, nullptr, LAMELLA_FLOAT32, {cpu, 0}, nullptr, nullptr, &foreign));
  api->release(foreign);
  CHECK(seen.size() == 8 && seen[7].kind == LAMELLA_EVENT_STORAGE_END);
  std::thread([] { api->release(zeros(50)); }).join();
  CHECK(seen.size() == 11);
  OK(api, api->withdraw(h));
  CHECK(*api->event_kinds() == 0);
  api->release(zeros(100));
  CHECK(seen.size() == 11);
  seen.clear();
  done("memory: allocated, freed, and the end of storages");
}

// Each of two subscribers gets only its kinds. A subscriber's own calls send it no events.
void kinds(lamella_library* l) {
  static int calls;
  const auto busy = [](void*, const lamella_event*) {
    calls++;
    api->release(zeros(10));
  };
  lamella_handle a, b;
  OK(api, api->subscribe(l, bit(LAMELLA_EVENT_USAGE), on_event, &seen, &a));
  OK(api, api->subscribe(l, bit(LAMELLA_EVENT_ALLOCATE) | bit(40), busy, nullptr, &b));
  lamella_event e{};
  e.size = sizeof e;
  e.kind = LAMELLA_EVENT_USAGE;
  e.phase = LAMELLA_EVENT_INSTANT;
  e.name = "a feature";
  api->event(&e);
  CHECK(seen.size() == 1 && seen[0].name == "a feature" && calls == 0);
  e.kind = 40;  // a kind that a plugin defines
  api->event(&e);
  CHECK(seen.size() == 1 && calls == 1);
  e.kind = 64;
  api->event(&e);
  e.kind = 1000;
  api->event(&e);
  CHECK(seen.size() == 1 && calls == 1);
  api->release(zeros(10));
  CHECK(calls == 2);
  OK(api, api->withdraw(a));
  CHECK(*api->event_kinds() == (bit(LAMELLA_EVENT_ALLOCATE) | bit(40)));
  OK(api, api->withdraw(b));
  seen.clear();
  done("kinds: each subscriber gets its own, and it is not told what it does itself");
}

// A subscriber's own calls send events to the other subscribers, also to one that was added meanwhile.
void within(lamella_library* l) {
  static int inner, first, second;
  static lamella_library* library;
  static lamella_handle late;
  library = l;
  const auto counts = [](void* n, const lamella_event*) { ++*static_cast<int*>(n); };
  static const auto count = +counts;
  const auto makes = [](void* n, const lamella_event*) {
    ++*static_cast<int*>(n);
    api->release(zeros(10));
  };
  lamella_handle a, b;
  const uint64_t kinds = bit(LAMELLA_EVENT_ALLOCATE);
  OK(api, api->subscribe(l, kinds, makes, &first, &a));
  OK(api, api->subscribe(l, kinds, makes, &second, &b));
  api->release(zeros(10));
  CHECK(first == 2 && second == 2);  // one event by the program, one by the other subscriber
  OK(api, api->withdraw(a));
  OK(api, api->withdraw(b));
  const auto brings = [](void*, const lamella_event*) {
    OK(api, api->subscribe(library, bit(LAMELLA_EVENT_ALLOCATE), count, &inner, &late));
    api->release(zeros(10));
    OK(api, api->withdraw(late));
    api->release(zeros(10));
  };
  OK(api, api->subscribe(l, kinds, brings, nullptr, &a));
  api->release(zeros(10));
  CHECK(inner == 1);
  OK(api, api->withdraw(a));
  done("within: what a subscriber does is told to the others");
}

// Subscribers that are added and removed, also inside and beside an event, leak no memory.
void come_and_go(lamella_library* l) {
  static lamella_library* library;
  library = l;
  static const auto nothing = [](void*, const lamella_event*) {};
  const auto once = [] {
    lamella_handle h;
    OK(api, api->subscribe(library, bit(40), nothing, nullptr, &h));
    OK(api, api->withdraw(h));
  };
  const auto within = [](void*, const lamella_event*) {
    lamella_handle h;
    OK(api, api->subscribe(library, bit(40), nothing, nullptr, &h));
    OK(api, api->withdraw(h));
  };
  lamella_handle h;
  OK(api, api->subscribe(l, bit(41), within, nullptr, &h));
  lamella_event e{};
  e.size = sizeof e;
  e.kind = 41;
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) api->event(&e);
  });
  for (int i = 0; i < 1000; i++) once();
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 10000; i++) {
    once();
    api->event(&e);
  }
  stop = true;
  other.join();
  CHECK(mallinfo2().uordblks < before + 100000);
  OK(api, api->withdraw(h));
  done("subscribers that come and go");
}

void interfaces(lamella_library* l) {
  static std::vector<const void*> told;
  const auto on_interface = [](void* context, const void* table) {
    CHECK(context == &told);
    told.push_back(table);
  };
  static const int old_table = 1, new_table = 2;
  lamella_library *first, *second;
  OK(api, open_library(api, "events", "first", &first));
  OK(api, api->publish_interface(first, "events.table", 1, &old_table, nullptr));
  lamella_handle any, newer, events;
  OK(api, api->subscribe(l, bit(LAMELLA_EVENT_INTERFACE) | bit(LAMELLA_EVENT_LIBRARY), on_event, &seen, &events));
  OK(api, api->on_interface(l, "events.table", 1, on_interface, &told, &any));
  CHECK(told == std::vector<const void*>{&old_table});
  OK(api, api->on_interface(l, "events.table", 2, on_interface, &told, &newer));
  CHECK(told.size() == 1);
  api->library_close(first);
  CHECK(told.size() == 2 && !told[1]);
  CHECK(seen.size() == 2 && seen[0].kind == LAMELLA_EVENT_INTERFACE && seen[0].phase == LAMELLA_EVENT_END);
  CHECK(seen[0].name == "events.table" && seen[1].kind == LAMELLA_EVENT_LIBRARY && seen[1].name == "first");
  OK(api, open_library(api, "events", "second", &second));
  OK(api, api->publish_interface(second, "events.table", 2, &new_table, nullptr));
  CHECK(told.size() == 4 && told[2] == &new_table && told[3] == &new_table);
  OK(api, api->withdraw(any));
  OK(api, api->withdraw(newer));
  api->library_close(second);
  CHECK(told.size() == 4);
  OK(api, api->withdraw(events));
  seen.clear();
  done("interfaces: told at once, when they come, and when they go");
}

void backward(lamella_library* l) {
  const auto* autograd = static_cast<const lamella_autograd*>(api->find_interface("autograd", 1));
  CHECK(autograd);
  lamella_tensor* x = zeros(1);
  OK(api, autograd->set_requires_grad(x, 1));
  lamella_value arg{LAMELLA_TENSOR, 0, {0}}, y;
  arg.as.tensor = x;
  OK(api, api->call(nullptr, api->find_operator("aten::exp", ""), &arg, 1, &y, 1));
  lamella_handle h;
  OK(api, api->subscribe(l, bit(LAMELLA_EVENT_NODE) | bit(LAMELLA_EVENT_BACKWARD), on_event, &seen, &h));
  OK(api, autograd->backward(&y.as.tensor, nullptr, 1, nullptr, 0, nullptr,
                             LAMELLA_BACKWARD_ACCUMULATE | LAMELLA_BACKWARD_RETAIN_GRAPH));
  std::string order;
  for (const Seen& s : seen)
    order += (s.phase == LAMELLA_EVENT_BEGIN ? "+" : "-") + (s.name.empty() ? "walk" : s.name) + " ";
  CHECK(order == "+walk +ExpBackward0 -ExpBackward0 +AccumulateGrad -AccumulateGrad -walk ");
  OK(api, api->withdraw(h));
  api->value_release(&y);
  api->release(x);
  seen.clear();
  done("backward: the walk and its nodes");
}

// ---- the interface "autograd" during a backward ----

const lamella_autograd* autograd = nullptr;
std::vector<std::string> log_of_end;
int destroyed = 0;

lamella_status note(void* context) {
  const auto* text = static_cast<const char*>(context);
  log_of_end.push_back(text);
  if (std::string(text) == "fails") return api->raise(LAMELLA_VALUE_ERROR, "the end fails");
  static char second[] = "second";
  if (std::string(text) == "first") return autograd->queue_callback(note, second, [](void*) { destroyed++; });
  return LAMELLA_OK;
}

lamella_status probe(void* context, lamella_node* node, lamella_tensor* const* grads, lamella_tensor** outs) {
  CHECK(autograd->current_node() == node && log_of_end.empty());
  if (lamella_status st = autograd->queue_callback(note, context, [](void*) { destroyed++; })) return st;
  api->retain(grads[0]);
  outs[0] = grads[0];
  return LAMELLA_OK;
}

void while_it_runs() {
  autograd = static_cast<const lamella_autograd*>(api->find_interface("autograd", 1));
  lamella_node_type type{};
  type.size = sizeof type;
  type.name = "Probe";
  type.backward = probe;
  CHECK(!autograd->current_node());
  FAILS(api, autograd->queue_callback(note, nullptr, nullptr), "queue_callback: no backward runs on this thread");
  // Reserved fields must be zero.
  lamella_node_type later = type;
  later.reserved = 1;
  lamella_node* none;
  FAILS(api, autograd->node_new(&later, nullptr, nullptr, 0, 1, &none), "node_new: 'reserved' must be zero");
  lamella_saved_hooks hooks{};
  hooks.size = sizeof hooks;
  hooks.reserved = 1;
  FAILS(api, autograd->push_saved_hooks(&hooks), "push_saved_hooks: 'reserved' must be zero");
  for (const char* which : {"first", "fails"}) {
    log_of_end.clear();
    destroyed = 0;
    lamella_tensor *x = zeros(1), *y;
    OK(api, autograd->set_requires_grad(x, 1));
    lamella_node* node;
    OK(api, autograd->node_new(&type, const_cast<char*>(which), &x, 1, 1, &node));
    OK(api, api->tensor_detach(x, uint64_t{1} << autograd->layer, &y));
    OK(api, autograd->set_history(y, node, 0));
    autograd->node_release(node);
    const auto run = [&] {
      return autograd->backward(&y, nullptr, 1, nullptr, 0, nullptr, LAMELLA_BACKWARD_ACCUMULATE);
    };
    if (std::string(which) == "first") {
      OK(api, run());
      CHECK((log_of_end == std::vector<std::string>{"first", "second"}) && destroyed == 2);
    } else {
      FAILS(api, run(), "the end fails");
      CHECK(log_of_end.size() == 1 && destroyed == 1);
      // After an error, the caller gets no gradients.
      lamella_tensor *z, *kept = nullptr;
      OK(api, api->tensor_detach(x, uint64_t{1} << autograd->layer, &z));
      OK(api, autograd->node_new(&type, const_cast<char*>(which), &x, 1, 1, &node));
      OK(api, autograd->set_history(z, node, 0));
      autograd->node_release(node);
      log_of_end.clear();
      FAILS(api, autograd->backward(&z, nullptr, 1, &x, 1, &kept, 0), "the end fails");
      CHECK(!kept);
      api->release(z);
    }
    FAILS(api, autograd->backward(&y, nullptr, 1, nullptr, 0, nullptr, 64), "backward: the flags 64 have a bit");
    api->release(x);
    api->release(y);
  }
  CHECK(!autograd->current_node());
  done("backward: the node that runs, and what is called when it has ended");
}

// Kinds of events and of errors that are known by their names.
void named_kinds(lamella_library* l) {
  lamella_library* other;
  OK(api, open_library(api, "named", "named", &other));
  int32_t sent = -1, same = -1, second = -1, kind = -1, derived = -1, base = -1;
  OK(api, api->event_kind_register(l, "test.sent", &sent));
  OK(api, api->event_kind_register(other, "test.sent", &same));
  OK(api, api->event_kind_register(other, "test.second", &second));
  CHECK(sent == same && sent != second && sent >= 32 && second < 64);
  CHECK(std::string(api->event_kind_name(second)) == "test.second" && !api->event_kind_name(31) &&
        !api->event_kind_name(second + 1));
  lamella_handle h;
  OK(api, api->subscribe(l, bit(sent), on_event, &seen, &h));
  seen.clear();
  for (const int32_t k : {sent, second}) {
    lamella_event e{};
    e.size = sizeof e;
    e.kind = static_cast<uint32_t>(k);
    e.phase = LAMELLA_EVENT_INSTANT;
    e.name = "one";
    api->event(&e);
  }
  CHECK(seen.size() == 1 && seen[0].kind == static_cast<uint32_t>(sent) && seen[0].name == "one");
  OK(api, api->withdraw(h));
  lamella_status st = LAMELLA_OK;
  for (int i = 0; !st; i++) st = api->event_kind_register(l, ("test.kind" + std::to_string(i)).c_str(), &kind);
  FAILS(api, st, "event_kind_register: all 32 numbers are taken");
  OK(api, api->event_kind_register(l, "test.sent", &same));
  CHECK(same == sent);

  OK(api, api->error_kind_register(l, "TestError", LAMELLA_VALUE_ERROR, &kind));
  OK(api, api->error_kind_register(other, "TestTimeout", kind, &derived));
  OK(api, api->error_kind_register(other, "TestError", LAMELLA_VALUE_ERROR, &same));
  CHECK(kind == same && kind >= 64 && derived != kind);
  CHECK(std::string(api->error_kind_name(derived, &base)) == "TestTimeout" && base == kind);
  CHECK(!api->error_kind_name(1, &base) && !api->error_kind_name(derived + 1, nullptr));
  FAILS(api, api->raise(derived, "too late"), "too late");
  FAILS(api, api->error_kind_register(other, "TestError", LAMELLA_TYPE_ERROR, &same),
        "was registered by events with the base 3");
  for (const int32_t no_base : {0, -1, int32_t{LAMELLA_HOST_ERROR}, int32_t{LAMELLA_INTERRUPTED}, 63, derived + 1})
    FAILS(api, api->error_kind_register(l, "TestOther", no_base, &same), "'base' is");
  for (const char* name : {"", "a.b", "1st", "two words"})
    FAILS(api, api->error_kind_register(l, name, 1, &same), "must be an identifier");
  api->library_close(other);
  FAILS(api, api->error_kind_register(other, "TestLate", 1, &same), "was closed");
  CHECK(api->error_kind_name(derived, nullptr));
  done("kinds of events and errors by their names");
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  lamella_library* l;
  OK(api, open_library(api, "events", "events", &l));
  memory(l);
  kinds(l);
  within(l);
  come_and_go(l);
  interfaces(l);
  backward(l);
  named_kinds(l);
  while_it_runs();
  api->library_close(l);
  return 0;
}
