/* Attributes of Tensor that are C++ functions:
 *
 *   m.attribute("unit", [](const Tensor& self) { return units.get(self)->name; });
 *   m.attribute("unit", get, [](const Tensor& self, const std::string& name) { units.set(self, Unit{name}); });
 *
 * The result of a getter has a type of Note [Types] in kernel.h. The second parameter of a setter has a type of that
 * note that is neither a list, a Dict nor a Generator. A value that does not fit the type is a TypeError, and the
 * setter is not called. A setter gets lists, and values of several types, as a lamella_value or an OwnedValue. */
#ifndef LAMELLA_ATTRIBUTE_H
#define LAMELLA_ATTRIBUTE_H

#include <lamella/adapter.h>
#include <lamella/schema_fit.h>

#pragma GCC visibility push(hidden)

namespace lamella {
namespace detail {

inline constexpr uint32_t real_tags = 1u << LAMELLA_INT | 1u << LAMELLA_FLOAT;
inline constexpr uint32_t complex_tags = real_tags | 1u << LAMELLA_COMPLEX;
/* The tags that a value of each kind (enum lamella_kind) may have, as a sum of 1 << tag; 0: no setter takes it. */
inline constexpr uint32_t tags_of_kind[] = {1u << LAMELLA_TENSOR,
                                            complex_tags | 1u << LAMELLA_BOOLEAN | 1u << LAMELLA_UINT,
                                            1u << LAMELLA_INT,
                                            real_tags,
                                            1u << LAMELLA_BOOLEAN,
                                            complex_tags,
                                            1u << LAMELLA_STRING,
                                            1u << LAMELLA_DTYPE,
                                            1u << LAMELLA_LAYOUT,
                                            1u << LAMELLA_DEVICE,
                                            1u << LAMELLA_MEMORY_FORMAT,
                                            0,
                                            0,
                                            ~0u,
                                            0};

/* Converts a value to the second parameter of a setter. */
template <class F>
struct Setter;
template <class R, class P>
struct Setter<R (*)(const Tensor&, P)> {
  using T = Parameter<P>;
  static constexpr CppType type = T::type();
  static constexpr uint32_t tags = type.flags & LAMELLA_ARGUMENT_LIST ? 0 : tags_of_kind[type.kind];
  static_assert(tags, "a setter takes this type as a lamella_value, and checks it itself");
  static decltype(auto) get(const std::string& name, const lamella_value& v) {
    const bool absent = v.tag == LAMELLA_NONE && (type.flags & LAMELLA_ARGUMENT_OPTIONAL);
    LAMELLA_CHECK_TYPE(absent || (v.tag < 32 && tags >> v.tag & 1), "Tensor.", name, ": expected ",
                       schema_type({0, type.kind, type.flags, 0, "", {}}), ", got a value with tag ", v.tag);
    return T::get(v);
  }
};

/* The context of an attribute: its functions. It is never freed, since a call may still use it. */
template <class Get, class Set>
struct Attribute {
  std::string name;
  Get get;
  Set set;

  static lamella_status read(lamella_frame*, void* context, lamella_tensor* self, lamella_value* out) {
    return guarded([&] { return put(static_cast<Attribute*>(context)->get(borrowed(self)), out); });
  }
  static lamella_status write(lamella_frame*, void* context, lamella_tensor* self, const lamella_value* value) {
    return guarded([&]() -> lamella_status {
      auto* a = static_cast<Attribute*>(context);
      a->set(borrowed(self), Setter<typename PointerOf<Set>::type>::get(a->name, *value));
      return LAMELLA_OK;
    });
  }
};

}  // namespace detail

template <class Get, class Set, class>
Library& Library::attribute(const char* name, Get get, Set set) {
  if (status_) return *this;
  using A = detail::Attribute<Get, Set>;
  lamella_set_attribute write = nullptr;
  if constexpr (!std::is_null_pointer<Set>::value) write = A::write;
  status_ = guarded([&] {
    return api().attribute(lib_, name, A::read, write, new A{name, std::move(get), std::move(set)}, nullptr);
  });
  return *this;
}

}  // namespace lamella

#pragma GCC visibility pop

#endif
