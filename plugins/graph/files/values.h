// Values of the index of a program's file: numbers, text, containers, tensors, and objects of the program's classes.
#pragma once

#include <utility>

#include "files/tensors.h"
#include "ir/graph.h"
#include "run/containers.h"

namespace lamella::graph::files {

// A value that a program cannot hold, such as a set.
struct Unsupported : Damage {
  using Damage::Damage;
};

// Holds a value, and releases it.
class Held {
 public:
  Held() = default;
  explicit Held(lamella_value owned) : v_(owned) {}
  Held(Held&& o) noexcept : v_(o.give()) {}
  Held& operator=(Held&& o) noexcept {
    std::swap(v_, o.v_);
    return *this;
  }
  ~Held() { release(v_); }
  const lamella_value& get() const { return v_; }
  lamella_value give() { return std::exchange(v_, none()); }

 private:
  lamella_value v_ = none();
};

// Note [Numbers of containers]  Containers are numbered when they are complete, in the order of the text. Objects alone
//   are found by `{"$same": n}`: other containers are copied by what takes them, and their number could grow
//   exponentially.
class Values {
 public:
  Values(Tensors& tensors, const Program& program) : tensors_(tensors), program_(program) {}

  // Returns the value that a part of the index describes. Raises Damage or Error.
  Held value(const Json& node);
  // Returns the value of a part in which nothing is numbered.
  Held alone(const Json& node);

 private:
  Held object(const Json& node);
  Held tagged(const std::string& tag, const Json& content);
  Held scalar(const Json& node);
  Held numbered(Held made, const char* kind);
  Held same(const Json& number);
  Held pairs(const Json& list);
  Held plain(const Json::Object& node);
  Held instance(const Json& node);
  std::vector<lamella_value> items(const Json::List& list);

  Tensors& tensors_;
  const Program& program_;
  struct KnownClass {
    std::shared_ptr<const Class> type;
    std::unordered_map<std::string_view, size_t> places;  // of the attributes
  };
  const KnownClass& class_named(const std::string& name);
  std::unordered_map<std::string, KnownClass> classes_;
  struct Numbered {
    Held value;  // of an object; else none
    const char* kind;
  };
  std::vector<Numbered> containers_;
  int alone_ = 0;
};

}  // namespace lamella::graph::files
