// Helpers for programs that use Lamella's C++ interface: loading the libraries, and a call of an operator.
#pragma once

#include <lamella/library.h>
#include <lamella/program.h>

#include "check.h"

// Loads a backend and a plugin; the plugin may be null.
inline void begin_program(const char* backend, const char* plugin) {
  lamella::Api::table() = lamella_get_api(LAMELLA_TARGET_VERSION);
  OK(&lamella::api(), lamella_load_plugin(backend));
  if (plugin) OK(&lamella::api(), lamella_load_plugin(plugin));
}

// Holds a tensor of one element, and calls add of it with itself.
class Ones {
 public:
  Ones() {
    int32_t cpu;
    const int64_t one = 1;
    OK(&lamella::api(), lamella::api().find_backend("cpu", &cpu));
    OK(&lamella::api(), lamella::api().tensor_empty(1, &one, nullptr, LAMELLA_FLOAT32, {cpu, 0}, &t_));
    *static_cast<float*>(t_->dl.data) = 1;
  }
  Ones(const Ones&) = delete;
  ~Ones() { lamella::api().release(t_); }
  void add() const {
    static const lamella_operator* const op = lamella::api().find_operator("aten::add", "Tensor");
    lamella_value args[3] = {{LAMELLA_TENSOR, 0, {0}}, {LAMELLA_TENSOR, 0, {0}}, {LAMELLA_INT, 0, {1}}}, r{};
    args[0].as.tensor = args[1].as.tensor = t_;
    OK(&lamella::api(), lamella::api().call(nullptr, op, args, 3, &r, 1));
    CHECK(*static_cast<float*>(r.as.tensor->dl.data) == 2);
    lamella::api().value_release(&r);
  }

 private:
  lamella_tensor* t_;
};
