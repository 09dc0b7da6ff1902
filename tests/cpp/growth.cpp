// Code built with older headers, or for an operator with fewer arguments: kernels that expect fewer arguments, layers
// that pass on fewer, structs that have grown, libraries of other versions and kinds. Usage: test_growth
// LIBLAMELLA_CPU.SO

#include <vector>

#include "calls.h"
#include "dispatcher/door.h"

static lamella_value flag(bool b) { return {LAMELLA_BOOLEAN, 0, {b}}; }
static lamella_tensor* one(float x) {
  lamella_tensor* t;
  OK(api, api->tensor_empty(0, nullptr, nullptr, LAMELLA_FLOAT32, {cpu, 0}, &t));
  *static_cast<float*>(t->dl.data) = x;
  return t;
}
static lamella_library* library(const char* ns, uint32_t kind = LAMELLA_EXTENDS) {
  lamella_library* l;
  OK(api, open_library(api, ns, "growth", &l, kind));
  return l;
}
static const lamella_operator* define(lamella_library* l, const char* schema, const char* name,
                                      const char* overload = "", uint32_t forms = 0) {
  lamella_operator_def d{};
  d.size = sizeof d;
  d.forms = forms;
  d.schema = schema;
  OK(api, api->define(l, &d, nullptr));
  return api->find_operator(name, overload);
}

// self * times: an older kernel, written for (Tensor self, int times).
static lamella_status multiplies(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  rets[0] = of(one(*static_cast<float*>(args[0].as.tensor->dl.data) * static_cast<float>(args[1].as.i)));
  return LAMELLA_OK;
}
// The out= form of multiplies(); the older operator's third argument is the output.
static lamella_status multiplies_into(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  lamella_tensor* out = args[2].as.tensor;
  *static_cast<float*>(out->dl.data) =
      *static_cast<float*>(args[0].as.tensor->dl.data) * static_cast<float>(args[1].as.i);
  api->retain(out);
  rets[0] = of(out);
  return LAMELLA_OK;
}
static lamella_status zero(lamella_frame*, const lamella_value*, lamella_value* rets) {
  rets[0] = of(one(0));
  return LAMELLA_OK;
}
static float taken(lamella_value* r) {
  const float x = *static_cast<float*>(r->as.tensor->dl.data);
  api->value_release(r);
  return x;
}

