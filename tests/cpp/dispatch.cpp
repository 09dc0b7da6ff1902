// The dispatcher without Python: calls, forms, layers, categories, owners, withdrawal, slots, attributes, and the CPU
// plugin loaded by path. Usage: test_dispatch LIBLAMELLA_CPU [MORE PLUGINS]

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "calls.h"

static void drop(lamella_value v) { api->value_release(&v); }

static lamella_library* library(const char* owner) {
  lamella_library* l;
  OK(api, open_library(api, "test", owner, &l));
  return l;
}

static void forms() {
  lamella_tensor *a = floats({1, 2, 3}), *b = floats({10, 20, 30}), *o = floats({0, 0, 0});
  lamella_value r = call("aten::add", "Tensor", {of(a), of(b), num(2)});
  CHECK(at(r, 2) == 63 && r.as.tensor != a);
  drop(r);
  uint64_t version = api->tensor_version(a);
  r = call("aten::add_", "Tensor", {of(a), of(b), num(1)});
  CHECK(r.as.tensor == a && at(r, 0) == 11 && api->tensor_version(a) == version + 1);
  drop(r);
  r = call("aten::add", "out", {of(a), of(b), num(1), of(o)});
  CHECK(r.as.tensor == o && at(r, 0) == 21 && api->tensor_version(o) == 1);
  drop(r);
  for (lamella_tensor* t : {a, b, o}) api->release(t);
  done("functional, in-place and out= forms share one kernel");
}

static void views() {
  lamella_tensor* a = floats({0, 1, 2, 3, 4, 5});
  lamella_value v = call("aten::slice", "Tensor", {of(a), num(0), num(1), num(5), num(2)});
  CHECK(v.as.tensor->numel == 2 && v.as.tensor->storage == a->storage && api->tensor_base(v.as.tensor) == a);
  lamella_value w = call("aten::select", "int", {v, num(0), num(1)});
  CHECK(api->tensor_base(w.as.tensor) == a);
  drop(call("aten::fill_", "Scalar", {w, num(9)}));
  CHECK(static_cast<float*>(a->dl.data)[3] == 9 && api->tensor_version(a) == 1);
  drop(w);
  drop(v);
  api->release(a);
  done("views share storage, root and version");
}

// ---- layers ----

static std::vector<std::string>* seen = new std::vector<std::string>;
static lamella_status watch(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  seen->push_back(std::string(static_cast<const char*>(f->context)) + ":" + api->operator_name(f->op));
  return api->redispatch(f, args, f->num_args, rets, f->num_rets);
}

static int32_t add_layer(lamella_library* l, const char* name, const char* at, const char* const* outside = nullptr,
                         const char* const* inside = nullptr, uint32_t flags = 0) {
  lamella_layer d{};
  d.size = sizeof d;
  d.name = name;
  d.at = at;
  d.outside = outside;
  d.inside = inside;
  d.flags = flags;
  d.fallback = watch;
  d.context = const_cast<char*>(name);
  int32_t bit;
  OK(api, api->layer(l, &d, &bit, nullptr));
  return bit;
}

static void layers() {
  lamella_library* l = library("layers");
  const char* outside_first[] = {"first", nullptr};
  int32_t first = add_layer(l, "first", "profiler"), second = add_layer(l, "second", "profiler", outside_first);
  CHECK(second > first);
  lamella_tensor *a = floats({1}), *b = floats({2});
  lamella_thread* t = api->thread();
  t->include |= uint64_t{1} << first | uint64_t{1} << second;
  drop(call("aten::add", "Tensor", {of(a), of(b), num(1)}));
  CHECK(seen->size() == 2 && (*seen)[0] == "second:aten::add" && (*seen)[1] == "first:aten::add");
  t->exclude |= uint64_t{1} << second;
  seen->clear();
  drop(call("aten::add_", "Tensor", {of(a), of(b), num(1)}));
  CHECK(seen->size() == 1 && (*seen)[0] == "first:aten::add_" && api->tensor_version(a) == 1);
  t->include = t->exclude = 0;
  // The inner calls of a composite do not reach a layer that the outer call has already passed.
  seen->clear();
  t->include = uint64_t{1} << first;
  drop(call("aten::clone", "", {of(a), {}}));
  CHECK(seen->size() == 1 && (*seen)[0] == "first:aten::clone");
  t->include = 0;
  // A tensor's bit brings a call to a layer; a storage's sticky bit does so through any view.
  seen->clear();
  OK(api, api->tensor_update_keys(a, uint64_t{1} << first, 0));
  drop(call("aten::neg", "", {of(a)}));
  CHECK(seen->size() == 1);
  OK(api, api->tensor_update_keys(a, 0, uint64_t{1} << first));
  api->storage_add_sticky(a->storage, uint64_t{1} << first);
  lamella_value v = call("aten::alias", "", {of(a)});
  drop(call("aten::neg", "", {v}));
  CHECK(seen->size() == 3);
  drop(v);
  api->library_close(l);
  seen->clear();
  drop(call("aten::neg", "", {of(a)}));
  CHECK(seen->empty());
  api->release(a);
  api->release(b);
  done("layers: order, thread, tensor and storage bits, composites, withdrawal");
}

