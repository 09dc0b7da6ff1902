// The parser of schemas: by recursive descent, with the column in every error.
#include "dispatcher/schema.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>

#include "core/device.h"
#include "core/error.h"
#include "core/fork.h"

namespace lamella::dispatcher {
namespace {

using core::Value;

constexpr int largest_size = 64;  // n of T[n]

const std::map<std::string, Kind>& kinds() {
  static const std::map<std::string, Kind> m = {{"Tensor", Kind::Tensor},       {"Scalar", Kind::Scalar},
                                                {"number", Kind::Scalar},       {"int", Kind::Int},
                                                {"SymInt", Kind::Int},          {"DeviceIndex", Kind::Int},
                                                {"float", Kind::Float},         {"SymFloat", Kind::Float},
                                                {"bool", Kind::Bool},           {"SymBool", Kind::Bool},
                                                {"complex", Kind::Complex},     {"str", Kind::Str},
                                                {"ScalarType", Kind::Dtype},    {"Layout", Kind::Layout},
                                                {"Device", Kind::Device},       {"MemoryFormat", Kind::MemoryFormat},
                                                {"Generator", Kind::Generator}, {"Stream", Kind::Object},
                                                {"Storage", Kind::Object},      {"QScheme", Kind::Int},
                                                {"Dimname", Kind::Str}};
  return m;
}

const std::map<std::string, Value>& words() {  // words that may be defaults of any type
  static const std::map<std::string, Value> m = {
      {"None", core::none()},
      {"True", core::boolean(true)},
      {"true", core::boolean(true)},
      {"False", core::boolean(false)},
      {"false", core::boolean(false)},
      {"contiguous_format", {LAMELLA_MEMORY_FORMAT, 0, {LAMELLA_CONTIGUOUS_FORMAT}}},
      {"preserve_format", {LAMELLA_MEMORY_FORMAT, 0, {LAMELLA_PRESERVE_FORMAT}}},
      {"channels_last", {LAMELLA_MEMORY_FORMAT, 0, {LAMELLA_CHANNELS_LAST}}},
      {"strided", {LAMELLA_LAYOUT, 0, {0}}},
      {"Mean", core::integer(1)},
      {"Sum", core::integer(2)},
      {"inf", core::floating(INFINITY)},
      {"nan", core::floating(NAN)}};
  return m;
}

std::mutex& object_names = core::new_innermost_mutex();

// Returns the one copy of an object type's name; never freed.
const char* object_name(const std::string& word) {
  static auto* names = new std::set<std::string>;
  const std::lock_guard held(object_names);
  return names->insert(word).first->c_str();
}

// Returns whether a word is a type of the grammar. Calls cannot carry values of `others`, except Dict(str, T), nor of
// type variables (lower case). The names of object types are dotted.
bool known_word(const std::string& word) {
  static const std::set<std::string> others = {
      "Any",      "AnyEnumType", "AnyClassType", "Dict",    "Future",    "RRef", "Await",    "Union",
      "Optional", "List",        "Tuple",        "Capsule", "Quantizer", "None", "NoneType", "PyObject"};
  return kinds().count(word) || others.count(word) || word.find('.') != std::string::npos ||
         std::islower(static_cast<unsigned char>(word[0]));
}

class Parser {
 public:
  Parser(const std::string& text, const std::string& ns) : text_(text), ns_(ns) {}

  bool run(Schema& s) {
    if (!operator_name(s)) return false;
    return arguments(s) && expect("->") && returns(s) && (skip(), at_end() || fail("the end of the schema"));
  }

  bool operator_name(Schema& s) {
    s.ns = ns_;
    if (!identifier(s.name)) return false;
    if (accept("::")) {
      s.ns = s.name;
      if (!identifier(s.name)) return false;
    }
    if (accept(".") && !identifier(s.overload)) return false;
    if (s.overload != "default") return true;
    pos_ -= s.overload.size();
    return fail("an overload's name other than 'default', which is the one without a name,");
  }

  std::string error;

