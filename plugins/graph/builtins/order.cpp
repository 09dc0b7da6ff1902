// The order, the equality and the hashes of values.
#include <algorithm>
#include <cmath>

#include "builtins/arguments.h"

namespace lamella::graph {

namespace {

thread_local int depth = 0;
constexpr int most_levels = 1000;

bool is_real(const lamella_value& v) {
  return v.tag == LAMELLA_INT || v.tag == LAMELLA_FLOAT || v.tag == LAMELLA_BOOLEAN || v.tag == LAMELLA_UINT;
}

Order reversed(Order o) { return o == Order::less ? Order::greater : o == Order::greater ? Order::less : o; }

Order order_of_numbers(const lamella_value& a, const lamella_value& b) {
  if (a.tag == LAMELLA_FLOAT && b.tag == LAMELLA_FLOAT) return order_of(a.as.d, b.as.d);
  if (a.tag == LAMELLA_UINT || b.tag == LAMELLA_UINT) {
    const auto wide = [](const lamella_value& v) {
      return v.tag == LAMELLA_UINT    ? static_cast<long double>(v.as.u)
             : v.tag == LAMELLA_FLOAT ? static_cast<long double>(v.as.d)
                                      : static_cast<long double>(v.as.i);
    };
    return order_of(wide(a), wide(b));
  }
  if (a.tag == LAMELLA_FLOAT) return reversed(order_of(b.as.i, a.as.d));
  return b.tag == LAMELLA_FLOAT ? order_of(a.as.i, b.as.d) : order_of(a.as.i, b.as.i);
}

const std::vector<lamella_value>* ordered_items(const lamella_value& v) {
  if (is_object(v, list_type)) return &list_of(v).items;
  return is_object(v, tuple_type) ? &tuple_of(v).items : nullptr;
}

Order order_of_values(const lamella_value& a, const lamella_value& b, const char* sign) {
  if (is_real(a) && is_real(b)) return order_of_numbers(a, b);
  if (a.tag == LAMELLA_STRING && b.tag == LAMELLA_STRING) {  // bytes of UTF-8 have the order of the characters
    const int c = string_of(a).compare(string_of(b));
    return c < 0 ? Order::less : c > 0 ? Order::greater : Order::equal;
  }
  const auto *x = ordered_items(a), *y = ordered_items(b);
  if (!x || !y || a.as.object->type != b.as.object->type)
    raise(LAMELLA_TYPE_ERROR, detail::text("'", sign, "' not supported between instances of '", type_name(a), "' and '",
                                           type_name(b), "'"));
  const Level level("in a comparison");
  for (size_t i = 0; i < x->size() && i < y->size(); i++)
    if (!equal((*x)[i], (*y)[i])) return order_of_values((*x)[i], (*y)[i], sign);
  return order_of(x->size(), y->size());
}

}  // namespace

Level::Level(const char* what) {
  if (depth >= most_levels)
    raise(LAMELLA_RUNTIME_ERROR,
          detail::text("maximum recursion depth exceeded ", what, ": values are nested in more than ", most_levels,
                       " lists, tuples or dictionaries"));
  depth++;
}
Level::~Level() { depth--; }

Order order_of(int64_t a, double b) {
  if (std::isnan(b)) return Order::none;
  if (b >= 0x1.0p63) return Order::less;
  if (b < -0x1.0p63) return Order::greater;
  const auto whole = static_cast<int64_t>(b);
  if (a != whole) return a < whole ? Order::less : Order::greater;
  return order_of(0.0, b - static_cast<double>(whole));
}

bool less(const lamella_value& a, const lamella_value& b, const char* sign) {
  return order_of_values(a, b, sign) == Order::less;
}
bool less_or_equal(const lamella_value& a, const lamella_value& b, const char* sign) {
  const Order o = order_of_values(a, b, sign);
  return o == Order::less || o == Order::equal;
}

bool equal(const lamella_value& a, const lamella_value& b) {
  if (is_real(a) && is_real(b)) return order_of_numbers(a, b) == Order::equal;
  if (a.tag == LAMELLA_COMPLEX || b.tag == LAMELLA_COMPLEX) {
    if (a.tag != LAMELLA_COMPLEX) return equal(b, a);
    if (b.tag == LAMELLA_COMPLEX) return complex_of(a) == complex_of(b);
    return is_real(b) && a.as.doubles[1] == 0 && order_of_numbers(made(a.as.doubles[0]), b) == Order::equal;
  }
  if (a.tag != b.tag) return false;
  if (a.tag == LAMELLA_STRING) return string_of(a) == string_of(b);
  if (a.tag != LAMELLA_OBJECT) return a.tag == LAMELLA_NONE || a.as.i == b.as.i;
  if (a.as.object == b.as.object) return true;
  if (a.as.object->type != b.as.object->type) return false;
  const Level level("in a comparison");
  if (is_object(a, dict_type)) {
    Dict &x = dict_of(a), &y = dict_of(b);
    if (x.size() != y.size()) return false;
    for (const Dict::Entry& e : x.entries()) {
      const lamella_value* other = y.find(e.key);
      if (!other || !equal(e.value, *other)) return false;
    }
    return true;
  }
  const auto *x = ordered_items(a), *y = ordered_items(b);
  return x && x->size() == y->size() && std::equal(x->begin(), x->end(), y->begin(), equal);
}

// ---- hashes: numbers modulo the prime 2**61 - 1, as Python's, so that equal numbers of all kinds have one ----

namespace {

constexpr int64_t modulus = (int64_t{1} << 61) - 1;

int64_t hash_of_float(double x) {
  if (std::isnan(x)) return 0;
  if (std::isinf(x)) return x > 0 ? 314159 : -314159;
  int exponent;
  double rest = std::frexp(std::fabs(x), &exponent);
  uint64_t h = 0;
  const auto turned = [](uint64_t n, int by) {  // n * 2**by modulo the prime, for 0 <= by < 61
    return by ? ((n << by) & modulus) | (n >> (61 - by)) : n;
  };
  while (rest != 0) {  // 28 bits at a time
    h = turned(h, 28);
    rest *= 1 << 28;
    exponent -= 28;
    const auto bits = static_cast<uint64_t>(rest);
    rest -= static_cast<double>(bits);
    h += bits;
    if (h >= modulus) h -= modulus;
  }
  h = turned(h, exponent >= 0 ? exponent % 61 : 60 - (-1 - exponent) % 61);
  return x < 0 ? -static_cast<int64_t>(h) : static_cast<int64_t>(h);
}

// Mixes the hashes of the items of a tuple, as Python does.
int64_t hash_of_items(const std::vector<lamella_value>& items) {
  constexpr uint64_t p1 = 11400714785074694791U, p2 = 14029467366897019727U, p5 = 2870177450012600261U;
  const Level level("while hashing");
  uint64_t h = p5;
  for (const lamella_value& v : items) {
    h += static_cast<uint64_t>(hash_of(v)) * p2;
    h = (h << 31) | (h >> 33);
    h *= p1;
  }
  h += items.size() ^ (p5 ^ 3527539U);
  return h == UINT64_MAX ? 1546275796 : static_cast<int64_t>(h);
}

int64_t raw_hash(const lamella_value& v) {
  switch (v.tag) {
    case LAMELLA_BOOLEAN:
    case LAMELLA_INT:
      return v.as.i % modulus;
    case LAMELLA_UINT:
      return static_cast<int64_t>(v.as.u % modulus);
    case LAMELLA_FLOAT:
      return hash_of_float(v.as.d);
    case LAMELLA_COMPLEX: {
      const auto re = static_cast<uint64_t>(hash_of(made(v.as.doubles[0])));
      const auto im = static_cast<uint64_t>(hash_of(made(v.as.doubles[1])));
      return static_cast<int64_t>(re + 1000003U * im);
    }
    case LAMELLA_STRING: {  // FNV-1a
      uint64_t h = 14695981039346656037U;
      for (const char c : string_of(v)) h = (h ^ static_cast<uint8_t>(c)) * 1099511628211U;
      return static_cast<int64_t>(h);
    }
    case LAMELLA_OBJECT:
      if (is_object(v, tuple_type)) return hash_of_items(tuple_of(v).items);
      if (is_object(v, list_type) || is_object(v, dict_type))
        raise(LAMELLA_TYPE_ERROR, detail::text("unhashable type: '", type_name(v), "'"));
      return v.as.i >> 4;
    case LAMELLA_TENSOR:
      return v.as.i >> 4;
    default:
      return v.as.i ^ v.tag;
  }
}

}  // namespace

int64_t hash_of(const lamella_value& v) {
  const int64_t h = raw_hash(v);
  return h == -1 ? -2 : h;  // as in Python, whose -1 is an error
}

}  // namespace lamella::graph