static lamella_status by_rule(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  seen->push_back(std::string(api->operator_name(f->op)) + " by " + static_cast<const char*>(f->context));
  return api->redispatch(f, args, f->num_args, rets, f->num_rets);
}

static void rules() {
  lamella_library *l = library("ruled"), *other = library("ruler");
  CHECK(!keep_rule(api, other, "aten::neg", "autograd", const_cast<char*>("the first"), nullptr));  // before its layer
  lamella_layer d{};
  d.size = sizeof d;
  d.name = d.at = "autograd";
  d.flags = LAMELLA_LAYER_FALLTHROUGH;
  d.rule = by_rule;
  int32_t bit;
  CHECK(!api->layer(l, &d, &bit, nullptr));
  lamella_thread* t = api->thread();
  t->include = uint64_t{1} << bit;
  lamella_tensor* a = floats({1});
  seen->clear();
  drop(call("aten::neg", "", {of(a)}));
  drop(call("aten::neg_", "", {of(a)}));
  drop(call("aten::exp", "", {of(a)}));
  CHECK(seen->size() == 2 && (*seen)[0] == "aten::neg by the first" && (*seen)[1] == "aten::neg_ by the first");
  lamella_handle h;
  CHECK(!keep_rule(api, other, "aten::neg", "autograd", const_cast<char*>("the second"), &h));
  drop(call("aten::neg", "", {of(a)}));
  CHECK(seen->back() == "aten::neg by the second");
  CHECK(!api->withdraw(h));
  drop(call("aten::neg", "", {of(a)}));
  CHECK(seen->size() == 4 && seen->back() == "aten::neg by the first");
  t->include = 0;
  api->library_close(other);
  api->library_close(l);
  api->release(a);
  done("rules: kept until their layer comes, for every form, stacked and withdrawn");
}

static const char* prepared = nullptr;
static void* prepare(void* context, const lamella_operator* op, const void* payload) {
  CHECK(static_cast<const char**>(context) == &prepared && !std::strcmp(static_cast<const char*>(payload), "payload"));
  CHECK(!std::strcmp(api->operator_name(op), "aten::neg"));  // in-place forms also pass the rule's operator
  return const_cast<char*>(prepared);
}

static void prepared_rules() {
  lamella_library* l = library("preparer");
  lamella_layer d{};
  d.size = sizeof d;
  d.name = d.at = "autograd";
  d.flags = LAMELLA_LAYER_FALLTHROUGH;
  d.rule = by_rule;
  d.context = &prepared;
  d.prepare = prepare;
  int32_t bit;
  OK(api, api->layer(l, &d, &bit, nullptr));
  OK(api, keep_rule(api, l, "aten::neg", "autograd", const_cast<char*>("payload"), nullptr));
  lamella_thread* t = api->thread();
  t->include = uint64_t{1} << bit;
  lamella_value a = of(floats({1})), out{};
  FAILS(api, api->call(nullptr, api->find_operator("aten::neg", ""), &a, 1, &out, 1), "memory");
  prepared = "what was made of it";
  seen->clear();
  drop(call("aten::neg", "", {a}));
  drop(call("aten::neg_", "", {a}));
  CHECK(seen->size() == 2 && (*seen)[0] == "aten::neg by what was made of it" && (*seen)[1].starts_with("aten::neg_"));
  t->include = 0;
  api->library_close(l);
  drop(a);
  done("rules that a layer prepares");
}

