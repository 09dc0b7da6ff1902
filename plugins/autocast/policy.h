// Policies: the dtype in which an operator gets its tensors of floats while autocast is on. A policy is a short text.
// table.cpp has those of the catalogue; other operators bring theirs along as a rule of the layer "autocast".
//
// Note [Policies]  A text is one of
//     lower       the dtype of the autocast block
//     keep        no cast, as for an operator without a policy
//     widest      float32
//     promote     the widest dtype among the tensors
//     refuse F    the call is an error that names F, a function to call instead
//     a dtype     that dtype, as "bfloat16"
//   or several of them for types of devices, "npu: lower; keep". One without a device holds for all that no other one
//   names; "host" is the device whose memory the host reads. A device may come later. A text that says nothing of a device leaves the policy that
//   the operator had before. Float64, integers and complex dtypes are never cast.
#pragma once

#include <lamella/library.h>

#include <atomic>
#include <string>
#include <vector>

namespace lamella::autocast {

inline constexpr char layer_name[] = "autocast";

// An Action says to which dtype a policy casts tensors. A number n from `to_dtype` on means the dtype n - to_dtype.
enum Action : uint16_t { keep = 0, lower = 1, widest = 2, promote = 3, refuse = 4, to_dtype = 16 };

struct Part {
  std::string device;  // empty: for devices that no part names
  uint16_t action;
  std::string instead;  // of `refuse`: the function to call
};

// The policies of one operator by devices. It lives as long as the process.
struct Chosen {
  Part host{"", keep, ""}, others{"", keep, ""};  // of the device whose memory the host reads, and of other devices
  uint64_t written = 0;                           // a bit for each argument that is written, which is never cast
  std::vector<Part> named;                        // of single devices

  const Part& at(int32_t backend) const {
    if (!named.empty())
      for (const Part& p : named)
        if (p.device == api().backend_name(backend)) return p;
    const lamella_backend* b = api().backend_description(backend);
    return b && b->flags & LAMELLA_BACKEND_HOST ? host : others;
  }
};

// The context of the layer's handler for an operator. `chosen` is null if no device has a policy.
struct Policy {
  std::atomic<const Chosen*> chosen{nullptr};
};

// Returns the text that the catalogue's table has for an operator, given by "aten::exp" and its overload; null if it has
// none.
const char* catalogue_text(const std::string& name, const std::string& overload);

// Reads a text. Throws a ValueError that names the operator.
std::vector<Part> read_policy(const std::string& op, const std::string& text);

// Returns the text of an operator's policies, as Note [Policies] writes them; empty if it has none.
std::string policy_text(const lamella_operator* op);

// Adds a rule to an operator, given by its full name, and removes it. The operator may come later.
int64_t add_policy(const std::string& op, const std::string& text);
void remove_policy(int64_t number);

// Makes the policies known to the dispatcher: `prepare` of the layer, and the rules of libraries in C and C++.
void* prepare(void*, const lamella_operator* op, const void* payload);
void follow_rules(Library& m);

}  // namespace lamella::autocast
