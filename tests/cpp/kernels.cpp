// Kernels as objects, kernels that are disabled, rules and their subscribers, a backend's dtypes, its current device,
// and its memory when that runs out. Usage: test_kernels LIBLAMELLA_CPU
#include <array>
#include <atomic>
#include <thread>

#include "calls.h"

static lamella_library* library(const char* ns, uint32_t kind = LAMELLA_EXTENDS) {
  lamella_library* l;
  OK(api, open_library(api, ns, "kernels.cpp", &l, kind));
  return l;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

// A kernel of neg: calls the kernel below it and adds one to the first element.
static lamella_status over(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  lamella_value below[1];
  if (lamella_status st = api->call_kernel(f, static_cast<lamella_object*>(f->context), args, 1, below, 1)) return st;
  static_cast<float*>(rets[0].as.tensor->dl.data)[0] = static_cast<float*>(below[0].as.tensor->dl.data)[0] + 1;
  api->release(below[0].as.tensor);
  return LAMELLA_OK;
}
static lamella_status never(lamella_frame*, const lamella_value*, lamella_value*) { std::exit(1); }

static float first(lamella_tensor* t) {
  const float x = static_cast<float*>(t->dl.data)[0];
  api->release(t);
  return x;
}

static void test_kernels() {
  const lamella_operator* neg = api->find_operator("aten::neg", "");
  lamella_tensor* x = floats({2, 3});
  const lamella_value args[2] = {of(x), of(x)};
  lamella_value r[2];
  lamella_object* kernel;
  OK(api, api->find_kernel(neg, "cpu", &kernel));
  CHECK(std::string(kernel->type->name) == "Kernel");
  lamella_library* l = library("aten", LAMELLA_IMPLEMENTS);
  OK(api, add_kernel(api, l, "neg", "cpu", over, kernel));
  CHECK(first(made("aten::neg", "", {of(x)})) == -1);
  OK(api, api->call_kernel(nullptr, kernel, args, 1, r, 2));  // room for two results, of which it fills one
  CHECK(first(r[0].as.tensor) == -2 && r[1].tag == LAMELLA_NONE);
  FAILS(api, api->call_kernel(nullptr, kernel, args, 2, r, 1), "neg: got 2 arguments, expected at most 1");
  const lamella_value word = num(1);
  FAILS(api, api->call_kernel(nullptr, kernel, &word, 1, r, 1), "neg: argument 'self' must be Tensor");
  FAILS(api, api->call_kernel(nullptr, kernel, args, 1, nullptr, 1), "must not be null");
  FAILS(api, api->call_kernel(nullptr, nullptr, args, 1, r, 1), "expected a Kernel");
  lamella_object* generator;
  OK(api, api->generator_new({cpu, 0}, 1, &generator));
  FAILS(api, api->call_kernel(nullptr, generator, args, 1, r, 1),
        "expected a Kernel, which find_kernel gives, got Gen");
  api->release(generator);
  lamella_object* none_there;
  FAILS(api, api->find_kernel(neg, "nobody", &none_there), "has no kernel for 'nobody'");

  // call_kernel() bypasses all layers.
  lamella_layer silent{};
  silent.size = sizeof silent;
  silent.name = "silent";
  silent.fallback = never;
  int32_t bit;
  OK(api, api->layer(l, &silent, &bit, nullptr));
  api->thread()->include |= uint64_t{1} << bit;
  OK(api, api->call_kernel(nullptr, kernel, args, 1, r, 1));
  api->thread()->include &= ~(uint64_t{1} << bit);
  CHECK(first(r[0].as.tensor) == -2);
  lamella_object* second;
  OK(api, api->find_kernel(neg, "cpu", &second));
  api->library_close(l);
  OK(api, api->call_kernel(nullptr, second, args, 1, r, 1));  // a kernel's code and context are never freed
  CHECK(first(r[0].as.tensor) == -1);
  api->release(second);
  CHECK(first(made("aten::neg", "", {of(x)})) == -2);
  api->release(x);

  // Several threads call and release one kernel object.
  std::vector<std::thread> all;
  for (int t = 0; t < 4; t++)
    all.emplace_back([=] {
      api->retain(kernel);
      lamella_tensor* own = floats({static_cast<float>(t)});
      for (int i = 0; i < 2000; i++) {
        const lamella_value arg = of(own);
        lamella_value got;
        OK(api, api->call_kernel(nullptr, kernel, &arg, 1, &got, 1));
        CHECK(first(got.as.tensor) == -static_cast<float>(t));
      }
      api->release(own);
      api->release(kernel);
    });
  for (std::thread& t : all) t.join();
  api->release(kernel);
  done("kernels: looked up, called with no layer above, kept over what is registered over them");
}

static void test_switches() {
  lamella_library *mine = library("switched", LAMELLA_DEFINES), *other = library("switched");
  lamella_operator_def def{};
  def.size = sizeof def;
  def.schema = "f(Tensor x) -> Tensor";
  OK(api, api->define(mine, &def, nullptr));
  OK(api, add_kernel(api, mine, "f", "cpu", never));
  lamella_handle one, two;
  OK(api, api->disable_kernel(mine, "f", "cpu", &one));
  OK(api, api->disable_kernel(other, "switched::f", "cpu", &two));
  lamella_tensor* x = floats({1});
  lamella_value r;
  FAILS(api, call("switched::f", "", {of(x)}, &r), "disabled");
  OK(api, api->withdraw(one));
  FAILS(api, call("switched::f", "", {of(x)}, &r), "disabled");
  FAILS(api, api->withdraw(one), "no live registration");
  api->library_close(other);  // closing the library also withdraws its disabling
  lamella_object* kernel;
  OK(api, api->find_kernel(api->find_operator("switched::f", ""), "cpu", &kernel));
  api->release(kernel);
  FAILS(api, api->disable_kernel(mine, "g", "cpu", nullptr), "there is no operator switched::g");
  FAILS(api, api->disable_kernel(mine, "f", "nowhere", nullptr), "no device and no layer 'nowhere'");
  FAILS(api, api->disable_kernel(other, "f", "cpu", nullptr), "was closed");
  api->release(x);
  api->library_close(mine);
  done("kernels that are passed over: each switch holds until its owner withdraws it");
}

// ---- rules ----------------------------------------------------------------------------------------------------------

struct Heard {
  std::vector<std::string> all;
  const char* refuses = nullptr;
};
static lamella_status hear(void* context, lamella_handle handle, const lamella_rule* rule, int32_t there) {
  auto* heard = static_cast<Heard*>(context);
  CHECK(handle && rule->size >= sizeof *rule);
  const std::string payload = static_cast<const char*>(rule->payload);
  if (there && heard->refuses && payload == heard->refuses)
    return api->raise(LAMELLA_VALUE_ERROR, "I will not have it");
  heard->all.push_back((there ? "+" : "-") + payload + " of " + rule->op + (rule->kind ? rule->kind : "") + " by " +
                       rule->owner);
  return LAMELLA_OK;
}

static void test_rules() {
  lamella_library *l = library("ruled", LAMELLA_DEFINES), *plugin = library("ruled");
  static std::atomic<int> destroyed{0};
  const auto kept = [](const char* op, const char* payload, const char* kind = nullptr) {
    lamella_rule r{};
    r.size = sizeof r;
    r.op = op;
    r.layer = "loud";
    r.kind = kind;
    r.payload = const_cast<char*>(payload);
    r.destroy = [](void*) { destroyed++; };
    return r;
  };
  lamella_rule early = kept("f", "early"), foreign = kept("ruled::f", "foreign", "/mine");
  lamella_handle first_rule;
  OK(api, api->rule(l, &early, &first_rule));  // neither its operator nor its layer exists yet
  Heard a, b;
  lamella_handle hears;
  OK(api, api->on_rule(plugin, "loud", hear, &a, &hears));
  CHECK(a.all == std::vector<std::string>{"+early of ruled::f by kernels.cpp"});
  OK(api, api->on_rule(plugin, "loud", hear, &b, nullptr));
  OK(api, api->rule(l, &foreign, nullptr));
  CHECK(a.all.back() == "+foreign of ruled::f/mine by kernels.cpp" && a.all == b.all);

  lamella_operator_def def{};
  def.size = sizeof def;
  def.schema = "f(Tensor x) -> Tensor";
  OK(api, api->define(l, &def, nullptr));
  const lamella_operator* f = api->find_operator("ruled::f", "");
  CHECK(api->find_rule(f, "loud") == early.payload);  // the other rule is of another kind

  // A subscriber refuses a rule: earlier ones get its withdrawal, it is not kept, the caller keeps its payload.
  b.refuses = "bad";
  lamella_rule bad = kept("f", "bad");
  FAILS(api, api->rule(l, &bad, nullptr), "I will not have it");
  CHECK(a.all.back() == "-bad of ruled::f by kernels.cpp" && b.all.size() == 2 && destroyed == 0);
  CHECK(api->find_rule(f, "loud") == early.payload);
  b.refuses = "early";  // refuses an existing rule: the subscription fails
  FAILS(api, api->on_rule(plugin, "loud", hear, &b, nullptr), "I will not have it");

  OK(api, api->withdraw(first_rule));
  CHECK(destroyed == 1 && a.all.back() == b.all.back() && a.all.back() == "-early of ruled::f by kernels.cpp");
  CHECK(!api->find_rule(f, "loud"));
  OK(api, api->withdraw(hears));
  CHECK(a.all.back() == "-foreign of ruled::f/mine by kernels.cpp" && b.all.size() == 3);
  api->library_close(plugin);
  CHECK(b.all.size() == 4);
  api->library_close(l);
  CHECK(destroyed == 2 && b.all.size() == 4);

  lamella_library* again = library("ruled");
  lamella_rule wrong = kept(nullptr, "x");
  FAILS(api, api->rule(again, &wrong, nullptr), "rule: 'op' must not be null");
  wrong = kept("f", "x");
  wrong.owner = "somebody else";
  FAILS(api, api->rule(again, &wrong, nullptr), "'owner'");
  wrong = kept("f", "x");
  wrong.reserved = 1;
  FAILS(api, api->rule(again, &wrong, nullptr), "'reserved' is 0x1");
  api->library_close(again);
  done("rules: one store, kinds, hearers that come, refuse and go");
}

// ---- a device ----

// The backend `small`: two devices over malloc with `left` bytes free; a trim frees another `cached` bytes.
namespace small {
int64_t left, cached;
int trims;
thread_local int32_t now;

lamella_status alloc(void*, int64_t bytes, int32_t, void*, void** out) {
  if (bytes > left) return api->raise(LAMELLA_OUT_OF_MEMORY, "small: the device is full");
  left -= bytes;
  *out = std::aligned_alloc(16, static_cast<size_t>((bytes + 15) / 16 * 16));
  return LAMELLA_OK;
}
void free(void*, void* data, int64_t bytes, int32_t) {
  cached += bytes;
  std::free(data);
}
lamella_status trim(void*, int32_t, int64_t) {
  trims++;
  left += std::exchange(cached, 0);
  return LAMELLA_OK;
}
lamella_status copy(void*, const lamella_copy* c, int32_t*) {
  std::memcpy(c->dst, c->src, static_cast<size_t>(c->bytes));
  return LAMELLA_OK;
}
int32_t id;

void add(lamella_library* l) {
  static const lamella_allocator memory = {sizeof memory, 0, nullptr, alloc, free, nullptr, nullptr, trim};
  lamella_backend b{};
  b.size = sizeof b;
  b.name = "small";
  b.dlpack_type = kDLExtDev;
  b.flags = LAMELLA_BACKEND_CPU_FALLBACK;
  b.allocator = &memory;
  b.device_count = [](void*) { return 2; };
  b.copy = copy;
  b.device_current = [](void*, int32_t* index) -> lamella_status { return *index = now, LAMELLA_OK; };
  b.device_set_current = [](void*, int32_t index) -> lamella_status { return now = index, LAMELLA_OK; };
  for (int t : {LAMELLA_BOOL, LAMELLA_FLOAT16, LAMELLA_FLOAT32}) b.dtypes[t / 64] |= uint64_t{1} << t % 64;
  OK(api, api->backend(l, &b, &id, nullptr));
}
}  // namespace small

static lamella_value device_of(int32_t index) {
  lamella_value v{LAMELLA_DEVICE, 0, {0}};
  v.as.device = {small::id, index};
  return v;
}
static lamella_status moved(lamella_tensor* t, lamella_value* out) {
  return call("aten::to", "device", {of(t), device_of(0), {LAMELLA_DTYPE, 0, {t->dtype}}, no, no, none}, out);
}

static void test_dtypes_of_a_device() {
  small::left = 1 << 20;
  const int64_t n = 3;
  lamella_tensor *t, *doubles = empty(LAMELLA_FLOAT64, 3), *singles = floats({1, 2, 3});
  OK(api, api->tensor_empty(1, &n, nullptr, LAMELLA_FLOAT32, {small::id, 1}, &t));
  api->release(t);
  const char* what = "device 'small' has no float64; it has bool, float16, float32";
  FAILS(api, api->tensor_empty(1, &n, nullptr, LAMELLA_FLOAT64, {small::id, 0}, &t), what);
  int64_t word = 0;
  FAILS(api, api->tensor_from_blob(&word, 0, nullptr, nullptr, LAMELLA_INT64, {small::id, 0}, nullptr, nullptr, &t),
        "device 'small' has no int64");
  lamella_value r;
  FAILS(api, moved(doubles, &r), what);
  OK(api, moved(singles, &r));
  lamella_tensor* there = r.as.tensor;
  FAILS(api, call("aten::view", "dtype", {of(there), {LAMELLA_DTYPE, 0, {LAMELLA_INT32}}}, &r), "has no int32");
  FAILS(api, call("aten::to", "dtype", {of(there), {LAMELLA_DTYPE, 0, {LAMELLA_FLOAT64}}, no, no, none}, &r), what);
  api->release(there);
  api->release(doubles);
  api->release(singles);
  done("a device refuses the dtypes that it has not declared, in a sentence");
}

static void test_memory_that_ends() {
  small::left = 3 << 20, small::cached = 0, small::trims = 0;
  const int64_t mega = 1 << 18, half = 1 << 17;  // numbers of float32 elements
  lamella_tensor *a, *b, *c, *d;
  const auto make = [](int64_t n, lamella_tensor** out) {
    return api->tensor_empty(1, &n, nullptr, LAMELLA_FLOAT32, {small::id, 0}, out);
  };
  OK(api, make(mega, &a));
  OK(api, make(mega, &b));
  OK(api, make(half, &c));
  api->release(b);  // the device caches the block until a trim
  CHECK(small::trims == 0 && small::left == 1 << 19);
  OK(api, make(mega, &d));
  CHECK(small::trims == 1);
  FAILS(api, make(4 * mega, &b),
        "the largest live tensors there are 262144 of float32 (1048576 bytes), 262144 of float32 (1048576 bytes)");
  CHECK(small::trims == 2);
  CHECK(make(4 * mega, &b) == LAMELLA_OUT_OF_MEMORY);  // a second error loses no state
  const std::string message = api->error_message();
  CHECK(message.find("small: the device is full") != std::string::npos &&
        message.find("4194304 bytes on device 'small:0'") != std::string::npos &&
        message.find("524288") == std::string::npos);
  api->error_clear();
  for (lamella_tensor* t : {a, c, d}) api->release(t);
  OK(api, make(mega, &a));
  api->release(a);
  done("memory that ends: trimmed, asked once more, and then an error with the largest tensors");
}

static void test_current_device() {
  const lamella_backend* b = api->backend_description(small::id);
  OK(api, b->device_set_current(b->context, 1));
  int32_t now = -1;
  std::thread([&] { OK(api, b->device_current(b->context, &now)); }).join();
  CHECK(now == 0 && !b->device_current(b->context, &now) && now == 1);
  OK(api, b->device_set_current(b->context, 0));
  OK(api, api->run_behind({small::id, 0}, nullptr, nullptr));  // a device without streams has nothing to do
  FAILS(api, api->run_behind({small::id, 7}, nullptr, nullptr), "'small:7' does not exist");
  done("the current device is the thread's");
}

int main(int argc, char** argv) {
  start(argc, argv);
  test_kernels();
  test_switches();
  test_rules();
  lamella_library* l = library("small");
  small::add(l);
  test_dtypes_of_a_device();
  test_memory_that_ends();
  test_current_device();
  api->library_close(l);
}