static void older_kernels() {
  lamella_library* l = library("grown", LAMELLA_DEFINES);
  const lamella_operator* op =
      define(l, "f(Tensor self, int times, *, bool exact=False, str mode='plain') -> Tensor", "grown::f");
  const lamella_operator* out =
      define(l, "f.out(Tensor self, int times, *, bool exact=False, Tensor(a!) out) -> Tensor(a!)", "grown::f", "out");
  OK(api, add_kernel(api, l, "f", "composite", multiplies, nullptr, nullptr, 2));
  OK(api, add_kernel(api, l, "f.out", "composite", multiplies_into, nullptr, nullptr, 3));
  FAILS(api, add_kernel(api, l, "f", "cpu", multiplies, nullptr, nullptr, 5),
        "the kernel of growth takes 5 arguments, the operator has 4");
  FAILS(api, add_kernel(api, l, "f", "cpu", multiplies, nullptr, nullptr, 1), "but 'times' has no default");
  FAILS(api, add_kernel(api, l, "f", "cpu", multiplies, nullptr, nullptr, -1), "takes 0 arguments");
  const lamella_kernel_def k{sizeof k, 0, multiplies, nullptr, nullptr, 0, 2};
  FAILS(api, api->category_kernel(l, "pointwise", "cpu", &k, nullptr), "'num_args' is 2; it must be 0");
  for (const char* key : {"composite", "backend", "cpu"})
    FAILS(api, add_kernel(api, l, "f", key, nullptr), "is null; only the kernel of a layer may be null");
  OK(api, add_kernel(api, l, "f", "some-layer", nullptr, nullptr, nullptr, 2));
  lamella_tensor *a = one(3), *into = one(0);
  lamella_value r, mode{LAMELLA_STRING, 5, {0}};
  mode.as.string = "plain";
  lamella_value args[4] = {of(a), num(2), flag(false), mode};
  for (int32_t given : {2, 3, 4}) {
    OK(api, api->call(nullptr, op, args, given, &r, 1));
    CHECK(taken(&r) == 6);
  }
  args[2] = num(0);  // the same default value, given as an integer instead of a bool
  OK(api, api->call(nullptr, op, args, 4, &r, 1));
  CHECK(taken(&r) == 6);
  args[2] = flag(true);
  FAILS(api, api->call(nullptr, op, args, 3, &r, 1), "the kernel of growth was written before the argument 'exact'");
  args[2] = flag(false);
  args[3].as.string = "fancy";
  FAILS(api, api->call(nullptr, op, args, 4, &r, 1), "'plain'; got 'fancy'");
  lamella_value old_form[3] = {of(a), num(2), of(into)}, new_form[4] = {of(a), num(4), flag(false), of(into)};
  OK(api, api->call(nullptr, out, old_form, 3, &r, 1));
  CHECK(r.as.tensor == into && taken(&r) == 6);
  OK(api, api->call(nullptr, out, new_form, 4, &r, 1));
  CHECK(r.as.tensor == into && taken(&r) == 12);
  new_form[2] = flag(true);
  FAILS(api, api->call(nullptr, out, new_form, 4, &r, 1), "before the argument 'exact'");
  const lamella_operator* nothing = define(l, "z(*, int depth=0) -> Tensor", "grown::z");
  OK(api, add_kernel(api, l, "z", "composite", zero, nullptr, nullptr, LAMELLA_NO_ARGUMENTS));
  lamella_value depth[1] = {num(0)};
  OK(api, api->call(nullptr, nothing, depth, 1, &r, 1));
  CHECK(taken(&r) == 0);
  depth[0] = num(5);
  FAILS(api, api->call(nullptr, nothing, depth, 1, &r, 1), "before the argument 'depth'");
  api->release(a);
  api->release(into);
  api->library_close(l);
  done("kernels that know fewer arguments compute what the others are by default, and refuse the rest");
}

static int64_t reached = 0;
static lamella_status newest(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  CHECK(f->num_args == 3 && f->num_rets == 1);
  reached = args[2].as.i;
  return multiplies(f, args, rets);
}
// An older layer, written when the operator had two arguments; it doubles the number.
static lamella_status doubles(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  lamella_value own[2] = {args[0], num(args[1].as.i * 2)};
  rets[0].tag = 0x5a5a;
  FAILS(api, api->redispatch(f, own, 4, rets, 1), "got 4 arguments, expected at most 3");
  CHECK(rets[0].tag == LAMELLA_NONE);
  FAILS(api, api->redispatch(f, own, 1, rets, 0), "room for 0 results");
  FAILS(api, api->redispatch(f, own, 4, rets, 1), "got 4 arguments, expected at most 3");
  FAILS(api, api->redispatch(f, nullptr, 1, rets, 1), "redispatch: argument 1");
  FAILS(api, api->redispatch(nullptr, own, 1, rets, 1), "redispatch: argument 0");
  return api->redispatch(f, own, 2, rets, 1);
}

static void older_layers() {
  lamella_library* l = library("grown", LAMELLA_DEFINES);
  const lamella_operator* op = define(l, "g(Tensor self, int times, *, int depth=7) -> Tensor", "grown::g");
  OK(api, add_kernel(api, l, "g", "cpu", newest, nullptr, nullptr, 3));
  lamella_layer d{};
  d.size = sizeof d;
  d.flags = LAMELLA_LAYER_FALLTHROUGH;
  int32_t bits[2];
  for (int i = 0; i < 2; i++) {
    d.name = i ? "test.inner" : "test.outer";
    OK(api, api->layer(l, &d, &bits[i], nullptr));
    OK(api, add_kernel(api, l, "g", d.name, doubles));
  }
  lamella_tensor* a = one(3);
  lamella_value r, args[3] = {of(a), num(2), num(5)};
  api->thread()->include = uint64_t{1} << bits[0] | uint64_t{1} << bits[1];
  OK(api, api->call(nullptr, op, args, 2, &r, 1));
  CHECK(taken(&r) == 24 && reached == 7);
  OK(api, api->call(nullptr, op, args, 3, &r, 1));
  CHECK(taken(&r) == 24 && reached == 5);  // the layer passed on this call's value, not the default
  api->thread()->include = 0;
  api->release(a);
  api->library_close(l);
  done("layers that hand on fewer arguments leave the others as the call has them");
}

