// Passes structs of many sizes to autograd. Each lies at the end of a read-only page, as far as its alignment allows;
// the next page is unreadable. If the interface promises to copy the struct, it is unmapped after the call.
#include <lamella/extension.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string>

using lamella::api;

constexpr size_t page = 4096;

static const lamella_autograd& autograd() {
  return *static_cast<const lamella_autograd*>(api().find_interface("autograd", 1));
}

template <class T>
class Placed {
 public:
  // The bytes after `content` are zero, except the last one.
  Placed(T content, int64_t size, int64_t last) {
    pages_ = static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    content.size = static_cast<uint32_t>(size);
    const size_t room = std::max<size_t>(static_cast<size_t>(size), sizeof(uint32_t));
    at_ = pages_ + (page - room) / alignof(T) * alignof(T);
    if (size > static_cast<int64_t>(sizeof content)) at_[room - 1] = static_cast<char>(last);
    std::memcpy(at_, &content, std::min(room, sizeof content));
    mprotect(pages_, page, PROT_READ);
    mprotect(pages_ + page, page, PROT_NONE);
  }
  ~Placed() {
    if (pages_) munmap(pages_, 2 * page);
  }
  Placed(const Placed&) = delete;
  const T* get() const { return reinterpret_cast<const T*>(at_); }
  const T* keep() {
    pages_ = nullptr;
    return get();
  }

 private:
  char *pages_, *at_;
};

// ---- derivatives ----

static const lamella_derivative shared = {sizeof shared, 0, "self: grad * 2", nullptr, nullptr, nullptr};

static lamella_status same(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  const lamella_value two[2] = {args[0], lamella::value(1)};
  return api().call(nullptr, api().find_operator("aten::mul", "Scalar"), two, 2, rets, 1);
}

static lamella_status triple(void*, lamella_node*, lamella_tensor* const* grads, lamella_tensor** outs) {
  const lamella_value args[2] = {lamella::value(grads[0]), lamella::value(3)};
  lamella_value out = lamella::none();
  const lamella_status st = api().call(nullptr, api().find_operator("aten::mul", "Scalar"), args, 2, &out, 1);
  outs[0] = out.as.tensor;
  return st;
}

// ---- hooks and nodes ----

static lamella_status run(void*, lamella_tensor** grads, int32_t, lamella_tensor* const*, int32_t) {
  lamella_tensor* out = nullptr;
  const lamella_status st = triple(nullptr, nullptr, grads, &out);
  if (!st) api().release(std::exchange(grads[0], out));
  return st;
}

// hook(self, kind, size, last): registers a hook that triples the gradient of self.
static lamella_status hook(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  lamella_node* n = nullptr;
  uint64_t id;
  if (lamella_status st = autograd().edge(args[0].as.tensor, &n, nullptr)) return st;
  lamella_hook own{};
  own.kind = static_cast<int32_t>(args[1].as.i);
  own.run = run;
  const Placed<lamella_hook> placed(own, args[2].as.i, args[3].as.i);
  const lamella_status st = autograd().hook_add(n, 0, placed.get(), &id);
  autograd().node_release(n);
  return st ? st : same(nullptr, args, rets);
}

// node(self, size, last): a node made by hand that triples the gradient.
static lamella_status node(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  lamella_node_type own{};
  std::string name = "TripleOfTheGradientBackward";  // autograd copies the name too
  own.name = name.c_str();
  own.backward = triple;
  const Placed<lamella_node_type> placed(own, args[1].as.i, args[2].as.i);
  lamella_tensor *self = args[0].as.tensor, *out = nullptr;
  lamella_node* n = nullptr;
  if (lamella_status st = autograd().node_new(placed.get(), nullptr, &self, 1, 1, &n)) return st;
  name.assign(name.size(), 'x');
  lamella_status st = api().tensor_detach(self, 0, &out);
  if (!st) st = autograd().set_history(out, n, 0);
  autograd().node_release(n);
  if (!st) rets[0] = lamella::value(out);
  return st;
}

// ---- saved tensors ----

static int packed_now = 0;
static lamella_status pack(void*, lamella_tensor* t, void** packed) {
  api().retain(t);
  *packed = t;
  packed_now++;
  return LAMELLA_OK;
}
static lamella_status unpack(void* packed, lamella_tensor** out) {
  api().retain(*out = static_cast<lamella_tensor*>(packed));
  return LAMELLA_OK;
}
static void destroy(void* packed) {
  api().release(packed);
  packed_now--;
}

extern "C" const char* given_push(int64_t size, int64_t last) {
  static std::string message;
  lamella_saved_hooks own{};
  own.pack = pack;
  own.unpack = unpack;
  own.destroy = destroy;
  const Placed<lamella_saved_hooks> placed(own, size, last);
  if (!autograd().push_saved_hooks(placed.get())) return "";
  message = api().error_message();
  api().error_clear();
  return message.c_str();
}
extern "C" void given_pop(void) { autograd().pop_saved_hooks(); }
extern "C" int given_packed(void) { return packed_now; }

LAMELLA_LIBRARY(given, m) {
  m.define("first(Tensor self) -> Tensor").impl("first", "cpu", same).rule("first", "autograd", &shared);
  m.define("second(Tensor other, Tensor self) -> Tensor").impl("second", "cpu", same);
  m.rule("second", "autograd", &shared);
  const auto derivative = [&m](const char* name, lamella_derivative d, int64_t size, int64_t last) {
    m.define((std::string(name) + "(Tensor self) -> Tensor").c_str()).impl(name, "cpu", same);
    m.rule(name, "autograd", (new Placed<lamella_derivative>(d, size, last))->keep());
  };
  const lamella_derivative text = {0, 0, "self: grad * 2", nullptr, nullptr, nullptr};
  const lamella_derivative functions = {0, 0, nullptr, nullptr, triple, nullptr};
  derivative("unset", text, 0, 0);
  derivative("half", text, 16, 0);
  derivative("shorter", text, sizeof text - 8, 0);
  derivative("exact", text, sizeof text, 0);
  derivative("functions", functions, sizeof text, 0);
  derivative("longer", text, 1024, 0);
  derivative("newer", text, 1024, 1);
  derivative("neither", {}, sizeof text, 0);
  derivative("more", {0, 2, "self: grad * 2", nullptr, nullptr, nullptr}, sizeof text, 0);
  m.define("grown(Tensor self, *, int times=1, Tensor? weight=None) -> Tensor").impl("grown", "cpu", same);
  m.derivative("grown", "self: grad * 2", 1);
  m.define("called(Tensor self, *, int times=1, Tensor? weight=None) -> Tensor").impl("called", "cpu", same);
  m.define("outputs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)").derivative("outputs.out", "self: grad", 1);
  m.impl("outputs.out", "composite", same);
  static const lamella_derivative triples = {sizeof triples, 1, nullptr, nullptr, triple, nullptr};
  m.rule("called", "autograd", &triples);
  m.define("hook(Tensor self, int kind, int size, int last) -> Tensor").impl("hook", "composite", hook);
  m.define("node(Tensor self, int size, int last) -> Tensor").impl("node", "composite", node);
}
