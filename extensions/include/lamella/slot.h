/* Slot: a slot of tensors whose states are C++ objects. The members of their type say what becomes of a state.
 *
 *   struct Unit {
 *     std::string name;
 *     std::optional<Unit> carry(const Tensor& from, const Tensor& to, int32_t how) const { return *this; }
 *   };
 *   Slot<Unit> units;
 *   LAMELLA_LIBRARY(mine, m) {
 *     m.tensor_slot("unit", units);
 *     m.attribute("unit", units.member(&Unit::name),
 *                 [](const Tensor& self, const std::string& name) { units.set(self, Unit{name}); });
 *   }
 *
 * Note [States]  A state's type T may have these members, which serve as the functions of lamella_slot_type:
 *     std::optional<T> carry(const Tensor& from, const Tensor& to, int32_t how) const
 *     R save(const Tensor& of) const, where R is a type of Note [Types] in kernel.h
 *     static std::optional<T> load(const Tensor& to, const lamella_value& saved)
 *   T has `save` and `load`, or neither. These members may throw. An empty std::optional leaves `to` without a state.
 *   A state that holds objects of the host language needs `traverse` and `clear`: fill a lamella_slot_type for it. */
#ifndef LAMELLA_SLOT_H
#define LAMELLA_SLOT_H

#include <lamella/convert.h>

#include <memory>

#pragma GCC visibility push(hidden)

namespace lamella {
namespace detail {

/* Each of these says whether a type has the member. */
template <class T, class = void>
inline constexpr bool carries = false;
template <class T>
inline constexpr bool carries<T, std::void_t<decltype(&T::carry)>> = true;
template <class T, class = void>
inline constexpr bool saves = false;
template <class T>
inline constexpr bool saves<T, std::void_t<decltype(&T::save)>> = true;
template <class T, class = void>
inline constexpr bool loads = false;
template <class T>
inline constexpr bool loads<T, std::void_t<decltype(&T::load)>> = true;

/* The functions of a lamella_slot_type whose states are of type T. */
template <class T>
struct SlotFunctions {
  static const T& state(const void* s) { return *static_cast<const T*>(s); }
  static lamella_status give(std::optional<T> made, void** out) {
    if (made) *out = new T(std::move(*made));
    return LAMELLA_OK;
  }
  static void destroy(void* s) { delete static_cast<T*>(s); }
  static lamella_status carry(void* s, lamella_tensor* from, lamella_tensor* to, int32_t how, void** out) {
    return guarded([&] { return give(state(s).carry(borrowed(from), borrowed(to), how), out); });
  }
  static lamella_status save(void* s, lamella_tensor* of, lamella_value* out) {
    return guarded([&] { return put(state(s).save(borrowed(of)), out); });
  }
  static lamella_status load(lamella_tensor* to, const lamella_value* saved, void** out) {
    return guarded([&] { return give(T::load(borrowed(to), *saved), out); });
  }
};

}  // namespace detail

/* A slot of tensors, which Library::tensor_slot registers. */
template <class T>
class Slot {
 public:
  constexpr Slot() = default;

  /* Returns the state of a tensor, or null if the tensor has none or is undefined. */
  T* get(const lamella_tensor* t) const { return t ? static_cast<T*>(api().slot_get(t, index_)) : nullptr; }
  T* get(const TensorRef& t) const { return get(t.get()); }
  /* Gives a tensor a state in the place of the former one; std::nullopt leaves the tensor without a state. */
  void set(const TensorRef& t, std::optional<T> state) const {
    std::unique_ptr<T> owned(state ? new T(std::move(*state)) : nullptr);
    check(api().slot_set(t.get(), index_, owned.get()));
    (void)owned.release();
  }
  /* Returns the getter of an attribute: a member of a tensor's state, or none if the tensor has no state. */
  template <class Member, class State = T>
  auto member(Member State::*of) const {
    return [slot = *this, of](const TensorRef& t) {
      const T* state = slot.get(t);
      return state ? std::optional<Member>(state->*of) : std::nullopt;
    };
  }

 private:
  friend class Library;
  int32_t index_ = -1;
};

template <class T>
Library& Library::tensor_slot(const char* name, Slot<T>& slot, const char* layer) {
  using Functions = detail::SlotFunctions<T>;
  static_assert(detail::saves<T> == detail::loads<T>, "a state has `save` and `load`, or neither");
  lamella_slot_type type{};
  type.size = sizeof type;
  type.name = name;
  type.destroy = Functions::destroy;
  if constexpr (detail::carries<T>) type.carry = Functions::carry;
  if constexpr (detail::saves<T>) {
    type.save = Functions::save;
    type.load = Functions::load;
  }
  if (layer && (type.layer = api().find_layer(layer)) < 0)
    return fail(LAMELLA_RUNTIME_ERROR, std::string("tensor_slot: '") + name + "' belongs to the layer '" + layer +
                                           "', which no library has registered; register it first");
  return tensor_slot(type, &slot.index_);
}

}  // namespace lamella

#pragma GCC visibility pop

#endif
