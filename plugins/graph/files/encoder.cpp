// Writes the parts of an index.
#include "files/encoder.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "signatures/builtins.h"

namespace lamella::graph::files {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Error(LAMELLA_TYPE_ERROR, "save: " + what); }

std::string float_text(double x) {
  char text[32];
  std::string out(text, std::to_chars(text, text + sizeof text, x).ptr);
  return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;  // else it would be read as an int
}

std::string bits_text(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(bits));
  return text;
}

std::string list_text(const int64_t* all, int32_t n) {
  std::string out = "[";
  for (int32_t i = 0; i < n; i++) out += (i ? "," : "") + std::to_string(all[i]);
  return out + "]";
}

bool is_host(int32_t backend) {
  const lamella_backend* b = api().backend_description(backend);
  return b && (b->flags & LAMELLA_BACKEND_HOST);
}

bool is_plain(const Dict& d) {
  for (const Dict::Entry& e : d.entries())
    if (e.key.tag != LAMELLA_STRING || text_of(e.key).substr(0, 1) == "$") return false;
  return true;
}

}  // namespace

void append_text(std::string* to, std::string_view text) {
  *to += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      *to += '\\';
      *to += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      *to += code;
    } else {
      *to += c;
    }
  }
  *to += '"';
}

void Encoder::append_copy(std::string* to, const Json& json, Tensors* from) {
  if (json.is_null()) {
    *to += "null";
  } else if (const bool* x = std::get_if<bool>(&json.value)) {
    *to += *x ? "true" : "false";
  } else if (const int64_t* x = std::get_if<int64_t>(&json.value)) {
    *to += std::to_string(*x);
  } else if (const uint64_t* x = std::get_if<uint64_t>(&json.value)) {
    *to += std::to_string(*x);
  } else if (const double* x = std::get_if<double>(&json.value)) {
    *to += float_text(*x);
  } else if (const std::string* x = json.text()) {
    append_text(to, *x);
  } else if (const Json::List* all = json.list()) {
    *to += '[';
    for (size_t i = 0; i < all->size(); i++) {
      if (i) *to += ',';
      append_copy(to, (*all)[i], from);
    }
    *to += ']';
  } else {
    *to += '{';
    const Json::Object& members = *json.object();
    for (size_t i = 0; i < members.size(); i++) {
      if (i) *to += ',';
      append_text(to, members[i].name);
      *to += ':';
      if (from && members.size() == 1 && members[i].name == "$tensor")
        *to += std::to_string(tensor(from->tensor(members[i].value).get()));
      else
        append_copy(to, members[i].value, from);
    }
    *to += '}';
  }
}

void Encoder::number(std::string* to, double x) {
  *to += std::isfinite(x) ? float_text(x) : "{\"$float\":\"" + bits_text(x) + "\"}";
}

void Encoder::append(std::string* to, const lamella_value& v) {
  switch (v.tag) {
    case LAMELLA_NONE:
      *to += "null";
      return;
    case LAMELLA_BOOLEAN:
      *to += v.as.i ? "true" : "false";
      return;
    case LAMELLA_INT:
      *to += std::to_string(v.as.i);
      return;
    case LAMELLA_FLOAT:
      return number(to, v.as.d);
    case LAMELLA_COMPLEX:
      *to += "{\"$complex\":[";
      number(to, v.as.doubles[0]);
      *to += ',';
      number(to, v.as.doubles[1]);
      *to += "]}";
      return;
    case LAMELLA_STRING:
      return append_text(to, text_of(v));
    case LAMELLA_DTYPE:
      *to += "{\"$dtype\":";
      append_text(to, api().dtype_info(static_cast<int32_t>(v.as.i))->name);
      *to += '}';
      return;
    case LAMELLA_DEVICE:
      *to += "{\"$device\":";
      append_text(to, Device(v.as.device).str());
      *to += '}';
      return;
    case LAMELLA_LAYOUT:
      *to += "{\"$layout\":\"strided\"}";
      return;
    case LAMELLA_MEMORY_FORMAT:
      *to += "{\"$memory_format\":";
      append_text(to, word_of_memory_format(v.as.i));
      *to += '}';
      return;
    case LAMELLA_TENSOR:
      *to += "{\"$tensor\":" + std::to_string(tensor(v.as.tensor)) + "}";
      return;
    case LAMELLA_OBJECT:
      return container(to, v);
    default:
      refuse("a value with the tag " + std::to_string(v.tag) + " is none that a file holds");
  }
}