 private:
  void skip() {
    while (pos_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[pos_]))) pos_++;
  }
  bool at_end() const { return pos_ >= text_.size(); }
  bool peek(const char* token) {
    skip();
    return text_.compare(pos_, std::char_traits<char>::length(token), token) == 0;
  }
  bool accept(const char* token) {
    if (!peek(token)) return false;
    pos_ += std::char_traits<char>::length(token);
    return true;
  }
  bool fail(const char* wanted) {
    if (error.empty())
      error = core::format("schema: expected %s at column %zu\n  %s\n  %s^", wanted, pos_ + 1, text_.c_str(),
                           std::string(pos_, ' ').c_str());
    return false;
  }
  bool expect(const char* token) { return accept(token) || fail(("'" + std::string(token) + "'").c_str()); }

  bool identifier(std::string& out) {
    skip();
    size_t start = pos_;
    while (!at_end() && (std::isalnum(static_cast<unsigned char>(text_[pos_])) || text_[pos_] == '_')) pos_++;
    if (pos_ == start || std::isdigit(static_cast<unsigned char>(text_[start]))) {
      pos_ = start;
      return fail("a name");
    }
    out = text_.substr(start, pos_ - start);
    return true;
  }

  // (a), (a!), (a|b), (*), (a -> b), (a! -> *)
  bool alias(Alias& a) {
    size_t before = pos_;
    if (!accept("(")) return true;
    if (!alias_set(a.before)) {
      pos_ = before;
      error.clear();
      return true;
    }
    a.write = accept("!");
    a.after = a.before;
    if (accept("->") && !alias_set(a.after)) return false;
    return expect(")");
  }
  bool alias_set(std::string& out) {
    out.clear();
    do {
      std::string one;
      if (accept("*"))
        one = "*";
      else if (!identifier(one))
        return false;
      out += (out.empty() ? "" : "|") + one;
    } while (accept("|"));
    return true;
  }

  bool type(Type& t, Alias& a) {
    skip();
    size_t start = pos_;
    if (accept("(")) {  // a tuple
      Type inner;
      Alias ignored;
      if (!accept(")")) {
        do {
          if (!type(inner, ignored)) return false;
        } while (accept(","));
        if (!expect(")")) return false;
      }
      t.kind = Kind::Any;
    } else {
      std::string word;
      if (!identifier(word)) return false;
      while (peek(".") && !peek("...")) {  // __torch__.torch.classes.ns.Name
        std::string more;
        accept(".");
        if (!identifier(more)) return false;
        word += "." + more;
      }
      if (!known_word(word)) {
        pos_ = start;
        return fail(("a type, not '" + word + "',").c_str());
      }
      auto it = kinds().find(word);
      t.kind = it != kinds().end() ? it->second : word.find('.') != std::string::npos ? Kind::Object : Kind::Any;
      if (t.kind == Kind::Generator || t.kind == Kind::Object) t.object = object_name(word);
      bool generic = word == "Dict" || word == "Future" || word == "RRef" || word == "Await" || word == "Union" ||
                     word == "Optional" || word == "List";
      const char *open = peek("[") ? "[" : "(", *close = *open == '[' ? "]" : ")";
      if (generic && accept(open)) {
        std::vector<Type> inner;
        do {
          Alias ignored;
          if (!type(inner.emplace_back(), ignored)) return false;
        } while (accept(","));
        if (!expect(close)) return false;
        const auto plain = [](const Type& t) { return !t.list && !t.optional; };
        if (word == "Dict" && inner.size() == 2 && inner[0].kind == Kind::Str && plain(inner[0]) && plain(inner[1])) {
          t.kind = Kind::Dict;
          t.of_values = inner[1].kind;
        }
      }
    }
    t.text = text_.substr(start, pos_ - start);
    t.text.erase(t.text.find_last_not_of(" \n\t") + 1);  // peek() may have skipped spaces
    if (!alias(a)) return false;
    return suffixes(t, a);
  }

  bool suffixes(Type& t, Alias& a) {
    for (;;) {
      if (accept("?")) {
        t.optional = true;
        t.text += "?";
      } else if (accept("[")) {
        if (t.list) t.kind = Kind::Any;  // a list of lists
        t.optional_elements = t.optional;
        t.optional = false;
        t.list = true;
        t.text += "[";
        skip();
        size_t start = pos_;
        if (!fixed_size(t)) return false;
        t.text += text_.substr(start, pos_ - start) + "]";
        if (!expect("]")) return false;
        if (peek("(") && !a.present() && !alias(a)) return false;
      } else {
        return true;
      }
    }
  }

