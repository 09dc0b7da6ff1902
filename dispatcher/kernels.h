// The registered kernels and shape rules of operators and categories. A kernel's key is the name of a layer, of a
// device or of a dtype that is not plain, "backend" (every device but meta) or "composite".
#pragma once

#include <functional>

#include "dispatcher/ledger.h"
#include "dispatcher/operator.h"

namespace lamella::dispatcher {

// In place of a category's name: the kernel serves, under its key, every operator that no other kernel, no rule and no
// composite serves there.
inline constexpr const char* every_category = "*";

lamella_status register_kernel(Library&, const char* op, const char* key, lamella_kernel_def, lamella_handle*);
lamella_status register_category_kernel(Library&, const char* category, const char* key, const lamella_kernel_def&,
                                        lamella_handle*);
lamella_status register_shape_rule(Library&, const char* op, lamella_shape_rule_def, lamella_handle*);
// Skips the kernels of one operator for a key, also those of its category, until the handle is withdrawn.
lamella_status disable_kernel(Library&, const char* op, const char* key, lamella_handle*);

// Returns whether kernels are found under a key now: it is the name of a device, of a layer or of a dtype that is not
// plain, or "backend" or "composite".
bool is_key(const std::string& key);

// Look-ups under the registry's lock. They return null if there is no kernel, or if it is skipped.
const Registration* find_kernel(const Operator*, const std::string& key);
const Registration* find_category_kernel(const Operator*, const std::string& key, const std::string& category);
void each_category_kernel(const std::function<void(const std::string& category, const Registration&)>& visit);
// Returns whether the operator's kernels for a key, or those of its functional form, are skipped.
bool is_disabled(const Operator*, const std::string& key);

}  // namespace lamella::dispatcher
