#include "policy.h"

#include <lamella/dispatcher.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "interface.h"

namespace lamella::autocast {
namespace {

struct Rule {
  int64_t number;
  std::string text;
  std::vector<Part> parts;
};

// One operator: its rules, the first one first, and the policy that follows from them and from the catalogue's table.
struct Known {
  std::vector<Rule> rules;
  Policy policy;
  const lamella_operator* op = nullptr;  // null until the dispatcher has prepared it
};

std::mutex lock;  // guards known() and last_number; within it only descriptions of operators and devices are read
std::map<std::string, Known>& known() {
  static auto* all = new std::map<std::string, Known>;
  return *all;
}
int64_t last_number = 0;

std::string trimmed(const std::string& s) {
  const size_t begin = s.find_first_not_of(' ');
  return begin == std::string::npos ? "" : s.substr(begin, s.find_last_not_of(' ') - begin + 1);
}

std::string full_name(const lamella_operator* op) {
  const std::string name = api().operator_name(op), overload = api().operator_overload(op);
  return overload.empty() ? name : name + "." + overload;
}

constexpr char host_device[] = "host";

bool is_host(const std::string& device) {
  for (int32_t i = 0; i < most_devices; i++)
    if (const lamella_backend* b = api().backend_description(i))
      if (b->flags & LAMELLA_BACKEND_HOST && device == api().backend_name(i)) return true;
  return false;
}

// Changes the policies by those of a text: the parts without a device first, then "host", then single devices.
void take(Chosen* c, const std::vector<Part>& parts) {
  for (const Part& p : parts)
    if (p.device.empty()) {
      c->host = c->others = p;
      c->named.clear();
    }
  for (const Part& p : parts)
    if (p.device == host_device) {
      c->host = p;
      c->named.erase(std::remove_if(c->named.begin(), c->named.end(), [](const Part& n) { return is_host(n.device); }),
                     c->named.end());
    }
  for (const Part& p : parts)
    if (!p.device.empty() && p.device != host_device) {
      const auto same = [&](const Part& n) { return n.device == p.device; };
      c->named.erase(std::remove_if(c->named.begin(), c->named.end(), same), c->named.end());
      c->named.push_back(p);
    }
}

std::unique_ptr<Chosen> choose(const lamella_operator* op, const std::vector<Rule>& rules) {
  auto c = std::make_unique<Chosen>();
  if (api().operator_form(op) != LAMELLA_FUNCTIONAL_FORM) return c;
  if (const char* text = catalogue_text(api().operator_name(op), api().operator_overload(op)))
    take(c.get(), read_policy(title(op), text));
  for (const Rule& r : rules) take(c.get(), r.parts);
  for (int32_t i = 0; i < api().operator_num_args(op) && i < 64; i++)
    if (api().operator_argument(op, i)->flags & LAMELLA_ARGUMENT_WRITTEN) c->written |= uint64_t{1} << i;
  return c;
}

bool casts(const Chosen& c) { return c.host.action || c.others.action || !c.named.empty(); }

// Gives an operator the policy that follows from its rules now. The one before is not freed, since a call may read it.
void renew(Known& k) {
  if (!k.op) return;
  std::unique_ptr<Chosen> c = choose(k.op, k.rules);
  k.policy.chosen.store(casts(*c) ? c.release() : nullptr, std::memory_order_release);
}

constexpr const char* words[] = {"keep", "lower", "widest", "promote", "refuse"};

std::string text_of(const Part& p) {
  if (p.action >= to_dtype) return api().dtype_info(p.action - to_dtype)->name;
  return words[p.action] + (p.action == refuse && !p.instead.empty() ? " " + p.instead : "");
}

lamella_status on_rule(void*, lamella_handle handle, const lamella_rule* rule, int32_t there) {
  if (rule->kind) return LAMELLA_OK;  // of Python, which calls add_policy
  return guarded([&]() -> lamella_status {
    static auto* numbers = new std::map<lamella_handle, int64_t>;  // called under the registry's lock alone
    if (there) {
      (*numbers)[handle] = add_policy(rule->op, static_cast<const char*>(rule->payload));
    } else if (auto found = numbers->find(handle); found != numbers->end()) {
      remove_policy(found->second);
      numbers->erase(found);
    }
    return LAMELLA_OK;
  });
}

}  // namespace

std::vector<Part> read_policy(const std::string& op, const std::string& text) {
  std::vector<Part> parts;
  for (size_t begin = 0, end; begin <= text.size(); begin = end + 1) {
    end = std::min(text.find(';', begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    const size_t colon = one.find(':');
    Part p{colon == std::string::npos ? "" : trimmed(one.substr(0, colon)), keep, ""};
    std::string name = trimmed(colon == std::string::npos ? one : one.substr(colon + 1));
    if (name.rfind("refuse ", 0) == 0) {
      p.instead = trimmed(name.substr(7));
      name = "refuse";
    }
    int32_t dtype = 0;
    while (p.action <= refuse && words[p.action] != name) p.action++;
    if (p.action > refuse) {
      if (api().find_dtype(name.c_str(), &dtype)) {
        api().error_clear();
        throw Error(LAMELLA_VALUE_ERROR, "the policy of " + op + " for autocast, '" + text + "': '" + name +
                                             "' is none of lower, keep, widest, promote, refuse, nor a dtype");
      }
      p.action = static_cast<uint16_t>(to_dtype + dtype);
    }
    parts.push_back(p);
  }
  return parts;
}

std::string policy_text(const lamella_operator* op) {
  std::unique_ptr<Chosen> c;
  {
    const std::lock_guard<std::mutex> guard(lock);
    c = choose(op, known()[full_name(op)].rules);
  }
  if (!casts(*c)) return "";
  std::string text;
  for (const Part& p : c->named) text += p.device + ": " + text_of(p) + "; ";
  if (c->host.action != c->others.action) text += "host: " + text_of(c->host) + "; ";
  return text + text_of(c->others);
}

int64_t add_policy(const std::string& op, const std::string& text) {
  std::vector<Part> parts = read_policy(op, text);
  const std::lock_guard<std::mutex> guard(lock);
  Known& k = known()[op];
  k.rules.push_back({++last_number, text, std::move(parts)});
  renew(k);
  return last_number;
}

void remove_policy(int64_t number) {
  const std::lock_guard<std::mutex> guard(lock);
  for (auto& [name, k] : known()) {
    const size_t n = k.rules.size();
    k.rules.erase(std::remove_if(k.rules.begin(), k.rules.end(), [&](const Rule& r) { return r.number == number; }),
                  k.rules.end());
    if (k.rules.size() != n) return renew(k);
  }
}

void* prepare(void*, const lamella_operator* op, const void*) {
  try {
    const std::lock_guard<std::mutex> guard(lock);
    Known& k = known()[full_name(op)];
    k.op = op;
    renew(k);
    return &k.policy;
  } catch (...) {
    return nullptr;
  }
}

void follow_rules(Library& m) {
  if (!m.status()) check(api().on_rule(m.handle(), layer_name, on_rule, nullptr, nullptr));
  static bool followed = false;  // a later load of the plugin must not register again; guarded by the registry's lock
  const auto* dispatcher = static_cast<const lamella_dispatcher*>(api().find_interface("dispatcher", 1));
  if (dispatcher && !std::exchange(followed, true))
    dispatcher->around_fork([] { lock.lock(); }, [] { lock.unlock(); }, [] { lock.unlock(); });
}

}  // namespace lamella::autocast