// An older shape rule, written before `depth`: the shape of the first argument.
static lamella_status like_first(lamella_frame*, const lamella_value* args, lamella_meta* m) {
  const lamella_tensor* t = args[0].as.tensor;
  m->dtype = t->dtype;
  m->ndim = t->dl.ndim;
  for (int i = 0; i < m->ndim; i++) m->sizes[i] = t->dl.shape[i];
  return LAMELLA_OK;
}
static uint8_t strides_bits = 0;
static lamella_status says_bits(lamella_frame* f, const lamella_value* args, lamella_meta* m) {
  m->flags = strides_bits;
  if (args[1].as.i == 1) {
    m->kind = LAMELLA_META_ALIAS;
    m->alias_of = 0;
    m->offset = 0;
  }
  return like_first(f, args, m);
}
static lamella_status fills(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  *static_cast<float*>(rets[0].as.tensor->dl.data) = static_cast<float>(args[1].as.i + args[2].as.i);
  return LAMELLA_OK;
}
static lamella_status add_rule(lamella_library* l, const char* op, lamella_infer infer, int32_t num_args) {
  const lamella_shape_rule_def d{sizeof d, num_args, infer, nullptr};
  return api->shape_rule(l, op, &d, nullptr);
}

// An older shape rule, written for (Tensor self, int times, Tensor(a!) out).
static lamella_status like_third(lamella_frame* f, const lamella_value* args, lamella_meta* m) {
  CHECK(args[1].as.i == 2 && args[2].tag == LAMELLA_TENSOR);
  return like_first(f, args + 2, m);
}
static void older_rule_of_outputs(lamella_library* l, lamella_tensor* a, lamella_tensor* into) {
  const lamella_operator* op =
      define(l, "w.out(Tensor self, int times, *, int depth=7, Tensor(a!) out) -> Tensor(a!)", "grown::w", "out");
  OK(api, add_kernel(api, l, "w.out", "cpu", multiplies_into, nullptr, nullptr, 3));
  OK(api, add_rule(l, "w.out", like_third, 3));
  lamella_value r, args[4] = {of(a), num(2), num(7), of(into)};
  *static_cast<float*>(a->dl.data) = 4;
  OK(api, api->call(nullptr, op, args, 4, &r, 1));
  CHECK(r.as.tensor == into && taken(&r) == 8);
  args[2] = num(1);
  FAILS(api, api->call(nullptr, op, args, 4, &r, 1),
        "the shape rule of growth was written before the argument 'depth'");
}

