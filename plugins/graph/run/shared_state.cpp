#include "run/shared_state.h"

#include <algorithm>
#include <mutex>
#include <new>

#include <lamella/dispatcher.h>
#include <lamella/library.h>

#include "signatures/signature.h"

namespace lamella::graph {
namespace {

const lamella_dispatcher* dispatcher() {
  static const auto* found = static_cast<const lamella_dispatcher*>(api().find_interface("dispatcher", 1));
  return found;
}

std::mutex& mutex() {  // never destroyed, since threads may run programs while the process ends
  static auto& made = *new std::mutex;
  return made;
}

// Returns whether a value of a type may be, or hold, a list or a dictionary.
bool may_hold_container(const Type& t) {
  switch (t.kind) {
    case Kind::list:
    case Kind::dict:
    case Kind::any:
      return true;
    case Kind::optional:
    case Kind::tuple:
    case Kind::future:
      return std::any_of(t.inner.begin(), t.inner.end(), [](const TypePtr& part) { return may_hold_container(*part); });
    default:
      return false;
  }
}

bool is_own(const Value& v) {
  const Node& n = *v.definition;
  return n.is("prim::ListConstruct") || n.is("prim::DictConstruct") || n.is("prim::Constant");
}

struct Writes {
  bool own = false, others = false, forks = false;

  void see(const Block& b) {
    for (const Node* n = b.first(); n != b.end(); n = n->behind) {
      for (const auto& inner : n->blocks) see(*inner);
      forks = forks || n->is("prim::fork");
      others =
          others || n->is("prim::SetAttr") || (n->is("prim::GetAttr") && may_hold_container(*n->outputs.at(0)->type));
      const Signature* s = signature_of(*n);
      if (!s || s->op) continue;  // operators of the registry write the elements of tensors
      for (size_t i = 0; i < n->inputs.size() && i < s->arguments.size(); i++)
        if (s->arguments[i].written) (is_own(*n->inputs[i]) ? own : others) = true;
    }
  }
};

}  // namespace

thread_local bool SharedState::held = false;

void SharedState::take() {
  if (!mutex().try_lock()) wait_outside([](void*) { mutex().lock(); }, nullptr);
  held = true;
}

void SharedState::renew() { new (&mutex()) std::mutex; }

void SharedState::leave() {
  held = false;
  mutex().unlock();
}

void wait_outside(void (*wait)(void*), void* context) {
  const Outside outside;
  if (dispatcher())
    dispatcher()->without_host_lock(wait, context);
  else
    wait(context);
}

bool uses_shared(const Program& p) {
  Writes found;
  for (const auto& [name, graph] : p.graphs) found.see(graph->top());
  return found.others || (found.forks && found.own);
}

}  // namespace lamella::graph
