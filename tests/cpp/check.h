// CHECK and REQUIRE for the C++ tests: a failed check prints its line and its text, and ends the program with status 1.
#pragma once

#include <lamella/c_api.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

// Requires that the call succeeds, else prints its error.
#define OK(api, call)                                                                             \
  do {                                                                                            \
    if (call) {                                                                                   \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, (api)->error_message()); \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

// Requires that the call fails with an error that contains the text.
inline void fails(int status, const char* message, const std::string& text, int line) {
  if (status == 0 || !message || std::string(message).find(text) == std::string::npos) {
    std::fprintf(stderr, "line %d: expected a failure with '%s', got %d '%s'\n", line, text.c_str(), status,
                 message ? message : "");
    std::exit(1);
  }
}
#define FAILS(api, call, text)                              \
  do {                                                      \
    int status_ = (call);                                   \
    fails(status_, (api)->error_message(), text, __LINE__); \
    (api)->error_clear();                                   \
  } while (0)

inline lamella_status open_library(const lamella_api* api, const char* ns, const char* owner, lamella_library** out,
                                   uint32_t kind = LAMELLA_EXTENDS) {
  const lamella_library_def d = {sizeof d, LAMELLA_TARGET_VERSION, ns, owner, kind, 0};
  return api->library_open(&d, out);
}
inline lamella_status add_kernel(const lamella_api* api, lamella_library* l, const char* op, const char* key,
                                 lamella_kernel fn, void* context = nullptr, lamella_handle* handle = nullptr,
                                 int32_t num_args = 0) {
  const lamella_kernel_def d = {sizeof d, 0, fn, context, __FILE__, __LINE__, num_args};
  return api->kernel(l, op, key, &d, handle);
}

inline lamella_status keep_rule(const lamella_api* api, lamella_library* l, const char* op, const char* layer,
                                void* payload, lamella_handle* handle = nullptr) {
  const lamella_rule d = {sizeof d, 0, op, layer, nullptr, payload, nullptr, nullptr};
  return api->rule(l, &d, handle);
}

inline void done(const char* what) { std::printf("ok  %s\n", what); }