  bool fixed_size(Type& t) {
    const size_t start = pos_;
    int64_t size = -1;
    for (; !at_end() && std::isdigit(static_cast<unsigned char>(text_[pos_])); pos_++)
      size = std::min<int64_t>(std::max<int64_t>(size, 0) * 10 + (text_[pos_] - '0'), largest_size + 1);
    t.list_size = static_cast<int32_t>(size);
    if (size <= largest_size) return true;
    pos_ = start;
    return fail(("a size up to " + std::to_string(largest_size)).c_str());
  }

  bool literal(Argument& arg) {
    skip();
    size_t start = pos_;
    Value v = core::none();
    bool ok = literal_value(arg.type, v);
    if (ok && arg.type.list && arg.type.list_size > 0 && core::is_number(v))  // int[2] stride=1 means [1, 1]
      ok = list_of(arg.type, std::vector<Value>(arg.type.list_size, v), &v);
    arg.value = core::OwnedValue::adopt(v);
    arg.default_text = text_.substr(start, pos_ - start);
    arg.has_default = true;
    return ok;
  }

  bool number(Value& v) {
    skip();
    const char* begin = text_.c_str() + pos_;
    char *end, *whole_end;
    const double d = std::strtod(begin, &end);
    if (end == begin) return fail("a number");
    errno = 0;
    const int64_t i = std::strtoll(begin, &whole_end, 10);
    const bool whole = std::string(begin, end - begin).find_first_of(".eEnN") == std::string::npos;
    if (whole && (errno == ERANGE || whole_end != end)) return fail("a decimal integer of 64 bits");
    v = whole ? core::integer(i) : core::floating(d);
    pos_ += end - begin;
    return true;
  }

  // Parses a default into `v`, which the caller then owns.
  bool literal_value(const Type& t, Value& v) {
    skip();
    if (peek("\"") || peek("'")) {
      char quote = text_[pos_++];
      std::string s;
      while (!at_end() && text_[pos_] != quote) {
        if (text_[pos_] == '\\' && pos_ + 1 < text_.size()) pos_++;
        s += text_[pos_++];
      }
      if (at_end()) return fail("the closing quote");
      pos_++;
      if (t.kind == Kind::Device && !t.list) return device_literal(s, v);
      v = core::retain_value(core::string_value(s.c_str()));
      return true;
    }
    if (accept("[")) return list_literal(t, v);
    if (std::isalpha(static_cast<unsigned char>(text_[pos_]))) {
      size_t start = pos_;
      std::string word;
      if (!identifier(word)) return false;
      if (words().count(word))
        v = words().at(word);
      else if (t.kind == Kind::Dtype && core::dtype_from_name(word.c_str()) != LAMELLA_NO_DTYPE)
        v = core::dtype_value(core::dtype_from_name(word.c_str()));
      else {
        pos_ = start;
        return fail("a default value");
      }
      return true;
    }
    if (!number(v)) return false;
    if (t.kind == Kind::Float && v.tag == LAMELLA_INT) v = core::floating(static_cast<double>(v.as.i));
    return true;
  }

  bool device_literal(const std::string& text, Value& v) {
    std::string name;
    lamella_device d;
    d.backend = core::split_device(text, &name, &d.index) ? core::backend_id(name.c_str()) : -1;
    d.index = std::max(d.index, 0);
    if (d.backend < 0) return fail(("a registered device, not '" + text + "',").c_str());
    v = core::device_value(d);
    return true;
  }

  bool list_literal(const Type& t, Value& v) {
    std::vector<Value> elements;
    if (!accept("]")) {
      do {
        if (peek("[") || ((peek("\"") || peek("'")) && t.kind != Kind::Str)) return fail("a number");
        if (!literal_value(Type{}, elements.emplace_back())) return release(elements);
      } while (accept(","));
      if (!expect("]")) return release(elements);
    }
    const bool made = list_of(t, elements, &v);
    release(elements);
    return made;
  }

  static bool release(std::vector<Value>& elements) {
    for (Value& v : elements) core::release_value(v);
    return false;
  }