void Encoder::container(std::string* to, const lamella_value& v) {
  const bool is_instance = is_object(v, instance_type);
  if (!is_instance && !is_object(v, list_type) && !is_object(v, tuple_type) && !is_object(v, dict_type))
    refuse("a generator or a future is none that a file holds");
  if (is_object(v, tuple_type) && tuple_of(v).items.empty()) {
    *to += "{\"$tuple\":[]}";
    return;
  }
  const auto [place, is_new] = containers_.emplace(v.as.object, -1);
  if (!is_new && place->second < 0) refuse("a value contains itself; a file holds no cycles");
  if (!is_new && is_instance) {
    *to += "{\"$same\":" + std::to_string(place->second) + "}";
    return;
  }
  place->second = -1;
  if (is_instance) {
    instance(to, v);
  } else if (is_object(v, dict_type)) {
    dict(to, dict_of(v));
  } else {
    const bool is_list = is_object(v, list_type);
    *to += is_list ? "" : "{\"$tuple\":";
    items(to, is_list ? list_of(v).items : tuple_of(v).items);
    *to += is_list ? "" : "}";
  }
  containers_[v.as.object] = count_++;
}

void Encoder::items(std::string* to, const std::vector<lamella_value>& all) {
  *to += '[';
  for (size_t i = 0; i < all.size(); i++) {
    if (i) *to += ',';
    append(to, all[i]);
  }
  *to += ']';
}

void Encoder::dict(std::string* to, const Dict& d) {
  const bool plain = is_plain(d);
  bool first = true;
  *to += plain ? "{" : "{\"$dict\":[";
  for (const Dict::Entry& e : d.entries()) {
    if (!std::exchange(first, false)) *to += ',';
    if (!plain) *to += '[';
    if (e.key.tag == LAMELLA_OBJECT) refuse("a key of a dict is an object, which no file holds as a key");
    append(to, e.key);
    *to += plain ? ':' : ',';
    append(to, e.value);
    if (!plain) *to += ']';
  }
  *to += plain ? "}" : "]}";
}

void Encoder::instance(std::string* to, const lamella_value& v) {
  const Instance& self = instance_of(v);
  *to += "{\"$object\":";
  append_text(to, self.type->name);
  *to += ",\"attributes\":[";
  for (size_t i = 0; i < self.attributes.size(); i++) {
    *to += i ? ",[" : "[";
    append_text(to, self.type->attributes[i].first);
    *to += ',';
    append(to, self.attributes[i]);
    *to += ']';
  }
  *to += "]}";
}

// ---- tensors ----

size_t Encoder::tensor(lamella_tensor* t) {
  const auto found = tensors_.find(t);
  if (found != tensors_.end()) return found->second;
  if (t->flags & LAMELLA_OPAQUE) refuse("an opaque tensor is none that programs without Python save");
  const std::string record = record_of(t);
  if (!kept_.empty()) records_ += ',';
  records_ += record;
  const size_t n = kept_.size();
  kept_.push_back(Tensor::borrow(t));
  return tensors_[t] = n;
}

std::string Encoder::record_of(lamella_tensor* t) {
  std::string out = "[" + std::to_string(storage(t)) + ",";
  append_text(&out, api().dtype_info(t->dtype)->name);
  out += "," + list_text(t->dl.shape, t->dl.ndim) + ",";
  out += t->flags & LAMELLA_CONTIGUOUS ? "null" : list_text(t->dl.strides, t->dl.ndim);
  out += "," + std::to_string(t->storage_offset);
  const lamella_autograd* a = Tensor::autograd();
  const bool requires_grad = a && a->requires_grad(t) && a->is_leaf(t), parameter = parameters_.count(t) != 0;
  if (requires_grad || parameter) {
    out += ",{";
    if (requires_grad) out += "\"plugins\":[[\"requires_grad\",true]]";
    if (parameter) out += requires_grad ? ",\"class\":\"parameter\"" : "\"class\":\"parameter\"";
    out += "}";
  }
  return out + "]";
}

size_t Encoder::storage(lamella_tensor* t) {
  const auto [found, is_new] = numbers_.emplace(t->storage, storages_.size());
  if (is_new) {
    storages_.push_back(t->storage);
    const int64_t size = api().storage_bytes(t->storage);
    lamella_tensor* flat = nullptr;
    check(api().tensor_over(t->storage, 1, &size, nullptr, 0, LAMELLA_UINT8, &flat));
    over_.push_back(Tensor::steal(flat));
  }
  return found->second;
}

std::string Encoder::storages_text() const {
  std::string out = "[";
  for (size_t i = 0; i < over_.size(); i++) {
    out += (i ? ",[" : "[") + std::to_string(over_[i].numel()) + ",";
    append_text(&out, over_[i].device().str());
    out += "]";
  }
  return out + "]";
}

Tensor Encoder::bytes_of(size_t storage) const {
  const Tensor& flat = over_[storage];
  if (flat.is_meta()) return {};
  if (is_host(flat.get()->backend)) return flat;
  int32_t host = 0;
  while (!is_host(host)) host++;  // one is loaded, since the file's members became tensors
  const lamella_value args[] = {value(flat), value(Device(lamella_device{host, 0}))};
  lamella_value made = none();
  check(api().call(nullptr, api().find_operator("aten::to", "device"), args, 2, &made, 1));
  return Tensor::steal(made.as.tensor);
}

}  // namespace lamella::graph::files
