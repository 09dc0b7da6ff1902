// CHECK and REQUIRE for the C++ tests: a failure says where and what, and ends the program with status 1.
#pragma once

#include <lattis/c_api.h>

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

// The call succeeds; otherwise its message is shown.
#define OK(api, call)                                                                             \
  do {                                                                                            \
    if (call) {                                                                                   \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, (api)->error_message()); \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

// The call fails, and the message holds the text.
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

inline lattis_status open_library(const lattis_api* api, const char* ns, const char* owner, lattis_library** out,
                                  uint32_t kind = LATTIS_EXTENDS) {
  const lattis_library_def d = {sizeof d, LATTIS_TARGET_VERSION, ns, owner, kind, 0};
  return api->library_open(&d, out);
}
inline lattis_status add_kernel(const lattis_api* api, lattis_library* l, const char* op, const char* key,
                                lattis_kernel fn, void* context = nullptr, lattis_handle* handle = nullptr,
                                int32_t num_args = 0) {
  const lattis_kernel_def d = {sizeof d, 0, fn, context, __FILE__, __LINE__, num_args};
  return api->kernel(l, op, key, &d, handle);
}

inline void done(const char* what) { std::printf("ok  %s\n", what); }
