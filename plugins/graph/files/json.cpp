// Reads JSON by the events of nlohmann's parser, which needs no stack for nested values.
#include "files/json.h"

#include <nlohmann/json.hpp>

#include <unordered_map>

namespace lamella::graph::files {
namespace {

constexpr size_t most_depth = 500;

class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Json root;

  bool null() override { return add({}); }
  bool boolean(bool x) override { return add({x}); }
  bool number_integer(int64_t x) override { return add({x}); }
  bool number_unsigned(uint64_t x) override {
    if (x > INT64_MAX) return add({x});
    return add({static_cast<int64_t>(x)});
  }
  bool number_float(double x, const std::string&) override { return add({x}); }
  bool string(std::string& x) override { return add({std::move(x)}); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool key(std::string& name) override {
    std::get<Json::Object>(open_.back()->value).push_back({std::move(name), {}});
    return true;
  }
  bool start_object(size_t) override { return begin({Json::Object()}); }
  bool start_array(size_t) override { return begin({Json::List()}); }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool end_object() override {
    keep_last(std::get<Json::Object>(open_.back()->value));
    open_.pop_back();
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception& e) override {
    throw Damage("it is no JSON: " + std::string(e.what()));
  }

 private:
  bool add(Json x) {
    place() = std::move(x);
    return true;
  }
  bool begin(Json x) {
    if (open_.size() == most_depth) throw Damage("it is nested too deeply");
    Json& to = place();
    to = std::move(x);
    open_.push_back(&to);  // stays there: nothing is added to the containers around it before it ends
    return true;
  }
  // Returns where the next value belongs.
  Json& place() {
    if (open_.empty()) return root;
    if (auto* list = std::get_if<Json::List>(&open_.back()->value)) return list->emplace_back();
    return std::get<Json::Object>(open_.back()->value).back().value;
  }
  // Keeps the last one of several members with one name, at the place of the first.
  static void keep_last(Json::Object& all) {
    if (all.size() < 2) return;
    std::unordered_map<std::string_view, size_t> places;
    places.reserve(all.size());
    size_t kept = 0;
    for (size_t i = 0; i < all.size(); i++) {
      const auto found = places.find(all[i].name);
      if (found != places.end()) {
        all[found->second].value = std::move(all[i].value);
        continue;
      }
      if (kept != i) all[kept] = std::move(all[i]);
      places.emplace(all[kept].name, kept);
      kept++;
    }
    all.resize(kept);
  }

  std::vector<Json*> open_;
};

}  // namespace

Json parse_json(std::string_view text) {
  Builder builder;
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return std::move(builder.root);
}

const Json::List& Json::as_list(std::string_view what) const {
  if (const List* found = list()) return *found;
  throw Damage(std::string(what) + " has to be a list, got " + shown());
}
const Json::Object& Json::as_object(std::string_view what) const {
  if (const Object* found = object()) return *found;
  throw Damage(std::string(what) + " has to be an object, got " + shown());
}
const std::string& Json::as_text(std::string_view what) const {
  if (const std::string* found = text()) return *found;
  throw Damage(std::string(what) + " has to be text, got " + shown());
}
int64_t Json::as_number_of_part() const {
  const int64_t* x = std::get_if<int64_t>(&value);
  if (!x || *x < 0) throw Damage("expected the number of a part, an int of at least 0, got " + shown());
  return *x;
}

const Json* Json::find(std::string_view name) const {
  if (const Object* all = object())
    for (const JsonMember& m : *all)
      if (m.name == name) return &m.value;
  return nullptr;
}
const Json& Json::at(std::string_view name) const {
  if (const Json* found = find(name)) return *found;
  throw Damage("it has no '" + std::string(name) + "'");
}

std::string Json::shown() const {
  if (is_null()) return "null";
  if (const bool* x = std::get_if<bool>(&value)) return *x ? "true" : "false";
  if (const int64_t* x = std::get_if<int64_t>(&value)) return std::to_string(*x);
  if (const uint64_t* x = std::get_if<uint64_t>(&value)) return std::to_string(*x);
  if (const double* x = std::get_if<double>(&value)) return std::to_string(*x);
  if (const std::string* x = text()) return "'" + x->substr(0, 80) + "'";
  return list() ? "a list" : "an object";
}

}  // namespace lamella::graph::files
