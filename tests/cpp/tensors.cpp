// Tensors of all sorts, without Python: opaque tensors and the kernels that get them, slots that are carried along,
// keys, detached and assigned tensors, storages and their slots. Usage: test_tensors LIBLAMELLA_CPU.SO
#include <cstring>
#include <string>
#include <vector>

#include "calls.h"

namespace {

float first(const lamella_tensor* t) { return *static_cast<const float*>(t->dl.data); }

lamella_tensor* opaque(int64_t n) {
  lamella_tensor* t;
  OK(api, api->tensor_opaque(1, &n, nullptr, LAMELLA_FLOAT32, {cpu, 0}, &t));
  return t;
}

// ---- the layer `one`: all elements of its tensors are one number ---------------------------------------------------

int32_t slot = -1, bit = -1;
int live = 0;
uint64_t key() { return uint64_t{1} << bit; }
std::vector<int32_t> carried;
lamella_storage* copies_over = nullptr;  // the storage that `carry` puts copies over; null: none

void give(lamella_tensor* t, float number) {
  live++;
  OK(api, api->slot_set(t, slot, new float(number)));
  CHECK(t->keys & key());  // setting the slot sets the key of its layer
}
float number_of(const lamella_tensor* t) { return *static_cast<float*>(api->slot_get(t, slot)); }

// A slot without `carry`: its state stays with its tensor.
int32_t lonely_slot = -1, lonely_bit = -1, lonely_live = 0;

// A kernel that withdraws itself during the call and answers LAMELLA_RETRY.
lamella_handle doomed_handle = 0;
lamella_status doomed(lamella_frame*, const lamella_value*, lamella_value*) {
  OK(api, api->withdraw(doomed_handle));
  return LAMELLA_RETRY;
}

lamella_status carry(void* state, lamella_tensor* from, lamella_tensor* to, int32_t how, void** out) {
  CHECK(api->slot_get(from, slot) == state && !api->slot_get(to, slot));
  carried.push_back(how);
  if (how > LAMELLA_CARRY_RESIZE) return LAMELLA_OK;  // null: an unknown way
  if (how == LAMELLA_CARRY_RESIZE && to->numel == 3) return LAMELLA_OK;
  CHECK(how != LAMELLA_CARRY_RESIZE || (to->storage == from->storage) == (to->numel < 3));
  if (from->dl.ndim && from->dl.shape[0] == 13) return api->raise(LAMELLA_VALUE_ERROR, "one: thirteen is refused");
  if (how == LAMELLA_CARRY_COPY && copies_over)
    if (lamella_status st = api->tensor_set_storage(to, copies_over)) return st;
  live++;
  *out = new float(*static_cast<float*>(state));
  return LAMELLA_OK;
}

lamella_status materialize(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  const lamella_tensor* t = args[0].as.tensor;
  std::vector<float> all(t->numel, number_of(t));
  rets[0] = of(floats(all));
  return LAMELLA_OK;
}

// The layer's kernel of exp: an opaque tensor with ten times the number, which shows that the layer served.
lamella_status exp_of(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  lamella_tensor* t = opaque(args[0].as.tensor->numel);
  give(t, number_of(args[0].as.tensor) * 10);
  rets[0] = of(t);
  return LAMELLA_OK;
}

// A device's kernel that accepts opaque tensors and returns their number of elements. Its result is never in the memory
// of its argument.
lamella_status count_kernel(lamella_frame*, const lamella_value* args, lamella_value* rets) {
  CHECK(args[0].as.tensor->flags & LAMELLA_OPAQUE || args[0].as.tensor->dl.data);
  CHECK(args[0].as.tensor->storage != rets[0].as.tensor->storage);
  *static_cast<int64_t*>(rets[0].as.tensor->dl.data) = args[0].as.tensor->numel;
  return LAMELLA_OK;
}

lamella_status count_shape(lamella_frame*, const lamella_value*, lamella_meta* outs) {
  outs[0].ndim = 0;
  outs[0].dtype = LAMELLA_INT64;
  return LAMELLA_OK;
}

lamella_library* library = nullptr;

void register_all() {
  OK(api, open_library(api, "one", "one", &library, LAMELLA_DEFINES));
  lamella_layer l{};
  l.size = sizeof l;
  l.name = "one";
  l.at = "backend";
  l.flags = LAMELLA_LAYER_FALLTHROUGH;
  OK(api, api->layer(library, &l, &bit, nullptr));
  CHECK(bit > 0);  // no layer gets the lowest bit
  l.name = "lonely";
  OK(api, api->layer(library, &l, &lonely_bit, nullptr));
  lamella_slot_type s{};
  s.size = sizeof s;
  s.name = "one";
  s.destroy = [](void* p) {
    live--;
    delete static_cast<float*>(p);
  };
  s.carry = carry;
  s.layer = bit;
  OK(api, api->tensor_slot(library, &s, &slot));
  s.layer = 63;
  int32_t none;
  FAILS(api, api->tensor_slot(library, &s, &none),
        "tensor_slot: 'one' names the bit 63, which no layer of tensors has");
  lamella_slot_type lonely{};
  lonely.size = sizeof lonely;
  lonely.name = "lonely";
  lonely.layer = lonely_bit;
  lonely.destroy = [](void*) { lonely_live--; };
  OK(api, api->tensor_slot(library, &lonely, &lonely_slot));
  OK(api, add_kernel(api, library, "aten::_materialize", "one", materialize));
  OK(api, add_kernel(api, library, "aten::exp", "one", exp_of));
  for (const char* schema : {"seen(Tensor self) -> Tensor", "unseen(Tensor self) -> Tensor"}) {
    lamella_operator_def d{};
    d.size = sizeof d;
    d.schema = schema;
    d.forms = LAMELLA_FORM_OUT;
    d.infer = count_shape;
    OK(api, api->define(library, &d, nullptr));
  }
  lamella_kernel_def k = {sizeof k, LAMELLA_KERNEL_OPAQUE, count_kernel, nullptr, nullptr, 0, 1};
  OK(api, api->kernel(library, "seen", "cpu", &k, nullptr));
  OK(api, add_kernel(api, library, "unseen", "cpu", count_kernel));
}

lamella_value ints(const std::vector<int64_t>& values) {
  lamella_value v{LAMELLA_INT_LIST, static_cast<uint32_t>(values.size()), {0}};
  v.as.ints = values.data();
  return v;
}

// ---- the tests ------------------------------------------------------------------------------------------------------

void opaque_tensors() {
  lamella_tensor *t = opaque(3), *bare = opaque(3), *plain = floats({1, 2, 3});
  CHECK(!t->dl.data && t->flags == (LAMELLA_CONTIGUOUS | LAMELLA_DENSE | LAMELLA_OPAQUE) && t->numel == 3);
  give(t, 7);
  // A kernel gets an opaque tensor only if it accepts them; the error names the argument and the layers.
  lamella_value r;
  FAILS(api, call("aten::add", "Tensor", {of(plain), of(t), num(1)}, &r), "add: argument 'other' is opaque");
  FAILS(api, call("aten::add", "Tensor", {of(plain), of(t), num(1)}, &r), "no kernel for add: 'one' (one)");
  FAILS(api, call("aten::neg", "", {of(bare)}, &r), "It has the key of no layer that could compute with it");
  FAILS(api, call("aten::add_", "Tensor", {of(t), of(plain), num(1)}, &r), "add_: argument 'self' is opaque");
  FAILS(api, call("aten::copy_", "", {of(plain), of(t), no}, &r), "copy_: argument 'src' is opaque");
  FAILS(api, call("aten::copy_", "", {of(t), of(plain), no}, &r), "copy_: argument 'self' is opaque");
  FAILS(api, call("aten::exp", "out", {of(plain), of(t)}, &r), "exp: argument 'out' is opaque");
  lamella_tensor* list[] = {plain, t};
  lamella_value all{LAMELLA_TENSOR_LIST, 2, {0}};
  all.as.tensors = list;
  FAILS(api, call("aten::cat", "", {all, num(0)}, &r), "is opaque");
  FAILS(api, call("one::unseen", "", {of(t)}, &r), "one::unseen: argument 'self' is opaque");
  CHECK(first(plain) == 1);
  // Switching all layers off does not pass opaque tensors to kernels.
  api->thread()->exclude = ~uint64_t{0};
  FAILS(api, call("aten::exp", "", {of(t)}, &r), "exp: argument 'self' is opaque");
  api->thread()->exclude = 0;
  // These accept opaque tensors: a kernel with LAMELLA_KERNEL_OPAQUE, the layer's own, operators that read no elements.
  lamella_tensor* n = made("one::seen", "", {of(t)});
  CHECK(*static_cast<int64_t*>(n->dl.data) == 3);
  // A kernel is withdrawn while it is called: the call goes on with the kernel below, if that accepts opaque tensors.
  const lamella_kernel_def first_kernel = {sizeof first_kernel, LAMELLA_KERNEL_OPAQUE, doomed, nullptr, nullptr, 0, 1};
  for (const char* name : {"seen", "unseen"}) {
    OK(api, api->kernel(library, name, "cpu", &first_kernel, &doomed_handle));
    if (std::string(name) == "seen")
      api->release(made("one::seen", "", {of(t)}));
    else
      FAILS(api, call("one::unseen", "", {of(t)}, &r), "one::unseen: argument 'self' is opaque");
  }
  // No kernel writes its result into an opaque tensor, whatever its shape.
  lamella_tensor* small = opaque(1);
  FAILS(api, call("aten::exp", "out", {of(plain), of(small)}, &r), "exp: argument 'out' is opaque");
  CHECK(small->flags & LAMELLA_OPAQUE);
  api->release(small);
  lamella_tensor* e = made("aten::exp", "", {of(t)});
  CHECK(number_of(e) == 70);
  lamella_tensor* like = made("aten::zeros_like", "", {of(t), {}, {}, {}, {}, {}});
  CHECK(!(like->flags & LAMELLA_OPAQUE) && like->numel == 3);
  // The layer's kernel of _materialize gives an opaque tensor's elements to code that exports them.
  lamella_tensor* values = made("aten::_materialize", "", {of(t), no});
  CHECK(first(values) == 7);
  FAILS(api, call("aten::_materialize", "", {of(bare), no}, &r), "_materialize: argument 'self' is opaque");
  lamella_tensor* scalar = opaque(1);
  give(scalar, 4);
  OK(api, call("aten::item", "", {of(scalar)}, &r));
  CHECK(r.tag == LAMELLA_FLOAT && r.as.d == 4);
  for (lamella_tensor* x : {t, bare, plain, n, e, like, values, scalar}) api->release(x);
  CHECK(live == 0);
  done("opaque tensors: refused by name, seen by kernels that ask, read through their layer");
}

void planted_replacement() {
  // A layer that replaces a plain argument by an opaque one cannot pass it to a kernel that refuses opaque tensors.
  static lamella_tensor* hidden;
  hidden = opaque(3);
  lamella_library* l;
  OK(api, open_library(api, "smuggler", "smuggler", &l));
  lamella_layer desc{};
  desc.size = sizeof desc;
  desc.name = "smuggler";
  int32_t b;
  desc.fallback = [](lamella_frame* f, const lamella_value* args, lamella_value* rets) -> lamella_status {
    std::vector<lamella_value> own(args, args + f->num_args);
    own[0] = of(hidden);
    return api->redispatch(f, own.data(), f->num_args, rets, f->num_rets);
  };
  OK(api, api->layer(l, &desc, &b, nullptr));
  lamella_tensor* plain = floats({1, 2, 3});
  api->thread()->include = uint64_t{1} << b;
  lamella_value r;
  FAILS(api, call("aten::neg", "", {of(plain)}, &r), "neg: argument 'self' is opaque");
  api->thread()->include = 0;
  api->library_close(l);
  api->release(plain);
  api->release(hidden);
  done("an opaque tensor that a layer passes on");
}

void manners() {
  lamella_tensor *t = opaque(4), *plain = floats({1, 2, 3, 4}), *thirteen = opaque(13), *bare = opaque(4);
  for (lamella_tensor* x : {t, plain, thirteen}) give(x, 2);
  lamella_value r;
  for (lamella_tensor* x : {t, plain}) {
    carried.clear();
    lamella_tensor* view = made("aten::narrow", "", {of(x), num(0), num(1), num(2)});
    lamella_tensor* same = made("aten::detach", "", {of(x)});
    lamella_tensor* copy = made("aten::clone", "", {of(x), {}});
    lamella_tensor* cut;
    OK(api, api->tensor_detach(x, 0, &cut));
    CHECK((carried ==
           std::vector<int32_t>{LAMELLA_CARRY_VIEW, LAMELLA_CARRY_DETACH, LAMELLA_CARRY_COPY, LAMELLA_CARRY_DETACH}));
    CHECK(view->numel == 2 && api->tensor_base(view) == x && !api->tensor_base(same) && !api->tensor_base(cut));
    CHECK(copy->storage != x->storage && cut->storage == x->storage);
    for (lamella_tensor* y : {view, same, copy, cut}) {
      CHECK(number_of(y) == 2 && (y->keys & ~uint64_t{1}) == key() && ((y->flags ^ x->flags) & LAMELLA_OPAQUE) == 0);
      api->release(y);
    }
  }
  // A layer that makes tensors itself asks for what the slots carry.
  lamella_tensor* gradient = floats({0, 0, 0});
  carried.clear();
  OK(api, api->tensor_carry(t, gradient, LAMELLA_CARRY_COPY));
  CHECK(carried == std::vector<int32_t>{LAMELLA_CARRY_COPY} && number_of(gradient) == 2 && gradient->keys == key());
  OK(api, api->slot_set(gradient, slot, nullptr));
  OK(api, api->tensor_carry(t, gradient, LAMELLA_CARRY_GRADIENT));  // a way that this slot does not know
  CHECK(!api->slot_get(gradient, slot) && gradient->keys == 0);
  OK(api, api->tensor_carry(gradient, t, LAMELLA_CARRY_VIEW));  // `gradient` has nothing to carry
  // A gradient keeps the state that it has, and an opaque one its values.
  give(gradient, 7);
  OK(api, api->tensor_carry(t, gradient, LAMELLA_CARRY_GRADIENT));
  CHECK(number_of(gradient) == 7 && gradient->keys == key());
  lamella_tensor* values = opaque(3);
  give(values, 5);
  for (lamella_tensor* of : {t, bare}) {
    OK(api, api->tensor_carry(of, values, LAMELLA_CARRY_GRADIENT));
    CHECK(number_of(values) == 5);
  }
  api->release(values);
  carried.clear();
  FAILS(api, api->tensor_carry(thirteen, gradient, LAMELLA_CARRY_COPY), "thirteen is refused");
  CHECK(!api->slot_get(gradient, slot) && gradient->keys == 0);  // the key goes with the state
  FAILS(api, api->tensor_carry(t, t, LAMELLA_CARRY_COPY), "'from' and 'to' are one tensor");
  CHECK(number_of(t) == 2);
  for (int32_t how : {-1, static_cast<int32_t>(LAMELLA_CARRY_RESIZE), 6})
    FAILS(api, api->tensor_carry(t, gradient, how), "tensor_carry: 'how' is");
  FAILS(api, api->tensor_carry(t, nullptr, 0), "tensor_carry: argument 1 must not be null");
  FAILS(api, api->tensor_carry(thirteen, gradient, LAMELLA_CARRY_COPY), "thirteen is refused");
  CHECK(!api->slot_get(gradient, slot));
  api->release(gradient);
  // If `carry` fails, the operator fails; an opaque tensor without a slot that carries its values is refused.
  FAILS(api, call("aten::narrow", "", {of(thirteen), num(0), num(1), num(2)}, &r), "thirteen is refused");
  FAILS(api, call("aten::clone", "", {of(thirteen), {}}, &r), "thirteen is refused");
  FAILS(api, call("aten::detach", "", {of(bare)}, &r), "no slot that carries its values to a view or a copy");
  lamella_tensor* cut = nullptr;
  FAILS(api, api->tensor_detach(thirteen, 0, &cut), "thirteen is refused");
  CHECK(!cut);
  // An opaque tensor cannot be converted to another dtype.
  FAILS(api, call("aten::to", "dtype", {of(t), {LAMELLA_DTYPE, 0, {LAMELLA_FLOAT64}}, no, no, {}}, &r), "is opaque");
  for (lamella_tensor* x : {t, plain, thirteen, bare}) api->release(x);
  CHECK(live == 0);
  done("slots that go along with views, detached tensors and copies");
}

void over_memory() {
  lamella_tensor *codes = floats({1, 2, 3, 4}), *t, *plain, *none = nullptr;
  lamella_storage* s = codes->storage;
  const int64_t sizes[] = {100, 3}, four = 4, minus = -1;
  OK(api,
     api->tensor_opaque_over(s, 2, sizes, nullptr, LAMELLA_FLOAT64, &t));  // more elements than the storage has bytes
  CHECK(t->flags == (LAMELLA_CONTIGUOUS | LAMELLA_DENSE | LAMELLA_OPAQUE) && !t->dl.data && t->numel == 300);
  CHECK(t->storage == s && t->device_key == codes->device_key && api->storage_use_count(s) == 2);
  FAILS(api, api->tensor_opaque_over(s, 1, &minus, nullptr, LAMELLA_FLOAT32, &none), "negative");
  FAILS(api, api->tensor_opaque_over(s, 1, &four, nullptr, 99, &none), "tensor_opaque_over: there is no dtype 99");
  FAILS(api, api->tensor_opaque_over(nullptr, 1, &four, nullptr, LAMELLA_FLOAT32, &none), "must not be null");
  CHECK(!none && api->storage_use_count(s) == 2);
  // It is the tensor that is opaque: other tensors over the storage are plain, also those that are made afterwards.
  lamella_value r;
  FAILS(api, call("aten::neg", "", {of(t)}, &r), "neg: argument 'self' is opaque");
  OK(api, api->tensor_over(s, 1, &four, nullptr, 0, LAMELLA_FLOAT32, &plain));
  lamella_tensor* negative = made("aten::neg", "", {of(plain)});
  CHECK(!(plain->flags & LAMELLA_OPAQUE) && first(plain) == 1 && first(negative) == -1);
  // A write to the memory counts the version of the opaque tensor.
  const uint64_t before = api->tensor_version(t);
  api->release(made("aten::neg_", "", {of(codes)}));
  CHECK(api->tensor_version(t) == before + 1 && first(plain) == -1);
  // Views, views of views and detached tensors are opaque over the same storage, anywhere in the tensor's own elements.
  give(t, 2);
  carried.clear();
  const std::vector<int64_t> two_by_two = {2, 2}, steps = {3, 1};
  lamella_tensor* view = made("aten::narrow", "", {of(t), num(0), num(90), num(5)});
  lamella_tensor* deeper = made("aten::as_strided", "", {of(view), ints(two_by_two), ints(steps), num(294)});
  lamella_tensor *cut, *bare;
  OK(api, api->tensor_detach(view, 0, &cut));
  CHECK((carried == std::vector<int32_t>{LAMELLA_CARRY_VIEW, LAMELLA_CARRY_VIEW, LAMELLA_CARRY_DETACH}));
  CHECK(view->storage_offset == 270 && deeper->storage_offset == 294 && cut->storage_offset == 270);
  CHECK(api->tensor_base(view) == t && api->tensor_base(deeper) == t && !api->tensor_base(cut));
  for (lamella_tensor* x : {view, deeper, cut})
    CHECK(x->flags & LAMELLA_OPAQUE && !x->dl.data && x->storage == s && number_of(x) == 2);
  FAILS(api, call("aten::exp_", "", {of(deeper)}, &r), "exp_: argument 'self' is opaque");
  FAILS(api, call("aten::as_strided", "", {of(t), ints(two_by_two), ints(steps), num(-1)}, &r), "-1");
  FAILS(api, api->tensor_view(t, 1, &four, &four, -1, &none), "tensor_view: the storage offset is -1");
  OK(api, api->tensor_view(t, 1, &four, &four, 1000, &bare));
  CHECK(bare->flags & LAMELLA_OPAQUE && !api->slot_get(bare, slot));
  // The dispatcher does not know which bytes of its storage an opaque tensor uses. So the result of an operator that
  // reads the tensor and writes into that storage is computed in other memory, and copied.
  lamella_tensor* count;
  OK(api, api->tensor_over(s, 0, nullptr, nullptr, 0, LAMELLA_INT64, &count));
  api->release(made("one::seen", "out", {of(deeper), of(count)}));
  CHECK(*static_cast<int64_t*>(count->dl.data) == 4);
  // Assigning makes a tensor opaque, and plain again.
  lamella_tensor* to = floats({9});
  OK(api, api->tensor_assign(to, t));
  CHECK(to->flags & LAMELLA_OPAQUE && !to->dl.data && to->storage == s && number_of(to) == 2);
  FAILS(api, call("aten::neg", "", {of(to)}, &r), "neg: argument 'self' is opaque");
  OK(api, api->tensor_assign(to, negative));
  CHECK(!(to->flags & LAMELLA_OPAQUE) && first(to) == -1 && to->keys == 0);
  api->release(made("aten::neg_", "", {of(to)}));
  // A copy has no memory unless its slot puts it over some.
  lamella_tensor* empty_copy = made("aten::clone", "", {of(t), {}});
  CHECK(empty_copy->storage != s && api->storage_bytes(empty_copy->storage) == 0);
  copies_over = negative->storage;
  lamella_tensor* copy = made("aten::clone", "", {of(t), {}});
  copies_over = nullptr;
  CHECK(copy->flags & LAMELLA_OPAQUE && copy->storage == negative->storage && number_of(copy) == 2 && !copy->dl.data);
  lamella_tensor* far;
  OK(api, api->tensor_empty(1, &four, nullptr, LAMELLA_FLOAT32, {0, 0}, &far));
  FAILS(api, api->tensor_set_storage(plain, s), "tensor_set_storage: the tensor has elements");
  FAILS(api, api->tensor_set_storage(view, negative->storage), "tensor_set_storage: the tensor is a view");
  FAILS(api, api->tensor_set_storage(t, far->storage), "tensor_set_storage: the storage is on device 'meta");
  CHECK(t->storage == s && view->storage == s && plain->storage == s);
  for (lamella_tensor* x : {t, plain, negative, view, deeper, cut, bare, count, to, empty_copy, copy, far})
    api->release(x);
  CHECK(live == 0 && api->storage_use_count(s) == 1);
  api->release(codes);
  done("opaque tensors over memory: its version, its views, its copies; plain tensors beside them");
}

void keys() {
  lamella_tensor* t = floats({1});
  give(t, 1);
  lamella_tensor *kept, *dropped;
  OK(api, api->tensor_detach(t, 0, &kept));
  OK(api, api->tensor_detach(t, key(), &dropped));
  CHECK(kept->keys == key() && dropped->keys == 0 && number_of(dropped) == 1);
  FAILS(api, api->tensor_update_keys(t, uint64_t{1} << 63, 0), "tensor_update_keys: no layer has the bits");
  FAILS(api, api->tensor_update_keys(t, 1, 0), "tensor_update_keys: no layer has the bits");
  FAILS(api, api->storage_add_sticky(t->storage, 1), "storage_add_sticky: no layer has the bits");
  CHECK(t->keys == key());
  OK(api, api->tensor_update_keys(t, 0, key()));
  CHECK(t->keys == 0);
  // A layer's key leaves a tensor with the state of the layer's slot: if that is not carried, and if it is removed.
  lonely_live = 1;
  OK(api, api->slot_set(t, lonely_slot, &lonely_live));
  OK(api, api->tensor_update_keys(t, key(), 0));
  CHECK(t->keys == (key() | uint64_t{1} << lonely_bit));
  lamella_tensor* without;
  OK(api, api->tensor_detach(t, 0, &without));
  CHECK(without->keys == key() && !api->slot_get(without, lonely_slot));
  api->release(without);
  OK(api, api->slot_set(t, lonely_slot, nullptr));
  CHECK(t->keys == key() && lonely_live == 0);
  // If a layer has two slots, as after an edit, the key stays until both states are gone.
  lamella_slot_type edited{};
  edited.size = sizeof edited;
  edited.name = "lonely";
  edited.layer = lonely_bit;
  edited.destroy = [](void*) { lonely_live -= 10; };
  int32_t second;
  OK(api, api->tensor_slot(library, &edited, &second));
  CHECK(second != lonely_slot);
  lonely_live = 11;
  OK(api, api->slot_set(t, lonely_slot, &lonely_live));
  OK(api, api->slot_set(t, second, &lonely_live));
  OK(api, api->slot_set(t, second, nullptr));
  CHECK(t->keys >> lonely_bit & 1 && lonely_live == 1);
  OK(api, api->slot_set(t, lonely_slot, nullptr));
  CHECK(t->keys == key() && lonely_live == 0);
  for (lamella_tensor* x : {t, kept, dropped}) api->release(x);
  done("keys are set and cleared, and dropped by name");
}

void storages() {
  lamella_tensor* t = floats({1, 2, 3, 4});
  lamella_storage* s = t->storage;
  api->storage_retain(s);
  static int destroyed = 0;
  lamella_slot_type type{};
  type.size = sizeof type;
  type.name = "shared memory";
  type.destroy = [](void*) { destroyed++; };
  int32_t index;
  OK(api, api->storage_slot(library, &type, &index));
  CHECK(!api->storage_slot_get(s, index));
  OK(api, api->storage_slot_set(s, index, &destroyed));
  FAILS(api, api->storage_slot_set(s, index + 1, &destroyed), "storage_slot_set: there is no slot");
  CHECK(!api->storage_slot_get(s, -1) && !api->storage_slot_get(s, 1000));
  type.carry = carry;
  FAILS(api, api->storage_slot(library, &type, &index),
        "storage_slot: 'shared memory' sets members that only slots of tensors have: 'carry'");
  type.carry = nullptr;
  type.clear = [](void*) {};
  FAILS(api, api->storage_slot(library, &type, &index),
        "storage_slot: 'shared memory' sets members that only slots of tensors have: 't");
  api->release(t);
  CHECK(destroyed == 0 && api->storage_slot_get(s, index) == &destroyed);
  // tensor_over() makes a tensor over a storage that the test has kept alive.
  const int64_t two = 2, step = 2;
  lamella_tensor *odd, *none = nullptr;
  OK(api, api->tensor_over(s, 1, &two, &step, 1, LAMELLA_FLOAT32, &odd));
  CHECK(first(odd) == 2 && static_cast<float*>(odd->dl.data)[2] == 4 && !api->tensor_base(odd));
  FAILS(api, api->tensor_over(s, 1, &two, &step, 2, LAMELLA_FLOAT32, &none), "reaches beyond its storage of 16 bytes");
  FAILS(api, api->tensor_over(s, 1, &two, nullptr, 1, LAMELLA_FLOAT64, &none),
        "reaches beyond its storage of 16 bytes");
  FAILS(api, api->tensor_over(s, 1, &two, nullptr, -1, LAMELLA_FLOAT32, &none),
        "tensor_over: the storage offset is -1; it must not be negative");
  CHECK(!none);
  // tensor_assign() takes over the memory and the carried states of another tensor; the tensor keeps its other states.
  lamella_tensor *to = floats({9}), *base = floats({5, 6, 7});
  give(to, 3);
  lonely_live = 1;
  OK(api, api->slot_set(to, lonely_slot, &lonely_live));
  const uint64_t lonely_key = uint64_t{1} << lonely_bit;
  OK(api, api->tensor_assign(to, odd));
  CHECK(to->storage == s && to->numel == 2 && to->dl.strides[0] == 2 && first(to) == 2);
  CHECK(!api->slot_get(to, slot) && to->keys == lonely_key && lonely_live == 1);
  give(odd, 5);
  OK(api, api->tensor_assign(to, odd));
  CHECK(number_of(to) == 5 && to->keys == (key() | lonely_key));
  lamella_tensor* view = made("aten::narrow", "", {of(base), num(0), num(1), num(2)});
  lamella_tensor* wide;
  const int64_t many[7] = {1, 1, 1, 1, 1, 1, 2};
  OK(api, api->tensor_empty(7, many, nullptr, LAMELLA_INT64, {cpu, 0}, &wide));
  OK(api, api->tensor_assign(view, wide));
  CHECK(!api->tensor_base(view) && view->dl.ndim == 7 && view->dtype == LAMELLA_INT64 && view->dl.dtype.bits == 64);
  OK(api, api->tensor_assign(view, view));
  lamella_tensor* hidden = opaque(2);
  FAILS(api, api->tensor_assign(view, hidden), "no slot that carries its values to a view or a copy");
  CHECK(!(view->flags & LAMELLA_OPAQUE) && view->dl.data && view->dl.ndim == 7 && view->keys == 0);
  give(hidden, 8);
  OK(api, api->tensor_assign(view, hidden));
  CHECK((view->flags & LAMELLA_OPAQUE) && !view->dl.data && view->dl.ndim == 1 && number_of(view) == 8);
  OK(api, api->tensor_assign(view, to));
  CHECK(!(view->flags & LAMELLA_OPAQUE) && first(view) == 2);
  // tensor_resize() uses the memory again if it is large enough, else copies the elements into new memory.
  const int64_t three = 3;
  lamella_tensor* row = floats({5, 6});
  lamella_storage* own = row->storage;
  OK(api, api->tensor_resize(row, 1, &three, nullptr));
  CHECK(row->storage != own && row->numel == 3 && first(row) == 5 && static_cast<float*>(row->dl.data)[1] == 6);
  own = row->storage;
  OK(api, api->tensor_resize(row, 0, nullptr, nullptr));
  CHECK(row->storage == own && row->numel == 1 && first(row) == 5);
  OK(api, api->tensor_resize(row, 1, &two, &step));
  CHECK(row->storage == own && row->dl.strides[0] == 2);
  // A slot that carries makes the state for other sizes, refuses them by null, or raises; then nothing has changed.
  give(row, 1);
  const int before = live;
  FAILS(api, api->tensor_resize(row, 1, &three, nullptr), "tensor_resize: the slot 'one' of the tensor holds");
  const int64_t thirteen = 13;
  OK(api, api->tensor_resize(row, 1, &thirteen, nullptr));
  CHECK(row->numel == 13 && number_of(row) == 1 && live == before && carried.back() == LAMELLA_CARRY_RESIZE);
  FAILS(api, api->tensor_resize(row, 1, &two, nullptr), "one: thirteen is refused");
  CHECK(row->numel == 13 && number_of(row) == 1 && live == before);
  FAILS(api, api->tensor_resize(hidden, 1, &three, nullptr), "tensor_resize: the slot 'one' of the tensor holds");
  OK(api, api->tensor_resize(hidden, 1, &two, nullptr));
  CHECK(hidden->numel == 2 && (hidden->flags & LAMELLA_OPAQUE) && !hidden->dl.data && number_of(hidden) >= 0);
  lamella_tensor* bare = opaque(2);
  FAILS(api, api->tensor_resize(bare, 1, &three, nullptr),
        "tensor_resize: the tensor is opaque, and no slot of it carries");
  CHECK(bare->numel == 2);
  api->release(bare);
  const int64_t minus = -1;
  FAILS(api, api->tensor_resize(base, 1, &minus, nullptr), "negative");
  CHECK(base->numel == 3);
  api->release(row);
  for (lamella_tensor* x : {odd, to, base, view, wide, hidden}) api->release(x);
  CHECK(destroyed == 0 && api->storage_use_count(s) == 1);
  api->storage_release(s);
  CHECK(destroyed == 1 && live == 0);
  api->storage_retain(nullptr);
  api->storage_release(nullptr);
  done("storages: kept, looked into, with slots; a tensor that takes over another's memory");
}

}  // namespace

int main(int argc, char** argv) {
  start(argc, argv);
  register_all();
  opaque_tensors();
  planted_replacement();
  manners();
  over_memory();
  keys();
  storages();
  api->library_close(library);
  return 0;
}