  bool list_of(const Type& t, const std::vector<Value>& elements, Value* v) {
    const auto all = [&](std::initializer_list<uint32_t> tags) {
      return std::all_of(elements.begin(), elements.end(),
                         [&](const Value& v) { return std::find(tags.begin(), tags.end(), v.tag) != tags.end(); });
    };
    std::vector<int64_t> ints;
    std::vector<double> doubles;
    std::vector<uint8_t> bools;
    for (const Value& v : elements) {
      ints.push_back(v.as.i);
      doubles.push_back(core::as_double(v));
      bools.push_back(static_cast<uint8_t>(v.as.i));
    }
    Value list{LAMELLA_TENSOR_LIST, static_cast<uint32_t>(elements.size()), {0}};
    if (t.kind == Kind::Str || t.kind == Kind::Scalar || t.kind == Kind::Complex ||
        (t.optional_elements && t.kind != Kind::Tensor)) {
      *v = core::retain_value(core::value_list(elements.data(), static_cast<int64_t>(elements.size())));
      return true;
    }
    if (t.kind == Kind::Float && all({LAMELLA_INT, LAMELLA_FLOAT})) {
      list.tag = LAMELLA_FLOAT_LIST;
      list.as.doubles = doubles.data();
    } else if (t.kind == Kind::Bool && all({LAMELLA_BOOLEAN})) {
      list.tag = LAMELLA_BOOL_LIST;
      list.as.bools = bools.data();
    } else if (t.kind != Kind::Tensor && all({LAMELLA_INT})) {
      list.tag = LAMELLA_INT_LIST;
      list.as.ints = ints.data();
    } else if (!elements.empty()) {
      return fail(("elements of " + t.text).c_str());
    }
    *v = core::retain_value(list);
    return true;
  }

  bool arguments(Schema& s) {
    if (!expect("(")) return false;
    bool keyword_only = false;
    if (accept(")")) return true;
    do {
      if (accept("...")) {
        s.variadic_args = true;
        continue;
      }
      if (accept("*")) {
        keyword_only = true;
        continue;
      }
      Argument a;
      a.keyword_only = keyword_only;
      if (!type(a.type, a.alias) || !identifier(a.name)) return false;
      if (peek("[") && accept("[")) {  // the older spelling: int name[2]
        a.type.list = true;
        skip();
        if (!fixed_size(a.type) || !expect("]")) return false;
      }
      if (accept("=") && !literal(a)) return false;
      if (a.has_default && a.value.tag == LAMELLA_NONE && !a.type.optional && a.type.kind != Kind::Any)
        a.type.optional = true;
      a.is_out = keyword_only && a.alias.write;
      for (const Argument& other : s.args)
        if (other.name == a.name)
          return fail(("an argument name other than '" + a.name + "', which is taken,").c_str());
      s.args.push_back(std::move(a));
    } while (accept(","));
    return expect(")");
  }

  bool one_return(Schema& s) {
    if (accept("...")) {
      s.variadic_rets = true;
      return true;
    }
    Return r;
    if (!type(r.type, r.alias)) return false;
    skip();
    if (!at_end() && (std::isalpha(static_cast<unsigned char>(text_[pos_])) || text_[pos_] == '_') &&
        !identifier(r.name))
      return false;
    s.rets.push_back(std::move(r));
    return true;
  }

  bool returns(Schema& s) {
    if (!accept("(")) return one_return(s);
    if (accept(")")) return true;
    do {
      if (!one_return(s)) return false;
    } while (accept(","));
    return expect(")");
  }

  const std::string& text_;
  const std::string& ns_;
  size_t pos_ = 0;
};

}  // namespace

lamella_status parse_schema(const std::string& text, const std::string& ns, Schema* out) {
  Parser p(text, ns);
  if (!p.run(*out)) return core::raise(LAMELLA_VALUE_ERROR, p.error);
  if (out->rets.size() > LAMELLA_MAX_RETURNS)
    return core::raise(LAMELLA_VALUE_ERROR, core::format("schema: %s has %zu returns, at most %d are supported",
                                                         out->name.c_str(), out->rets.size(), LAMELLA_MAX_RETURNS));
  return LAMELLA_OK;
}

lamella_status parse_name(const std::string& text, const std::string& default_ns, std::string* ns, std::string* name,
                          std::string* overload) {
  Schema s;
  Parser p(text, default_ns);
  if (!p.operator_name(s)) return core::raise(LAMELLA_VALUE_ERROR, p.error);
  *ns = s.ns;
  *name = s.name;
  *overload = s.overload;
  return LAMELLA_OK;
}

}  // namespace lamella::dispatcher
