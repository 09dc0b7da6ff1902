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

// Loads the CPU's library, which is the program's only argument.
inline void start(int argc, char** argv) {
  CHECK(argc == 2);
  api = lamella_get_api(LAMELLA_TARGET_VERSION);
  CHECK(api);
  OK(api, lamella_load_plugin(argv[1]));
  OK(api, api->find_backend("cpu", &cpu));
}

inline lamella_value of(lamella_tensor* t) {
  lamella_value v{LAMELLA_TENSOR, 0, {0}};
  v.as.tensor = t;
  return v;
}
inline lamella_value num(int64_t i) { return {LAMELLA_INT, 0, {i}}; }
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
// The call's only result, a tensor.
inline lamella_tensor* made(const char* name, const char* overload, std::vector<lamella_value> args) {
  lamella_value r;
  OK(api, call(name, overload, std::move(args), &r));
  CHECK(r.tag == LAMELLA_TENSOR);
  return r.as.tensor;
}