// A layer with LAMELLA_LAYER_PREPARES_ALL makes a context for its fallback of each operator, too.
static int prepared_fallbacks = 0;
static void* prepare_all(void*, const lamella_operator* op, const void* payload) {
  prepared_fallbacks += !payload;
  return const_cast<char*>(payload ? "a rule" : api->operator_name(op));
}
static lamella_status by_context(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  seen->push_back(static_cast<const char*>(f->context));
  return api->redispatch(f, args, f->num_args, rets, f->num_rets);
}

static void prepared_fallback() {
  lamella_library* l = library("preparer of all");
  lamella_layer d{};
  d.size = sizeof d;
  d.name = "prepares_all";
  d.at = "names";
  d.flags = LAMELLA_LAYER_PREPARES_ALL;
  d.fallback = by_context;
  FAILS(api, api->layer(l, &d, nullptr, nullptr), "LAMELLA_LAYER_PREPARES_ALL needs the functions");
  d.rule = by_context;
  d.prepare = prepare_all;
  int32_t bit;
  OK(api, api->layer(l, &d, &bit, nullptr));
  OK(api, keep_rule(api, l, "aten::neg", "prepares_all", const_cast<char*>("payload"), nullptr));
  lamella_thread* t = api->thread();
  t->include = uint64_t{1} << bit;
  lamella_value a = of(floats({1}));
  seen->clear();
  for (int i = 0; i < 2; i++) drop(call("aten::abs", "", {a}));
  drop(call("aten::neg", "", {a}));
  CHECK((*seen == std::vector<std::string>{"aten::abs", "aten::abs", "a rule"}) && prepared_fallbacks == 1);
  t->include = 0;
  api->library_close(l);
  drop(a);
  done("contexts that a layer prepares for its fallback");
}

static void looks() {
  const lamella_operator* add = api->find_operator("aten::add_", "Tensor");
  const lamella_argument* a = api->operator_argument(add, 0);
  CHECK(a && a->kind == LAMELLA_KIND_TENSOR && (a->flags & LAMELLA_ARGUMENT_WRITTEN));
  a = api->operator_argument(add, 2);
  CHECK(a && std::string(a->name) == "alpha" && a->kind == LAMELLA_KIND_SCALAR && a->value.as.i == 1 &&
        a->flags == (LAMELLA_ARGUMENT_KEYWORD_ONLY | LAMELLA_ARGUMENT_HAS_DEFAULT));
  a = api->operator_return(add, 0);
  CHECK(a && a->alias_of == 0);
  FAILS(api, api->operator_argument(add, 3) ? 0 : api->error_kind(), "there is no argument 3");
  CHECK(api->operator_form(add) == LAMELLA_INPLACE_FORM &&
        api->operator_functional(add) == api->find_operator("aten::add", "Tensor"));
  const lamella_operator* all[8];
  CHECK(api->find_overloads("aten::add", all, 8) == 4);
  lamella_tensor *x = floats({1, 2}), *cut;
  lamella_value row = call("aten::select", "int", {of(x), num(0), num(1)});
  CHECK(api->tensor_base(row.as.tensor) == x && !api->tensor_detach(row.as.tensor, 0, &cut));
  CHECK(!api->tensor_base(cut) && cut->dl.data == row.as.tensor->dl.data && cut->storage == x->storage);
  drop(row);
  api->release(cut);
  api->release(x);
  done("what operators look like, and tensors of their own over the same elements");
}

