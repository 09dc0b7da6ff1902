// <lamella/profiler.h> in a program without Python: observers that capture, debug information, the log of used
// features. Usage: test_profiler LIBLAMELLA_CPU LIBLAMELLA_PROFILER
#include <lamella/profiler.h>

#include <string>
#include <thread>
#include <vector>

#include "program_calls.h"

namespace {

using lamella::RecordFunction;
using lamella::RecordFunctionCallback;
using lamella::RecordScope;

template <class Call>
void throws(Call call, const std::string& text) {
  try {
    call();
  } catch (const lamella::Error& e) {
    CHECK(std::string(e.what()).find(text) != std::string::npos);
    return;
  }
  CHECK(!"it succeeded");
}

void observers() {
  const Ones ones;
  std::vector<std::string> told;
  auto shared = std::make_shared<int>(0);
  RecordFunctionCallback both(
      [&told, shared](const RecordFunction& r) {
        told.push_back("enter " + std::string(r.name()) + "." + r.overload_name() + " " + r.backend());
        return std::string("a context with a long text of its own, ") + std::to_string(++*shared);
      },
      [&told](const RecordFunction& r, const std::string& context) {
        CHECK(r.outputs() && r.num_outputs() == 1 && r.num_inputs() == 3 && std::string(r.owner()) == "cpu");
        told.push_back(context);
      });
  const uint64_t handle = lamella::add_global_callback(both.scopes({RecordScope::FUNCTION}));
  ones.add();
  CHECK(told.size() == 2 && told[0] == "enter aten::add.Tensor cpu");
  CHECK(told[1] == "a context with a long text of its own, 1");
  lamella::disable_callback(handle);
  ones.add();
  lamella::reenable_callback(handle);
  {
    const lamella::RecordFunctionGuard quiet(false);
    ones.add();
  }
  CHECK(told.size() == 2 && lamella::enable_record_function(true));
  std::thread([&] { ones.add(); }).join();
  CHECK(told.size() == 4);
  lamella::remove_callback(handle);
  ones.add();
  CHECK(told.size() == 4);
  both = RecordFunctionCallback([](const RecordFunction&) {});
  CHECK(shared.use_count() == 1);    // the replaced callback has released what it captured
  lamella::remove_callback(handle);  // it is gone, which is no error
  throws([] { lamella::remove_callback(1000000); }, "there is no callback with handle");

  int own = 0;
  const uint64_t local = lamella::add_thread_local_callback(
      RecordFunctionCallback([&own](const RecordFunction&) { own++; }).scopes({RecordScope::KERNEL}));
  std::thread([&] { ones.add(); }).join();
  ones.add();
  CHECK(own == 1);
  lamella::remove_callback(local);

  int fails = 0;
  const uint64_t failing = lamella::add_global_callback(RecordFunctionCallback([&fails](const RecordFunction&) {
    fails++;
    throw std::runtime_error("on purpose");
  }));
  ones.add();
  ones.add();
  CHECK(fails == 1);
  lamella::remove_callback(failing);  // it failed, and so is gone already

  for (int i = 0; i < 1000; i++)
    lamella::remove_callback(lamella::add_global_callback(RecordFunctionCallback([shared](const RecordFunction&) {})));
  CHECK(shared.use_count() == 1);
  done("observers");
}

void blocks() {
  std::vector<std::string> told;
  const lamella_profiler& p = lamella::profiler_interface();
  const uint64_t handle = lamella::add_global_callback(
      RecordFunctionCallback([&](const RecordFunction& r) { told.push_back(std::string(r.name())); })
          .scopes({RecordScope::USER_SCOPE})
          .needs_ids());
  {
    const lamella::RecordBlock outer("outer");
    const lamella::RecordBlock inner("inner");
  }
  void* left;
  CHECK(p.scope_begin("left elsewhere", &left) == 0 && left);
  std::thread([&] { p.scope_end(left); }).join();
  { const lamella::RecordBlock next("next"); }
  std::thread([&] { CHECK(p.scope_begin("outlives its thread", &left) == 0); }).join();
  lamella::remove_callback(handle);
  p.scope_end(left);
  CHECK((told == std::vector<std::string>{"outer", "inner", "left elsewhere", "next", "outlives its thread"}));
  CHECK(p.scope_begin("nobody listens", &left) == 0 && !left);
  p.scope_end(left);
  done("blocks");
}

void sampling() {
  int heard = 0;
  const Ones ones;
  const uint64_t handle = lamella::add_global_callback(
      RecordFunctionCallback([&heard](const RecordFunction&) { heard++; }).sampling_prob(0.1));
  for (int i = 0; i < 20000; i++) ones.add();
  lamella::remove_callback(handle);
  CHECK(heard > 1700 && heard < 2300);  // the expected 2000, within 7 standard deviations
  for (const double p : {0.0, -1.0, 1.5})
    throws([p] { lamella::add_global_callback(RecordFunctionCallback([](const RecordFunction&) {}).sampling_prob(p)); },
           "sampling_prob must be above 0");
  done("sampling");
}

void debug_info() {
  using lamella::DebugInfoGuard;
  CHECK(DebugInfoGuard::text("model").empty());
  const DebugInfoGuard model("model", std::string("net"));
  const DebugInfoGuard request("request", int64_t{7});
  {
    const DebugInfoGuard inner("model", std::string("inner"));
    CHECK(DebugInfoGuard::text("model") == "inner");
  }
  CHECK(DebugInfoGuard::text("model") == "net");
  std::vector<std::string> kinds;
  const auto visit = [](void* k, const char* kind, const lamella_value*) -> lamella_status {
    static_cast<std::vector<std::string>*>(k)->push_back(kind);
    return LAMELLA_OK;
  };
  CHECK(lamella::profiler_interface().info_each(visit, &kinds) == 0);
  CHECK((kinds == std::vector<std::string>{"model", "request"}));
  std::thread([] { CHECK(DebugInfoGuard::text("model").empty()); }).join();
  const lamella_api* api = &lamella::api();
  lamella_captured* state;
  OK(api, api->thread_capture(&state));
  std::thread([&] {
    OK(api, api->thread_swap(state));
    CHECK(DebugInfoGuard::text("model") == "net");
    OK(api, api->thread_swap(state));
    CHECK(DebugInfoGuard::text("model").empty());
  }).join();
  api->thread_discard(state);
  FAILS(api, lamella::profiler_interface().info_pop(nullptr), "is not the innermost of this thread");
  done("debug information");
}

void usage() {
  std::vector<std::string> first, second;
  for (int i = 0; i < 3; i++) LAMELLA_LOG_API_USAGE_ONCE("before any handler");
  const uint64_t handle = lamella::SetAPIUsageHandler([&](const std::string& key) {
    first.push_back(key);
    if (key == "one") LAMELLA_LOG_API_USAGE_ONCE("from within");
  });
  CHECK(first.size() == 1 && first[0] == "before any handler");
  const uint64_t another = lamella::SetAPIUsageHandler([&](const std::string& key) {
    second.push_back(key);
    throw std::runtime_error("on purpose");
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([] {
      for (int k = 0; k < 100; k++) LAMELLA_LOG_API_USAGE_ONCE("one");
    });
  for (auto& t : threads) t.join();
  CHECK((first == std::vector<std::string>{"before any handler", "one", "from within"}));
  CHECK((second == std::vector<std::string>{"one", "from within"}));
  lamella::remove_api_usage_handler(another);
  LAMELLA_LOG_API_USAGE_ONCE("last");
  CHECK(first.size() == 4 && second.size() == 2);
  lamella::remove_api_usage_handler(handle);
  throws([&] { lamella::remove_api_usage_handler(handle); }, "there is no handler");
  done("the log of used features");
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 3);
  begin_program(argv[1], nullptr);
  throws([] { lamella::profiler_interface(); }, "the plugin 'profiler' is not loaded");
  LAMELLA_LOG_API_USAGE_ONCE("nobody keeps this");
  OK(&lamella::api(), lamella_load_plugin(argv[2]));
  observers();
  blocks();
  sampling();
  debug_info();
  usage();
  return 0;
}