static void older_rules() {
  lamella_library* l = library("grown", LAMELLA_DEFINES);
  const lamella_operator* op = define(l, "h(Tensor self, int times, *, int depth=7) -> Tensor", "grown::h", "",
                                      LAMELLA_FORM_OUT | LAMELLA_FORM_INPLACE);
  OK(api, add_kernel(api, l, "h", "cpu", fills, nullptr, nullptr, 3));
  FAILS(api, add_rule(l, "h", nullptr, 0), "shape_rule: 'infer' must not be null");
  FAILS(api, add_rule(l, "h", like_first, 4), "grown::h: the shape rule of growth takes 4 arguments");
  FAILS(api, add_rule(l, "h", like_first, 1), "but 'times' has no default");
  OK(api, add_rule(l, "h", like_first, 2));
  lamella_tensor *a = one(3), *into = one(0);
  lamella_value r, args[4] = {of(a), num(2), num(7), of(into)};
  const lamella_operator *out = api->find_operator("grown::h", "out"), *inplace = api->find_operator("grown::h_", "");
  OK(api, api->call(nullptr, op, args, 2, &r, 1));
  CHECK(taken(&r) == 9);
  OK(api, api->call(nullptr, out, args, 4, &r, 1));
  CHECK(r.as.tensor == into && taken(&r) == 9);
  OK(api, api->call(nullptr, inplace, args, 3, &r, 1));
  CHECK(r.as.tensor == a && taken(&r) == 9);
  args[2] = num(5);
  const char* words = "the shape rule of growth was written before the argument 'depth'";
  FAILS(api, api->call(nullptr, op, args, 3, &r, 1), words);
  FAILS(api, api->call(nullptr, out, args, 4, &r, 1), words);
  FAILS(api, api->call(nullptr, inplace, args, 3, &r, 1), words);
  CHECK(*static_cast<float*>(a->dl.data) == 9 && *static_cast<float*>(into->dl.data) == 9);
  for (const lamella_operator* o : {op, out, inplace}) {
    args[2] = num(5);
    const int32_t outs = o == out;
    FAILS(api, api->check_defaults(o, args, 2 + outs, "the derivative"),
          "the derivative was written before the argument 'depth' was added and computes with its default, 7; got 5");
    OK(api, api->check_defaults(o, args, 3 + outs, "the derivative"));
    args[2] = num(7);
    OK(api, api->check_defaults(o, args, 2 + outs, "the derivative"));
  }
  OK(api, api->check_defaults(op, args, 0, "x"));
  FAILS(api, api->check_defaults(op, args, 4, "x"), "grown::h: x takes 4 arguments, the operator has 3");
  FAILS(api, api->check_defaults(op, args, LAMELLA_NO_ARGUMENTS, "x"),
        "x takes 0 arguments, but 'self' has no default");
  FAILS(api, api->check_defaults(op, args, -7, "x"), "x takes -7 arguments");
  FAILS(api, api->check_defaults(nullptr, args, 2, "x"), "check_defaults: argument 0 must not be null");
  older_rule_of_outputs(l, a, into);
  OK(api, add_rule(l, "h", says_bits, 0));
  args[0] = of(a);
  for (int64_t alias : {0, 1}) {
    args[1] = num(alias);
    strides_bits = 8;
    const char* words = "its shape rule sets 'flags' to 8; 7 is the largest that is known";
    FAILS(api, api->call(nullptr, op, args, 2, &r, 1), words);
    FAILS(api, api->call(nullptr, out, args, 4, &r, 1), words);
    FAILS(api, api->call(nullptr, inplace, args, 3, &r, 1), words);
    strides_bits = 0;
    OK(api, api->call(nullptr, op, args, 2, &r, 1));
    api->value_release(&r);
  }
  api->release(a);
  api->release(into);
  api->library_close(l);
  done("shape rules that know fewer arguments, and bits that mean nothing yet");
}

static int destroyed[2];
static void edited_slots() {
  lamella_library* l = library("mine", LAMELLA_EXTENDS);
  lamella_slot_type type{};
  type.size = sizeof type;
  type.destroy = [](void*) { destroyed[0]++; };
  int32_t before, again, after;
  std::string name = "growth.slot";
  type.name = name.c_str();
  OK(api, api->tensor_slot(l, &type, &before));
  name = "gone";
  const std::string same = "growth.slot";
  type.name = same.c_str();
  OK(api, api->tensor_slot(l, &type, &again));
  CHECK(again == before);
  lamella_tensor *old = one(1), *both = one(1);
  api->slot_set(old, before, &destroyed);
  api->slot_set(both, before, &destroyed);
  type.destroy = [](void*) { destroyed[1]++; };
  OK(api, api->tensor_slot(l, &type, &after));
  CHECK(after != before && api->slot_get(old, after) == nullptr);
  api->slot_set(both, after, &destroyed);
  api->release(old);
  CHECK(destroyed[0] == 1 && destroyed[1] == 0);
  api->release(both);
  CHECK(destroyed[0] == 2 && destroyed[1] == 1);
  api->library_close(l);
  done("slots: a plugin that was edited has another one, and the old states go by the code that made them");
}

// A struct of a version 1.1 that had ten bytes less in 1.0.
struct Grown {
  uint32_t size;
  int32_t first;
  int64_t later;
};
template <>
inline constexpr uint32_t lamella::first_size<Grown> = 8;