static void shape_rules_alone() {
  const lamella_operator* add = api->find_operator("aten::add", "Tensor");
  lamella_tensor *x = floats({1, 2, 3}), *y = floats({1, 2});
  lamella_value row = call("aten::unsqueeze", "", {of(x), num(1)});
  lamella_meta m[2];
  lamella_device device{-1, -1};
  const lamella_value args[2] = {row, of(y)};
  seen->clear();
  OK(api, api->infer(add, args, 2, m, 2, &device));  // `alpha` has its default
  CHECK(m[0].kind == LAMELLA_META_FRESH && m[0].ndim == 2 && m[0].sizes[0] == 3 && m[0].sizes[1] == 2);
  CHECK(m[0].dtype == LAMELLA_FLOAT32 && device.backend == cpu && seen->empty());
  const lamella_operator* t = api->find_operator("aten::t", "");
  OK(api, api->infer(t, args, 1, m, 1, nullptr));
  CHECK(m[0].kind == LAMELLA_META_ALIAS && m[0].alias_of == 0 && m[0].sizes[0] == 1 && m[0].sizes[1] == 3);
  const lamella_value unequal[2] = {of(x), of(y)}, word = num(3);
  FAILS(api, api->infer(add, unequal, 2, m, 1, nullptr), "add: ");
  FAILS(api, api->infer(add, &word, 1, m, 1, nullptr), "add: argument 'other' is missing");
  FAILS(api, api->infer(t, &word, 1, m, 1, nullptr), "t: argument 'self' must be Tensor");
  FAILS(api, api->infer(add, args, 2, m, 0, nullptr),
        "infer: aten::add.Tensor has 1 results, and 'outs' has room for 0");
  FAILS(api, api->infer(add, args, 2, nullptr, 1, nullptr),
        "infer: aten::add.Tensor has 1 results, and 'outs' has room for 0");
  FAILS(api, api->infer(nullptr, args, 2, m, 1, nullptr), "infer: argument 0 must not be null");
  const lamella_operator* composite = api->find_operator("aten::rot90", "");
  CHECK(composite);
  const lamella_value turn[1] = {row};
  FAILS(api, api->infer(composite, turn, 1, m, 1, nullptr), "infer: aten::rot90 has no shape rule");

  FAILS(api, api->decompose(nullptr, args, 2, nullptr, 0), "decompose: argument 0 must not be null");

  const int32_t n = api->operators(nullptr, 0);
  std::vector<const lamella_operator*> all(n + 1, nullptr);
  CHECK(n > 1000 && api->operators(all.data(), n + 1) == n && !all[n]);
  all.pop_back();
  for (const lamella_operator* op : {add, t, composite, api->find_operator("aten::add_", "Tensor")})
    CHECK(std::count(all.begin(), all.end(), op) == 1);
  FAILS(api, api->operators(nullptr, 1) == -1 ? api->error_kind() : 0, "operators: 'out' must not be null");
  drop(row);
  api->release(x);
  api->release(y);
  done("shape rules alone, and the list of all operators");
}

static void wishes() {
  lamella_library* l = library("wisher");
  const char *outside_y[] = {"y", nullptr}, *outside_x[] = {"x", nullptr}, *outside_modes[] = {"modes", nullptr};
  add_layer(l, "x", "autocast", outside_y);
  lamella_layer d{};
  d.size = sizeof d;
  d.name = "y";
  d.at = "autocast";
  d.outside = outside_x;
  d.fallback = watch;
  int32_t bit;
  FAILS(api, api->layer(l, &d, &bit, nullptr), "x (wisher) wants to be outside y");
  d.outside = outside_modes;
  FAILS(api, api->layer(l, &d, &bit, nullptr), "contradict");
  d.name = "autograd";
  FAILS(api, api->layer(l, &d, &bit, nullptr), "anchor");
  d.name = "x";
  FAILS(api, api->layer(l, &d, &bit, nullptr), "taken by wisher");
  api->library_close(l);
  done("wishes: cycles, contradictions, names taken");
}

// After an observer is withdrawn, only a captured state can still have its bit.
static void bits_that_come_again() {
  lamella_library* l = library("observers");
  lamella_layer d{};
  d.size = sizeof d;
  d.name = "first-observer";
  d.flags = LAMELLA_LAYER_NEVER_ON_TENSORS;
  d.at = "modes";
  d.fallback = watch;
  int32_t first, second, third;
  lamella_handle h;
  OK(api, api->layer(l, &d, &first, &h));
  api->thread()->include = uint64_t{1} << first;
  lamella_captured* captured;
  OK(api, api->thread_capture(&captured));
  api->thread()->include = 0;
  OK(api, api->withdraw(h));
  d.name = "second-observer";
  OK(api, api->layer(l, &d, &second, nullptr));
  CHECK(second == first);
  OK(api, api->thread_swap(captured));
  CHECK(api->thread()->include == 0);
  OK(api, api->thread_swap(captured));
  api->thread_discard(captured);
  // A layer whose key no tensor has had gives its bit back.
  d.name = "unmarked";
  d.flags = 0;
  OK(api, api->layer(l, &d, &first, &h));
  OK(api, api->withdraw(h));
  d.name = "in_its_place";
  OK(api, api->layer(l, &d, &second, &h));
  CHECK(second == first);
  OK(api, api->withdraw(h));
  // A layer that is on a tensor keeps its bit, even if it is registered again as LAMELLA_LAYER_NEVER_ON_TENSORS.
  d.name = "marker";
  d.flags = 0;
  OK(api, api->layer(l, &d, &first, &h));
  lamella_tensor* t = floats({1});
  OK(api, api->tensor_update_keys(t, uint64_t{1} << first, 0));
  OK(api, api->withdraw(h));
  d.flags = LAMELLA_LAYER_NEVER_ON_TENSORS;
  OK(api, api->layer(l, &d, &second, &h));
  OK(api, api->withdraw(h));
  d.name = "another";
  OK(api, api->layer(l, &d, &third, nullptr));
  CHECK(first == second && third != first);
  api->release(t);
  // A layer that is not in backward is in the set that an engine reads, as long as it is there.
  d.name = "forward";
  d.flags = LAMELLA_LAYER_NOT_IN_BACKWARD;
  const uint64_t before = *api->layers_not_in_backward();
  OK(api, api->layer(l, &d, &third, &h));
  CHECK(*api->layers_not_in_backward() == (before | uint64_t{1} << third));
  OK(api, api->withdraw(h));
  CHECK(*api->layers_not_in_backward() == before);
  d.flags = 128;
  FAILS(api, api->layer(l, &d, nullptr, nullptr), "'flags' is 0x80, of which 0x80 has no meaning");
  api->library_close(l);
  done("bits of layers: given again where no tensor has them, and no captured state");
}

