// Values, small tensors of the CPU and calls by an operator's name, for programs that start with start().
#pragma once

#include <lamella/program.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "check.h"

static const lamella_api* api;
static int32_t cpu;

// Loads the libraries that are the program's arguments, the CPU's first.
inline void start(int argc, char** argv) {
  CHECK(argc > 1);
  api = lamella_get_api(LAMELLA_TARGET_VERSION);
  CHECK(api);
  for (int i = 1; i < argc; i++) OK(api, lamella_load_plugin(argv[i]));
  OK(api, api->find_backend("cpu", &cpu));
}

inline lamella_value of(lamella_tensor* t) {
  lamella_value v{LAMELLA_TENSOR, 0, {0}};
  v.as.tensor = t;
  return v;
}
inline lamella_value num(int64_t i) { return {LAMELLA_INT, 0, {i}}; }
inline float at(const lamella_value& v, int i) { return static_cast<const float*>(v.as.tensor->dl.data)[i]; }
inline const lamella_value none{LAMELLA_NONE, 0, {0}}, no{LAMELLA_BOOLEAN, 0, {0}};

inline lamella_tensor* empty(int32_t dtype, int64_t n) {
  lamella_tensor* out;
  OK(api, api->tensor_empty(1, &n, nullptr, dtype, {cpu, 0}, &out));
  return out;
}
inline lamella_tensor* floats(const std::vector<float>& values) {
  lamella_tensor* t = empty(LAMELLA_FLOAT32, static_cast<int64_t>(values.size()));
  std::memcpy(t->dl.data, values.data(), 4 * values.size());
  return t;
}

inline int32_t call(const char* name, const char* overload, std::vector<lamella_value> args, lamella_value* out) {
  const lamella_operator* op = api->find_operator(name, overload);
  CHECK(op);
  return api->call(nullptr, op, args.data(), static_cast<int32_t>(args.size()), out, 1);
}
// Calls an operator, which must succeed, and returns its only result.
inline lamella_value call(const char* name, const char* overload, std::vector<lamella_value> args) {
  lamella_value r{};
  OK(api, call(name, overload, std::move(args), &r));
  return r;
}
// Calls an operator whose only result is a tensor, and returns that.
inline lamella_tensor* made(const char* name, const char* overload, std::vector<lamella_value> args) {
  const lamella_value r = call(name, overload, std::move(args));
  CHECK(r.tag == LAMELLA_TENSOR);
  return r.as.tensor;
}
