// Operator: one schema with its form, its shape rule and the table that says where calls go.
// Read with table.h (what a call looks at), registry.h (who may change it) and call.h (who reads it).
#pragma once

#include <lattis/c_api.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "dispatcher/schema.h"

namespace lattis::dispatcher {

struct Table;

// The forms of one meaning. In-place and out= are derived from the functional one and use its kernels.
enum class Form : uint8_t { Functional, Inplace, Out };

// What the call path needs to know of a schema.
struct CallInfo {
  Form form = Form::Functional;
  uint8_t nargs = 0, nrets = 0;
  uint8_t num_tensors = 0, num_lists = 0;
  uint8_t tensors[16] = {};          // positions of Tensor and Tensor? arguments
  uint8_t lists[4] = {};             // positions of Tensor[] arguments
  int8_t device = -1;                // position of a Device argument
  uint8_t first_out = 0;             // position of the first output of an out= form
  bool between_devices = false;      // copy_: the first tensor's device decides
  uint64_t written = 0;              // positions of (a!) arguments
  const uint32_t* admits = nullptr;  // for each argument the tags that it may have; see checked_call.h
  const uint32_t* gives = nullptr;   // for each result
};

// Shape rules stack like kernels; the first is the one of the definition.
struct ShapeRule {
  lattis_handle handle;
  lattis_infer fn;
  void* context;
};

// One registered kernel. Those of one key stack: the last live one serves.
struct Registration {
  lattis_handle handle;
  std::string key;  // a layer, a device, or "composite"
  lattis_kernel fn;
  void* context;
  uint32_t flags;
  std::string owner, file;
  int32_t line;
};

}  // namespace lattis::dispatcher

struct lattis_operator {
  std::atomic<const lattis::dispatcher::Table*> table{nullptr};  // null: fill it on the next call

  std::string name;      // "aten::add"
  std::string base;      // "add", for messages
  std::string overload;  // "Tensor"
  std::string schema_text, category, doc, owner, file;
  int32_t line = 0;
  uint32_t forms = 0;
  bool live = true;
  lattis::dispatcher::Form form = lattis::dispatcher::Form::Functional;
  lattis_operator* functional = nullptr;  // of a derived form
  lattis_operator *inplace = nullptr, *out = nullptr;

  lattis_infer infer = nullptr;
  void* infer_context = nullptr;
  const lattis_pointwise* pointwise = nullptr;

  std::atomic<const lattis::dispatcher::Schema*> schema{nullptr};  // parsed on first use, never freed
  lattis::dispatcher::CallInfo info;
  std::vector<lattis::dispatcher::Registration> kernels;
  std::vector<std::string> disabled;  // keys whose kernels (also a category's) are passed over
  std::vector<lattis::dispatcher::ShapeRule> shape_rules;

  std::string full_name() const { return overload.empty() ? name : name + "." + overload; }
};

namespace lattis::dispatcher {
using Operator = lattis_operator;
}