// ---- stacking, categories, errors ----

static lamella_status seven(lamella_frame*, const lamella_value*, lamella_value* rets) {
  auto* t = rets[0].as.tensor;
  for (int64_t i = 0; i < t->numel; i++) static_cast<float*>(t->dl.data)[i] = 7;
  return LAMELLA_OK;
}
static lamella_status broken(lamella_frame* f, const lamella_value*, lamella_value*) {
  return api->raise(LAMELLA_VALUE_ERROR, (std::string(api->operator_name(f->op)) + ": broken on purpose").c_str());
}

static void stacking() {
  lamella_tensor *a = floats({1, 1}), *b = floats({2, 2});
  lamella_library *l = library("one"), *m = library("two");
  lamella_handle h, g;
  OK(api, add_kernel(api, l, "aten::add.Tensor", "cpu", seven, nullptr, &h));
  lamella_value r = call("aten::add", "Tensor", {of(a), of(b), num(1)});
  CHECK(at(r, 1) == 7);
  drop(r);
  drop(call("aten::add_", "Tensor", {of(a), of(b), num(1)}));
  CHECK(static_cast<float*>(a->dl.data)[0] == 7);
  OK(api, add_kernel(api, m, "aten::add.Tensor", "cpu", broken, nullptr, &g));
  lamella_value args[3] = {of(a), of(b), num(1)}, out{};
  FAILS(api, api->call(nullptr, api->find_operator("aten::add", "Tensor"), args, 3, &out, 1), "broken on purpose");
  CHECK(out.tag == LAMELLA_NONE);
  OK(api, api->withdraw(g));
  r = call("aten::add", "Tensor", {of(a), of(b), num(1)});
  CHECK(at(r, 0) == 7);
  drop(r);
  FAILS(api, api->withdraw(g), "no live registration");
  api->library_close(l);
  api->library_close(m);
  r = call("aten::add", "Tensor", {of(a), of(b), num(1)});
  CHECK(at(r, 0) == 9);
  drop(r);
  api->release(a);
  api->release(b);
  done("kernels stack under their owners and are withdrawn by handle");
}

static void operators() {
  lamella_library* l = library("definer");
  lamella_operator_def d{};
  d.size = sizeof d;
  d.schema = "thing(Tensor self) -> Tensor";
  OK(api, api->define(l, &d, nullptr));
  FAILS(api, api->define(l, &d, nullptr), "already defined by definer");
  lamella_tensor* a = floats({1});
  lamella_value in[1] = {of(a)}, out{};
  const lamella_operator* op = api->find_operator("test::thing", "");
  FAILS(api, api->call(nullptr, op, in, 1, &out, 1), "no library has registered one");
  d.schema = "other(Tensor self -> Tensor";
  FAILS(api, api->define(l, &d, nullptr), "column");
  FAILS(api, add_kernel(api, l, "aten::nonesuch", "cpu", seven), "no operator aten::nonesuch");
  const lamella_kernel_def k{sizeof k, 0, seven, nullptr, nullptr, 0, 0};
  FAILS(api, api->category_kernel(l, "nonesuch", "cpu", &k, nullptr), "no category");
  int payload = 3;
  OK(api, keep_rule(api, l, "test::thing", "a layer that is not there", &payload, nullptr));
  CHECK(api->find_rule(op, "a layer that is not there") == &payload);
  OK(api, api->publish_interface(l, "test.table", 2, &payload, nullptr));
  CHECK(api->find_interface("test.table", 1) == &payload && api->find_interface("test.table", 3) == nullptr);
  FAILS(api, api->publish_interface(l, "test.table", 2, &payload, nullptr), "taken by definer");
  api->library_close(l);
  CHECK(!api->find_operator("test::thing", "") && !api->find_interface("test.table", 1));
  FAILS(api, api->call(nullptr, op, in, 1, &out, 1), "withdrawn by definer");
  api->release(a);
  done("operators, rules and interfaces: conflicts and withdrawal");
}

