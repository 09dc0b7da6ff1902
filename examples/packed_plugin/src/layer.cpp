// The layer of four-bit tensors: their slot with its functions, operators with kernels, and a fallback that unpacks and
// counts for other operators. Start at LAMELLA_LIBRARY at the end of the file.
#include <deque>
#include <mutex>

#include "packed.h"

namespace packed {
namespace {

using lamella::api;

lamella::Slot<Packed> slot;
thread_local bool may_unpack = false;

// Makes a matrix the state of `to`, and puts `to` over the storage of its bytes, whose version and size it then has.
Packed give(Packed p, const Tensor& to) {
  lamella::check(api().tensor_set_storage(to.get(), p.bytes.get()->storage));
  return p;
}

}  // namespace

// A view or a detached tensor is over the storage of `from` already; a copy has no memory yet.
std::optional<Packed> Packed::carry(const Tensor& from, const Tensor& to, int32_t how) const {
  if (how == LAMELLA_CARRY_VIEW) return rows_of(*this, from, to);
  if (how == LAMELLA_CARRY_DETACH) return *this;
  if (how == LAMELLA_CARRY_COPY || how == LAMELLA_CARRY_DEVICE) return give(copied(*this, to.device()), to);
  return std::nullopt;
}

std::optional<Packed> Packed::load(const Tensor& to, const lamella_value& saved) {
  LAMELLA_CHECK_VALUE(to.is_opaque() && saved.tag == LAMELLA_TENSOR_LIST && saved.length == 2,
                      "packed: what was saved is two tensors, of an opaque one");
  return give(loaded(Tensor::borrow(saved.as.tensors[0]), Tensor::borrow(saved.as.tensors[1]), to), to);
}

namespace {

// ---- operators ----------------------------------------------------------------------------------------------------

Tensor pack_int4(const Tensor& self) {
  LAMELLA_CHECK(!slot.get(self), "the tensor is packed already");
  Packed p = pack(self);
  Tensor made = lamella::opaque_over(p.bytes, self.sizes(), self.options());
  slot.set(made, std::move(p));
  return made;
}

Tensor unpack_int4(const Tensor& self) {
  LAMELLA_CHECK(slot.get(self), "the tensor is not packed");
  return unpack(*slot.get(self));
}

Tensor materialize(const Tensor& self, bool) { return unpack_int4(self); }

// Raises unless only the second matrix of a product is packed, since only that product has a kernel.
void expect_plain(const Tensor& x, const Tensor& weight) {
  LAMELLA_CHECK_NOT_IMPLEMENTED(!slot.get(x) && slot.get(weight),
                                "only the second matrix of a product may be packed; unpack the first one");
}

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  expect_plain(input, weight);
  const Tensor y = times_transposed(input, *slot.get(weight));
  return bias.defined() ? y + bias : y;
}

Tensor mm(const Tensor& self, const Tensor& mat2) {
  expect_plain(self, mat2);
  return times(self, *slot.get(mat2));
}

// ---- all other operators ------------------------------------------------------------------------------------------

struct Count {
  std::string name;
  int64_t calls = 0;
};
std::mutex counting;
std::deque<Count>& counts() {
  static auto* all = new std::deque<Count>;  // never freed, since name() returns pointers into it
  return *all;
}

void count(const lamella_operator* op) {
  std::lock_guard lock(counting);
  const std::string name = api().operator_name(op);
  for (Count& c : counts())
    if (c.name == name) return void(c.calls++);
  counts().push_back({name, 1});
}

// If unpacking is allowed, unpacks all packed arguments and redispatches. Otherwise the redispatched call raises an
// error that says that a tensor is opaque.
lamella_status fallback(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return lamella::guarded([&]() -> lamella_status {
    std::vector<lamella_value> plain(args, args + f->num_args);
    std::vector<Tensor> owned;
    std::deque<std::vector<lamella_tensor*>> lists;
    const auto unpacked = [&](int i, lamella_tensor* t) {
      const Packed* p = slot.get(t);
      if (!p) return t;
      LAMELLA_CHECK_NOT_IMPLEMENTED(!(api().operator_argument(f->op, i)->flags & LAMELLA_ARGUMENT_WRITTEN),
                                    "packed numbers are never written; unpack_int4() gives a tensor to write");
      owned.push_back(unpack(*p));
      return owned.back().get();
    };
    if (may_unpack) {
      for (int i = 0; i < f->num_args; i++) {
        if (args[i].tag == LAMELLA_TENSOR) plain[i].as.tensor = unpacked(i, args[i].as.tensor);
        if (args[i].tag != LAMELLA_TENSOR_LIST) continue;
        auto& list = lists.emplace_back(args[i].as.tensors, args[i].as.tensors + args[i].length);
        for (lamella_tensor*& t : list) t = unpacked(i, t);
        plain[i].as.tensors = list.data();
      }
      if (!owned.empty()) count(f->op);
    }
    const lamella_status st = api().redispatch(f, plain.data(), f->num_args, rets, f->num_rets);
    if (st && !may_unpack) api().add_note("With lamella_packed.unpacking(), operators may unpack what they take");
    return st;
  });
}

int32_t allow(int32_t on) { return std::exchange(may_unpack, on != 0); }
int32_t entries() {
  std::lock_guard lock(counting);
  return static_cast<int32_t>(counts().size());
}
const char* name(int32_t i) {
  std::lock_guard lock(counting);
  return counts()[i].name.c_str();
}
int64_t count_of(int32_t i) {
  std::lock_guard lock(counting);
  return counts()[i].calls;
}

lamella_packed table = {sizeof table, -1, allow, entries, name, count_of};

}  // namespace
}  // namespace packed

// For lamella_packed/__init__.py, which opens this library with ctypes.
extern "C" __attribute__((visibility("default"))) const lamella_packed* lamella_packed_table(void) {
  return &packed::table;
}

LAMELLA_LIBRARY(packed, m) {
  using namespace packed;
  lamella_layer layer{};
  layer.size = sizeof layer;
  layer.name = "packed";
  layer.at = "backend";
  layer.flags = LAMELLA_LAYER_DECOMPOSE;
  layer.fallback = fallback;
  layer.kernel_flags = LAMELLA_KERNEL_CALLS_OPERATORS;
  m.layer(layer, &table.layer);
  m.tensor_slot("packed", slot, "packed");
  m.def("pack_int4(Tensor self) -> Tensor", pack_int4);
  m.derivative("pack_int4", "self: grad");
  m.def("unpack_int4(Tensor self) -> Tensor", unpack_int4);
  m.impl("unpack_int4", "packed", unpack_int4);
  m.derivative("unpack_int4", "self: grad");
  m.impl("aten::_materialize", "packed", materialize);
  m.impl("aten::linear", "packed", linear);
  m.impl("aten::mm", "packed", mm);
  // These categories need no kernel: `carry` gives their results packed numbers, or raises.
  m.category("view", "packed", nullptr);
  m.category("creation", "packed", nullptr);
  m.interface("packed", 1, &table);
}
