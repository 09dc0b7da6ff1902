// Operator: one schema with its form, its shape rule and the table that directs its calls. Read with table.h (the table
// that a call reads), operators.h and kernels.h (which change operators) and call.h.
#pragma once

#include <lamella/c_api.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "dispatcher/schema.h"

namespace lamella::dispatcher {

struct Table;

// The forms of one operator. In-place and out= forms are derived from the functional form and use its kernels for
// devices and dtypes, unless they have kernels of their own.
enum class Form : uint8_t { Functional, Inplace, Out };

// A bit beside enum lamella_forms, which only the catalogue sets: the operator copies its second argument, a tensor,
// into the first, a tensor that it writes. The first one's device serves the call, and the second one's may differ.
inline constexpr uint32_t form_between_devices = uint32_t{1} << 31;
// The result is a copy of the first argument, a tensor: the slots carry their state to it.
inline constexpr uint32_t form_copies = uint32_t{1} << 30;
// It changes the sizes, the strides or the memory of its first argument, a tensor, and stores no element: the elements
// may share memory, the device of that argument serves the call, and the operator counts the version itself.
inline constexpr uint32_t form_geometry = uint32_t{1} << 29;

// The facts of a schema that the call path reads.
struct CallInfo {
  Form form = Form::Functional;
  uint8_t nargs = 0, nrets = 0;
  uint8_t num_tensors = 0, num_lists = 0;
  int8_t device = -1;                           // position of the first Device argument; -1: none
  uint8_t first_out = 0;                        // position of the first output of an out= form; nargs if it has none
  int8_t target_dtype = -1;                     // position of the dtype of an out= form that reads no tensor; -1: none
  uint64_t indices = 0;                         // positions of index tensors, and of lists of them; see by_index
  bool between_devices = false;                 // it may copy from the second tensor's device to the first one's
  bool first_decides = false;                   // the first tensor's device serves the call, others may differ
  uint64_t written = 0;                         // positions of (a!) arguments
  uint64_t stored = 0;                          // `written`, but none for an operator with form_geometry
  const uint32_t* admits = nullptr;             // by argument: the tags that it may have; see checked_call.h
  const uint32_t* gives = nullptr;              // by result: the same
  const char* const* objects = nullptr;         // by argument and result: the type of an object; null: no objects
  uint8_t tensors[LAMELLA_MAX_ARGUMENTS] = {};  // positions of Tensor and Tensor? arguments
  uint8_t lists[LAMELLA_MAX_ARGUMENTS] = {};    // positions of Tensor[] arguments
};

// A key under which kernels, also a category's, are skipped.
struct Switch {
  lamella_handle handle;
  std::string key;
};

// Shape rules stack like kernels; the definition's is the first.
struct ShapeRule {
  lamella_handle handle;
  lamella_infer fn;
  void* context;
};

// One registered kernel. The kernels of one key stack: the last live one serves.
struct Registration {
  lamella_handle handle;
  std::string key;  // see kernels.h
  lamella_kernel fn;
  void* context;
  uint32_t flags;
  std::string owner, file;
  int32_t line;
};

}  // namespace lamella::dispatcher

struct lamella_operator {
  std::atomic<const lamella::dispatcher::Table*> table{nullptr};  // null: the next call fills it

  std::string name;                  // "aten::add"
  std::string base;                  // "add"
  std::string title;                 // for messages: "add", or "mine::twice" outside the default namespace
  std::string overload;              // "Tensor"
  std::vector<std::string> aliases;  // further names, with their namespace, which look-ups find
  std::string schema_text, category, doc, owner, file;
  std::string dims;    // how the results' dimensions follow from the arguments': Note [Dimensions] in c_api.h
  std::string module;  // the module that shows the operator, as "linalg"; empty: none. See lamella_operator_def
  int32_t line = 0;
  uint32_t forms = 0;
  uint32_t effects = 0;  // enum lamella_effects
  uint32_t since = 1;    // the version of the namespace in which it got its present number of arguments
  bool live = true;
  bool may_fault = false;  // in-place and out= forms compute into a temporary, since a kernel may stop half-way
  lamella::dispatcher::Form form = lamella::dispatcher::Form::Functional;
  lamella_operator* functional = nullptr;  // of a derived form
  lamella_operator *inplace = nullptr, *out = nullptr;

  lamella_infer infer = nullptr;
  void* infer_context = nullptr;
  const lamella_pointwise* pointwise = nullptr;

  std::atomic<const lamella::dispatcher::Schema*> schema{nullptr};  // parsed on first use, never freed
  lamella::dispatcher::CallInfo info;
  std::vector<lamella::dispatcher::Registration> kernels;
  std::vector<lamella::dispatcher::Switch> disabled;
  std::vector<lamella::dispatcher::ShapeRule> shape_rules;
  // Checks of typed functions against the schema, run once the schema is parsed.
  std::vector<lamella_status (*)(const lamella_operator*)> fits;

  std::string full_name() const { return with_overload(name); }
  // Appends the overload to a name of the operator or to one of its aliases.
  std::string with_overload(const std::string& any) const { return overload.empty() ? any : any + "." + overload; }
};

namespace lamella::dispatcher {
using Operator = lamella_operator;
}