static void aliases() {
  lamella_library* l = library("namer");
  lamella_operator_def d{};
  d.size = sizeof d;
  d.forms = LAMELLA_FORM_INPLACE | LAMELLA_FORM_OUT;
  d.aliases = "second third";
  d.schema = "first.Tensor(Tensor self) -> Tensor";
  OK(api, api->define(l, &d, nullptr));
  d.aliases = nullptr;
  d.schema = "first.Scalar(Tensor self, Scalar other) -> Tensor";
  OK(api, api->define(l, &d, nullptr));
  for (const char* overload : {"Tensor", "Scalar"}) {
    CHECK(api->find_operator("test::first", overload));
    for (const char* name : {"test::second", "test::third"})
      CHECK(api->find_operator(name, overload) == api->find_operator("test::first", overload));
  }
  CHECK(api->find_operator("test::second_", "Tensor") == api->find_operator("test::first_", "Tensor"));
  CHECK(api->find_operator("test::third", "Scalar_out") == api->find_operator("test::first", "Scalar_out"));
  const lamella_kernel made = [](lamella_frame*, const lamella_value*, lamella_value* rets) -> lamella_status {
    rets[0] = of(floats({7}));
    return LAMELLA_OK;
  };
  OK(api, add_kernel(api, l, "second.Scalar", "cpu", made));
  lamella_tensor* a = floats({1});
  lamella_value r = call("test::first", "Scalar", {of(a), num(1)});
  CHECK(at(r, 0) == 7);
  drop(r);
  int payload = 3;
  OK(api, keep_rule(api, l, "third.Tensor", "a layer that is not there", &payload, nullptr));
  CHECK(api->find_rule(api->find_operator("test::first", "Tensor"), "a layer that is not there") == &payload);
  d.schema = "second.Tensor(Tensor self) -> Tensor";
  FAILS(api, api->define(l, &d, nullptr), "test::second.Tensor is already defined by namer");
  d.schema = "fourth.Tensor(Tensor self) -> Tensor";
  d.aliases = "fifth first";
  FAILS(api, api->define(l, &d, nullptr),
        "define: test::fourth.Tensor: test::first is a name of test::first.Tensor, which namer defines");
  CHECK(!api->find_operator("test::fourth", "Tensor") && !api->find_operator("test::fifth", "Tensor"));
  d.schema = "fourth.Mine(Tensor self, int n) -> Tensor";
  FAILS(api, api->define(l, &d, nullptr), "test::first is a name of test::first.Tensor");
  d.aliases = nullptr;
  d.schema = "second.Mine(Tensor self, int n) -> Tensor";
  FAILS(api, api->define(l, &d, nullptr), "define: test::second.Mine: test::second is a name of test::first.Tensor");
  lamella_operator_def form{};
  form.size = sizeof form;
  form.schema = "sixth_(Tensor(a!) self) -> Tensor(a!)";
  OK(api, api->define(l, &form, nullptr));
  form.schema = "sixth(Tensor self) -> Tensor";
  form.forms = LAMELLA_FORM_FUNCTION | LAMELLA_FORM_INPLACE;
  FAILS(api, api->define(l, &form, nullptr), "define: test::sixth: its in-place form test::sixth_ is defined already");
  int later = 4;  // the last rule wins, under any name of the operator
  OK(api, keep_rule(api, l, "first.Tensor", "a layer that is not there", &later, nullptr));
  CHECK(api->find_rule(api->find_operator("test::first", "Tensor"), "a layer that is not there") == &later);
  OK(api, keep_rule(api, l, "third.Tensor", "a layer that is not there", &payload, nullptr));
  CHECK(api->find_rule(api->find_operator("test::first", "Tensor"), "a layer that is not there") == &payload);
  api->library_close(l);
  CHECK(!api->find_operator("test::second", "Tensor") && !api->find_operator("test::third_", "Scalar"));
  api->release(a);
  done("aliases: each finds the operator, its forms and later overloads; kernels and rules reach it by any name");
}

