#include "dispatcher/layer.h"

#include <algorithm>

#include "core/error.h"
#include "core/thread.h"
#include "dispatcher/registry_lock.h"

namespace lamella::dispatcher {

std::atomic<uint64_t> inside_layers{0}, alias_layers{0}, process_layers{0}, tensor_layers{0}, marked_layers{0},
    layers_not_in_backward{0};

namespace {

Layer layers[LAMELLA_MAX_LAYERS];
int32_t included[LAMELLA_MAX_LAYERS];  // how many inclusions each layer has
uint64_t births[LAMELLA_MAX_LAYERS];   // how often a layer was registered with each bit
// The number of the change by which a bit was given to a name; 0: the bit is free. Bit 0 belongs to the dispatcher.
uint64_t given[LAMELLA_MAX_LAYERS] = {1};
std::atomic<uint64_t> gifts{1};  // the number of the last change: a bit was given or became free

const Band* find_band(const std::string& name) {
  for (const Band& b : bands())
    if (name == b.name) return &b;
  return nullptr;
}

std::vector<std::string> names(const char* const* list) {
  std::vector<std::string> v;
  for (; list && *list; list++) v.emplace_back(*list);
  return v;
}

bool contains(const std::vector<std::string>& v, const std::string& s) {
  return std::find(v.begin(), v.end(), s) != v.end();
}

// The ranks from `low` to `high`, both included, that the wishes allow, with the wish that set each end.
struct Range {
  int32_t low = 0, high = LAMELLA_MAX_LAYERS - 1;
  std::string low_reason, high_reason;
  void above(int32_t bit, std::string why) {
    if (bit + 1 > low) {
      low = bit + 1;
      low_reason = std::move(why);
    }
  }
  void below(int32_t bit, std::string why) {
    if (bit - 1 < high) {
      high = bit - 1;
      high_reason = std::move(why);
    }
  }
};

// `within`: the layer must stay in its anchor's band; else it may take bits of other bands.
lamella_status gather_wishes(const Layer& l, bool within, Range& r) {
  if (!l.at.empty()) {
    const Band* b = find_band(l.at);
    if (!b)
      return core::raise(LAMELLA_VALUE_ERROR,
                         "layer " + l.name + ": there is no anchor '" + l.at +
                             "'; the anchors are modes, profiler, names, autocast, autograd, backend");
    if (within) {
      r.above(b->low - 1, "at anchor " + l.at);
      r.below(b->high + 1, "at anchor " + l.at);
    }
  }
  for (const std::string& n : l.outside)
    if (const Band* b = find_band(n)) r.above(b->high, l.name + " wants to be outside anchor " + n);
  for (const std::string& n : l.inside)
    if (const Band* b = find_band(n)) r.below(b->low, l.name + " wants to be inside anchor " + n);
  // Returns whether a wish names the layer `o` or its anchor: the layer may have a bit outside the anchor's band.
  const auto wants = [](const std::vector<std::string>& wishes, const Layer& o) {
    return contains(wishes, o.name) || (!o.at.empty() && o.at != o.name && contains(wishes, o.at));
  };
  for (int32_t i = 0; i < LAMELLA_MAX_LAYERS; i++) {
    const Layer& o = layers[i];
    if (!given[i] || !o.live) continue;
    std::string by = " (" + o.owner + ")";
    if (l.band >= 0 && o.band >= 0 && o.band != l.band) {
      const std::string why = l.name + " at anchor " + l.at + " beside " + o.name + " at anchor " + o.at + by;
      o.band > l.band ? r.above(i, why) : r.below(i, why);
    }
    if (wants(l.outside, o)) r.above(i, l.name + " wants to be outside " + o.name + by);
    if (wants(l.inside, o)) r.below(i, l.name + " wants to be inside " + o.name + by);
    if (wants(o.inside, l)) r.above(i, o.name + by + " wants to be inside " + l.name);
    if (wants(o.outside, l)) r.below(i, o.name + by + " wants to be outside " + l.name);
  }
  return LAMELLA_OK;
}

std::string neighbours(int32_t low, int32_t high) {
  std::string s;
  for (int32_t i = std::min(high, LAMELLA_MAX_LAYERS - 1); i >= std::max(low, 0); i--)
    if (given[i] && !layers[i].name.empty()) s += (s.empty() ? "" : ", ") + layers[i].name;
  return s.empty() ? "none" : s;
}

// The bits that a new layer cannot get: those that are given, and those that a thread still includes, since the layer
// that had the bit was not switched off there.
uint64_t taken_bits(const core::LayersOfThreads& of_threads) {
  uint64_t taken = of_threads.included;
  for (int32_t i = 0; i < LAMELLA_MAX_LAYERS; i++) taken |= uint64_t{given[i] != 0} << i;
  return taken;
}

// The middle of the widest free gap within [low, high]; -1 if every bit is taken.
int32_t pick(int32_t low, int32_t high, uint64_t taken) {
  int32_t best = -1, width = 0;
  for (int32_t i = low; i <= high;) {
    if (taken >> i & 1) {
      i++;
      continue;
    }
    int32_t j = i;
    while (j <= high && !(taken >> j & 1)) j++;
    if (j - i >= width) {
      width = j - i;
      best = i + (j - i - 1) / 2;
    }
    i = j;
  }
  return best;
}

// The free bit within [low, high] that is nearest to a band; -1 if every bit is taken.
int32_t nearest(int32_t low, int32_t high, const Band& band, uint64_t taken) {
  int32_t best = -1, least = LAMELLA_MAX_LAYERS;
  for (int32_t i = low; i <= high; i++) {
    const int32_t away = i < band.low ? band.low - i : i - band.high;
    if (!(taken >> i & 1) && away < least) {
      least = away;
      best = i;
    }
  }
  return best;
}

void publish_flags() {
  uint64_t inside = 0, alias = 0, not_in_backward = 0;
  for (int32_t i = 0; i < LAMELLA_MAX_LAYERS; i++) {
    if (!given[i] || !layers[i].live) continue;
    if (layers[i].flags & LAMELLA_LAYER_INSIDE) inside |= uint64_t{1} << i;
    if (layers[i].flags & LAMELLA_LAYER_FOLLOWS_ALIAS) alias |= uint64_t{1} << i;
    if (layers[i].flags & LAMELLA_LAYER_NOT_IN_BACKWARD) not_in_backward |= uint64_t{1} << i;
  }
  inside_layers.store(inside);
  alias_layers.store(alias);
  layers_not_in_backward.store(not_in_backward);
}

}  // namespace

const std::vector<Band>& bands() {
  static const std::vector<Band> b = {{"modes", 54, 63},    {"profiler", 44, 53}, {"names", 34, 43},
                                      {"autocast", 23, 33}, {"autograd", 11, 22}, {"backend", 1, 10}};
  return b;
}

lamella_status add_layer(const lamella_layer& desc, const std::string& owner, int32_t* bit) {
  Layer l;
  l.name = desc.name;
  l.owner = owner;
  if (desc.at) l.at = desc.at;
  l.outside = names(desc.outside);
  l.inside = names(desc.inside);
  l.flags = desc.flags;
  l.kernel_flags = desc.kernel_flags;
  l.fallback = desc.fallback;
  l.context = desc.context;
  l.rule = desc.rule;
  l.prepare = desc.prepare;
  l.live = true;
  for (size_t i = 0; i < bands().size(); i++)
    if (l.at == bands()[i].name) l.band = static_cast<int32_t>(i);
  if (find_band(l.name) && l.at != l.name)
    return core::raise(
        LAMELLA_VALUE_ERROR,
        "layer: '" + l.name + "' is the name of an anchor; name the layer otherwise, or wish at='" + l.name + "'");
  if (!l.fallback && !(l.flags & (LAMELLA_LAYER_FALLTHROUGH | LAMELLA_LAYER_DECOMPOSE)))
    return core::raise(LAMELLA_VALUE_ERROR,
                       "layer " + l.name + ": it has no fallback; give one, or declare fallthrough or decompose");
  if (l.flags & LAMELLA_LAYER_PREPARES_ALL && !(l.prepare && l.fallback))
    return core::raise(LAMELLA_VALUE_ERROR,
                       "layer " + l.name + ": LAMELLA_LAYER_PREPARES_ALL needs the functions `prepare` and `fallback`");
  int32_t old = -1, former = -1;  // the bit that is reserved for the name; a free one that it had
  for (int32_t i = 0; i < LAMELLA_MAX_LAYERS; i++)
    if (layers[i].name == l.name) (given[i] ? old : former) = i;
  if (old >= 0 && layers[old].live)
    return core::raise(LAMELLA_RUNTIME_ERROR, "layer: the name '" + l.name + "' is taken by " + layers[old].owner +
                                                  "; " + owner + " cannot register it too");
  Range r;
  if (lamella_status st = gather_wishes(l, true, r)) return st;
  const core::LayersOfThreads of_threads = core::layers_of_threads();
  const uint64_t taken = taken_bits(of_threads);
  int32_t at = old;  // a layer registered again gets its old bit, if it is not another layer's meanwhile
  if (at < 0 && former >= r.low && former <= r.high && !(taken >> former & 1)) at = former;
  // A new layer would be off in each thread that excludes its bit, so other bits are tried first. If none is free, such
  // a bit serves, since most exclusions end with the call that runs.
  if (at < 0) at = pick(r.low, r.high, taken | of_threads.excluded);
  if (at < 0) at = pick(r.low, r.high, taken);
  if (at < 0 && l.band >= 0) {  // no bit is free in the part of the band that its wishes allow
    Range wide;
    gather_wishes(l, false, wide);
    at = nearest(wide.low, wide.high, bands()[l.band], taken);
    if (at >= 0) r = wide;
  }
  if (r.low > r.high)
    return core::raise(LAMELLA_RUNTIME_ERROR, "layer " + l.name + " (" + owner +
                                                  "): 'at', 'outside' and 'inside' contradict: " + r.low_reason +
                                                  ", but " + r.high_reason);
  if (old >= 0 && (old < r.low || old > r.high))
    return core::raise(LAMELLA_RUNTIME_ERROR,
                       core::format("layer %s: bit %d, which it got when it was first registered, does not fit now: %s",
                                    l.name.c_str(), old, (old < r.low ? r.low_reason : r.high_reason).c_str()));
  if (at < 0)
    return core::raise(
        LAMELLA_RUNTIME_ERROR,
        core::format("layer %s: no free bit from %d to %d (%d layers at most in a process); its neighbours there: %s",
                     l.name.c_str(), r.low, r.high, LAMELLA_MAX_LAYERS, neighbours(r.low - 1, r.high + 1).c_str()));
  if (old < 0) {
    given[at] = gifts.fetch_add(1) + 1;
    marked_layers.fetch_and(~(uint64_t{1} << at));
    for (Layer& other : layers)
      if (&other != &layers[at] && other.name == l.name) other = {};  // a free bit's record of a former layer
  }
  births[at]++;
  layers[at] = std::move(l);
  if (!(layers[at].flags & LAMELLA_LAYER_NEVER_ON_TENSORS)) tensor_layers.fetch_or(uint64_t{1} << at);
  publish_flags();
  *bit = at;
  return LAMELLA_OK;
}

void remove_layer(int32_t bit) {
  layers[bit].live = false;
  included[bit] = 0;
  process_layers.fetch_and(~(uint64_t{1} << bit));
  // A thread that marks the bit writes marked_layers and then reads tensor_layers; here it is the other way round, so that
  // one of the two sees the other.
  const uint64_t own = uint64_t{1} << bit;
  const uint64_t had = tensor_layers.fetch_and(~own) & own;
  if (had && (marked_layers.load() & own)) {
    tensor_layers.fetch_or(own);
  } else {  // no tensor has the bit
    given[bit] = 0;
    gifts.fetch_add(1);
    Layer free;
    free.name = std::move(layers[bit].name);  // the name gets the bit again if it is still free then
    layers[bit] = std::move(free);
  }
  publish_flags();
}

Inclusion include_in_process(int32_t bit) {
  included[bit]++;
  process_layers.fetch_or(uint64_t{1} << bit);
  return {bit, births[bit]};
}

void end_inclusion(const Inclusion& i) {
  if (births[i.bit] != i.birth || !layers[i.bit].live) return;  // the inclusions ended with the layer
  if (--included[i.bit] == 0) process_layers.fetch_and(~(uint64_t{1} << i.bit));
}

uint64_t last_gift() { return gifts.load(std::memory_order_acquire); }

uint64_t bits_given_since(uint64_t gift) {
  if (last_gift() == gift) return 0;
  RegistryLock lock;
  uint64_t bits = 0;
  for (int32_t i = 1; i < LAMELLA_MAX_LAYERS; i++) bits |= uint64_t{!given[i] || given[i] > gift} << i;
  return bits;
}

lamella_status mark_layers(const char* entry, uint64_t set, uint64_t clear) {
  uint64_t unknown = (set | clear) & ~tensor_layers.load();
  if (unknown == 0) {
    marked_layers.fetch_or(set);
    unknown = set & ~tensor_layers.load();  // a layer may have been withdrawn before the mark was there
    if (unknown) {
      RegistryLock lock;
      marked_layers.fetch_and(~(unknown & ~tensor_layers.load()));
    }
  }
  if (unknown == 0) return LAMELLA_OK;
  return core::raise(LAMELLA_VALUE_ERROR, core::format("%s: no layer has the bits 0x%llx of 0x%llx", entry,
                                                       (unsigned long long)unknown, (unsigned long long)(set | clear)));
}

lamella_status check_layer_bit(const char* entry, const char* whose, int32_t bit) {
  if (bit > 0 && bit < LAMELLA_MAX_LAYERS) {
    if (tensor_layers.load() >> bit & 1) marked_layers.fetch_or(uint64_t{1} << bit);
    if (tensor_layers.load() >> bit & 1) return LAMELLA_OK;
  }
  return core::raise(LAMELLA_VALUE_ERROR,
                     core::format("%s: '%s' names the bit %d, which no layer of tensors has", entry, whose, bit));
}

const Layer* layer(int32_t bit) { return bit >= 0 && bit < LAMELLA_MAX_LAYERS && given[bit] ? &layers[bit] : nullptr; }

int32_t layer_bit(const std::string& name) {
  for (int32_t i = 0; i < LAMELLA_MAX_LAYERS; i++)
    if (given[i] && layers[i].live && layers[i].name == name) return i;
  return -1;
}

}  // namespace lamella::dispatcher