static void structs() {
  using lamella::dispatcher::adopt;
  Grown from{8, 3, 99}, to{};
  OK(api, adopt("grown", from, &to));
  CHECK(to.first == 3 && to.later == 0 && to.size == sizeof to);
  from.size = sizeof from;
  OK(api, adopt("grown", from, &to));
  CHECK(to.later == 99);
  for (uint32_t wrong : {0u, 4u, 7u, 70000u}) {
    from.size = wrong;
    FAILS(api, adopt("grown", from, &to), "set it to sizeof");
  }
  struct {
    Grown known;
    int64_t unknown;
  } newer{{sizeof newer, 1, 2}, 0};
  OK(api, adopt("grown", newer.known, &to));
  newer.unknown = 1;
  FAILS(api, adopt("grown", newer.known, &to), "uses some behind");
  done("structs that have grown: older ones count as zero, none was ever smaller than the first");
}

static void libraries() {
  lamella_library *l = library("mine", LAMELLA_DEFINES), *other;
  FAILS(api, open_library(api, "mine", "another", &other, LAMELLA_DEFINES), "is defined by growth; another cannot");
  OK(api, open_library(api, "mine", "another", &other, LAMELLA_IMPLEMENTS));
  lamella_operator_def d{};
  d.size = sizeof d;
  d.schema = "f(Tensor self) -> Tensor";
  FAILS(api, api->define(other, &d, nullptr), "IMPL");
  api->library_close(other);
  FAILS(api, open_library(api, "mine", "another", &other, 3), "library_open: 'kind' is 3");
  lamella_library_def def{sizeof def, LAMELLA_ABI_VERSION + 1, "mine", "newer", LAMELLA_EXTENDS, 0};
  FAILS(api, api->library_open(&def, &other), "set it to LAMELLA_TARGET_VERSION");
  def.version = 0;
  FAILS(api, api->library_open(&def, &other), "0.0");
  for (const char* schema :
       {"f(Dict(str, Tensor) x) -> ()", "f(Dict(str, Tensor[]) x) -> ()", "f(Dict(int, int) x) -> ()", "f(Any x) -> ()",
        "f(Tensor[][] x) -> ()", "f(Device[] x) -> ()", "f() -> Any[]"}) {
    d.schema = schema;
    FAILS(api, api->define(l, &d, nullptr), "there are no values for the type");
  }
  d.schema = "g(Tensor self) -> Tensor";
  d.forms = 1u << 31;
  FAILS(api, api->define(l, &d, nullptr),
        "define: 'forms' is 0x80000000, of which 0x80000000 has no meaning in this version");
  d.forms = 0;
  d.reserved = 7;
  FAILS(api, api->define(l, &d, nullptr), "'reserved' is 0x7");
  const lamella_kernel_def wrong{sizeof wrong, 0x100, newest, nullptr, nullptr, 0, 0};
  FAILS(api, api->kernel(l, "aten::add.Tensor", "cpu", &wrong, nullptr), "kernel: 'flags' is 0x100");
  FAILS(api, api->category_kernel(l, "pointwise", "cpu", &wrong, nullptr), "category_kernel: 'flags' is 0x100");
  d.reserved = 0;
  d.infer = [](lamella_frame*, const lamella_value*, lamella_meta* m) {
    m->kind = 77;
    return lamella_status{LAMELLA_OK};
  };
  OK(api, api->define(l, &d, nullptr));
  OK(api, add_kernel(api, l, "g", "cpu", zero));
  lamella_tensor* t = one(1);
  lamella_value self = of(t), r;
  FAILS(api, api->call(nullptr, api->find_operator("mine::g", ""), &self, 1, &r, 1),
        "sets kind 77, which does not exist");
  api->release(t);
  api->library_close(l);
  api->library_close(l);
  FAILS(api, api->define(l, &d, nullptr), "define: the library of growth for 'mine' was closed");
  FAILS(api, add_kernel(api, l, "aten::add.Tensor", "cpu", newest), "was closed");
  FAILS(api, keep_rule(api, l, "aten::add.Tensor", "cpu", &d, nullptr), "was closed");
  api->library_close(library("mine", LAMELLA_DEFINES));  // closing the library has freed the namespace
  done("libraries: one defines a namespace, versions and kinds are looked at, closed ones register nothing");
}

int main(int argc, char** argv) {
  start(argc, argv);
  older_kernels();
  older_layers();
  older_rules();
  edited_slots();
  structs();
  libraries();
}