static lamella_status category(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  (*static_cast<int*>(f->context))++;
  return api->redispatch(f, args, f->num_args, rets, f->num_rets);
}

static void categories() {
  lamella_library* l = library("by category");
  int32_t bit = add_layer(l, "watcher", "modes");
  int count = 0;
  const lamella_kernel_def k{sizeof k, 0, category, &count, nullptr, 0, 0};
  OK(api, api->category_kernel(l, "pointwise", "watcher", &k, nullptr));
  lamella_tensor* a = floats({1, 2});
  seen->clear();
  api->thread()->include = uint64_t{1} << bit;
  drop(call("aten::neg", "", {of(a)}));
  drop(call("aten::sum", "", {of(a), {}}));
  api->thread()->include = 0;
  CHECK(count == 1 && seen->size() == 1 && (*seen)[0] == "watcher:aten::sum");
  api->library_close(l);
  api->release(a);
  done("a layer's kernel for a category");
}

// ---- state ----

static int destroyed = 0;

static void state() {
  lamella_library* l = library("state");
  std::vector<int32_t> slots;
  const char* names[] = {"s0", "s1", "s2", "s3", "s4"};
  for (const char* n : names) {
    lamella_slot_type s{};
    s.size = sizeof s;
    s.name = n;
    s.destroy = [](void* p) {
      destroyed++;
      delete static_cast<int*>(p);
    };
    int32_t i;
    OK(api, api->tensor_slot(l, &s, &i));
    slots.push_back(i);
  }
  lamella_tensor* a = floats({1});
  for (int32_t s : slots) api->slot_set(a, s, new int(s));
  for (int32_t s : slots) CHECK(*static_cast<int*>(api->slot_get(a, s)) == s);
  api->slot_set(a, slots[4], new int(99));
  CHECK(destroyed == 1 && *static_cast<int*>(api->slot_get(a, slots[4])) == 99);
  lamella_value c = call("aten::neg", "", {of(a)});
  CHECK(api->slot_get(c.as.tensor, slots[0]) == nullptr);  // a result has no slot of its argument
  drop(c);
  api->release(a);
  CHECK(destroyed == 6);

  lamella_thread_slot_type t{};
  t.size = sizeof t;
  t.name = "level";
  t.copy = [](void* p, void** out) -> lamella_status {
    *out = new int(*static_cast<int*>(p));
    return LAMELLA_OK;
  };
  t.destroy = [](void* p) { delete static_cast<int*>(p); };
  int32_t slot;
  OK(api, api->thread_slot(l, &t, &slot));
  api->thread_slot_set(slot, new int(5));
  api->thread()->include = 4;
  lamella_captured *captured, *second;
  OK(api, api->thread_capture(&captured));
  OK(api, api->thread_copy(captured, &second));
  api->thread()->include = 0;
  std::thread([&] {
    CHECK(api->thread_slot_get(slot) == nullptr && api->thread()->include == 0);
    OK(api, api->thread_swap(captured));
    CHECK(*static_cast<int*>(api->thread_slot_get(slot)) == 5 && api->thread()->include == 4);
    *static_cast<int*>(api->thread_slot_get(slot)) = 6;  // changes the thread's own copy
    OK(api, api->thread_swap(captured));
    CHECK(api->thread_slot_get(slot) == nullptr && api->thread()->include == 0);
    OK(api, api->thread_swap(second));
    CHECK(*static_cast<int*>(api->thread_slot_get(slot)) == 5);
  }).join();
  CHECK(*static_cast<int*>(api->thread_slot_get(slot)) == 5);
  api->thread_discard(captured);
  api->thread_discard(second);
  api->thread_slot_set(slot, nullptr);
  auto get = [](lamella_frame*, void*, lamella_tensor* self, lamella_value* out) -> lamella_status {
    *out = num(self->numel);
    return LAMELLA_OK;
  };
  OK(api, api->attribute(l, "count", get, nullptr, nullptr, nullptr));
  FAILS(api, api->attribute(l, "count", get, nullptr, nullptr, nullptr), "taken by state");
  lamella_keyword_def glad{};
  glad.size = sizeof glad;
  glad.name = "glad";
  FAILS(api, api->keyword(l, &glad, nullptr), "keyword: 'apply' must not be null");
  glad.apply = [](const lamella_operator*, void*, lamella_tensor**, const lamella_value*) -> lamella_status {
    return LAMELLA_OK;
  };
  lamella_handle keyword;
  OK(api, api->keyword(l, &glad, &keyword));
  FAILS(api, api->keyword(l, &glad, nullptr), "taken by state");
  OK(api, api->withdraw(keyword));
  OK(api, api->keyword(l, &glad, nullptr));
  glad.flags = 4;
  FAILS(api, api->keyword(l, &glad, nullptr), "keyword: 'flags' is 0x4");
  api->library_close(l);
  done("slots on tensors and threads, attributes, keywords");
}

static void memory() {
  const lamella_allocator* pool;
  OK(api, api->host_pool(nullptr, 1 << 20, &pool));
  void *a, *b;
  OK(api, pool->alloc(pool->context, 100000, 0, nullptr, &a));
  CHECK(reinterpret_cast<uintptr_t>(a) % 64 == 0);
  std::memset(a, 1, 100000);
  pool->free(pool->context, a, 100000, 0);
  OK(api, pool->alloc(pool->context, 99000, 0, nullptr, &b));
  lamella_allocator_stats s{};
  s.size = sizeof s;
  OK(api, pool->stats(pool->context, 0, &s));
  CHECK(a == b && s.allocations == 2 && s.system_allocations == 1 && s.live_bytes >= 99000);
  pool->free(pool->context, b, 99000, 0);
  OK(api, pool->stats(pool->context, 0, &s));
  CHECK(s.cached_bytes > 0 && s.live_bytes == 0);
  OK(api, pool->trim(pool->context, -1, 0));
  OK(api, pool->stats(pool->context, 0, &s));
  CHECK(s.cached_bytes == 0);
  OK(api, pool->alloc(pool->context, 4 << 20, 0, nullptr, &a));
  pool->free(pool->context, a, 4 << 20, 0);
  OK(api, pool->stats(pool->context, 0, &s));
  CHECK(s.cached_bytes == 0);  // a block above the cache's limit is not kept
  FAILS(api, pool->alloc(pool->context, int64_t{1} << 60, 0, nullptr, &a), "cannot allocate");
  // The pool's counts agree when blocks of many sizes are freed with their own sizes.
  std::vector<std::pair<void*, int64_t>> blocks;
  for (int64_t n = 1; n < 100000; n = n * 5 / 4 + 1) {
    OK(api, pool->alloc(pool->context, n, 0, nullptr, &a));
    std::memset(a, 2, n);
    blocks.push_back({a, n});
  }
  for (auto [p, n] : blocks) pool->free(pool->context, p, n, 0);
  OK(api, pool->trim(pool->context, -1, 0));
  OK(api, pool->stats(pool->context, 0, &s));
  CHECK(s.live_bytes == 0 && s.cached_bytes == 0);
  done("the caching pool: reuse, bound, trim, statistics");
}

static void values() {
  lamella_tensor* a = floats({1});
  lamella_tensor* list[2] = {a, nullptr};
  lamella_value v{LAMELLA_TENSOR_LIST, 2, {0}}, copy;
  v.as.tensors = list;
  OK(api, api->value_retain(&v, &copy));
  CHECK(copy.as.tensors != list && copy.as.tensors[0] == a && a->object.refcount == 2);
  api->value_release(&copy);
  CHECK(a->object.refcount == 1 && copy.tag == LAMELLA_NONE);
  lamella_value s{LAMELLA_STRING, 3, {0}};
  s.as.string = "abc";
  OK(api, api->value_retain(&s, &copy));
  CHECK(copy.as.string != s.as.string && !std::strcmp(copy.as.string, "abc"));
  api->value_release(&copy);
  api->release(a);
  done("retained values are copies");
}

int main(int argc, char** argv) {
  api = lamella_get_api(LAMELLA_TARGET_VERSION);
  FAILS(api, lamella_load_plugin("/nonesuch.so"), "nonesuch.so");
  start(argc, argv);
  OK(api, lamella_load_plugin(argv[1]));  // a process loads a plugin once
  forms();
  views();
  layers();
  rules();
  prepared_rules();
  prepared_fallback();
  looks();
  shape_rules_alone();
  wishes();
  bits_that_come_again();
  stacking();
  operators();
  aliases();
  categories();
  state();
  memory();
  values();
  return 0;
}
