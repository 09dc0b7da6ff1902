// The schema parser: PyTorch's grammar whole, round trips, and errors that show the column.
#include "dispatcher/schema.h"

#include "check.h"
#include "core/error.h"
#include "dispatcher/api.h"
#include "operators/start.h"

using namespace lamella;
using dispatcher::Kind;
using dispatcher::Schema;

static Schema parse(const char* text) {
  Schema s;
  if (dispatcher::parse_schema(text, "aten", &s)) {
    std::fprintf(stderr, "%s\n", core::pending_error().message.c_str());
    std::exit(1);
  }
  return s;
}

// A printed schema parses, and prints as the same text again.
static void round_trip(const char* text) {
  Schema s = parse(text);
  std::string once = s.text();
  std::string again = parse(once.c_str()).text();
  if (again != once) std::fprintf(stderr, "%s\n%s\n", once.c_str(), again.c_str());
  CHECK(again == once);
}

static void kinds() {
  Schema s = parse(
      "foo.bar(Tensor self, Tensor? w, Tensor[] l, Tensor?[] ol, int[2] k=1, SymInt[] s, float f=1e-5, bool b=True, "
      "str x=\"a\", Scalar? c=None, "
      "ScalarType? d=None, Device? e=None, *, Generator? g=None, MemoryFormat? m=contiguous_format, complex z, int[1]? "
      "dim=None) -> (Tensor values, Tensor indices)");
  CHECK(s.ns == "aten" && s.name == "foo" && s.overload == "bar" && s.args.size() == 16 && s.rets.size() == 2);
  CHECK(s.args[0].type.kind == Kind::Tensor && !s.args[0].type.optional && !s.args[0].type.list);
  CHECK(s.args[1].type.optional && s.args[2].type.list && s.args[3].type.list && s.args[3].type.optional_elements);
  CHECK(s.args[4].type.list_size == 2 && s.args[4].value.tag == LAMELLA_INT_LIST && s.args[4].value.length == 2 &&
        s.args[4].value.as.ints[1] == 1);
  const Schema lists = parse("f(float[] a=[1, 2.5], float[2] b=3, bool[] c=[], Tensor[] d=[], bool[2] e=True) -> ()");
  CHECK(lists.args[0].value.tag == LAMELLA_FLOAT_LIST && lists.args[0].value.as.doubles[0] == 1 &&
        lists.args[0].value.as.doubles[1] == 2.5);
  CHECK(lists.args[1].value.tag == LAMELLA_FLOAT_LIST && lists.args[1].value.length == 2 &&
        lists.args[1].value.as.doubles[1] == 3);
  CHECK(lists.args[2].value.tag == LAMELLA_BOOL_LIST && lists.args[3].value.tag == LAMELLA_TENSOR_LIST);
  CHECK(lists.args[4].value.tag == LAMELLA_BOOL_LIST && lists.args[4].value.as.bools[1] == 1);
  CHECK(s.args[6].value.tag == LAMELLA_FLOAT && s.args[6].value.as.d == 1e-5);
  CHECK(s.args[7].value.tag == LAMELLA_BOOLEAN && s.args[7].value.as.i == 1);
  CHECK(s.args[8].value.tag == LAMELLA_STRING && std::string(s.args[8].value.as.string) == "a");
  CHECK(!s.args[11].keyword_only && s.args[12].keyword_only && s.args[15].keyword_only);
  CHECK(s.args[15].type.optional && s.args[15].type.list && s.args[15].type.list_size == 1);
  CHECK(s.rets[1].name == "indices");
  done("kinds, defaults, keyword-only");
}

static void aliases() {
  Schema s = parse(
      "ns::f_(Tensor(a!) self, Tensor(b|c) y, Tensor(d -> *)[] z, *, Tensor(e!) out) -> (Tensor(a!), Tensor(b|c)[], "
      "Tensor(*))");
  CHECK(s.ns == "ns" && s.args[0].alias.write && s.args[0].alias.before == "a");
  CHECK(s.args[1].alias.before == "b|c" && !s.args[1].alias.write);
  CHECK(s.args[2].alias.after == "*" && s.args[3].is_out && !s.args[0].is_out);
  CHECK(s.rets[0].alias.write && s.rets[2].alias.before == "*");
  done("aliases");
}

static void trips() {
  for (const char* text :
       {"add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
        "_foreach_add_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar alpha=1) -> ()",
        "conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0, SymInt[2] "
        "dilation=1, SymInt groups=1) -> Tensor",
        "quantize(Tensor self, float scale=0.5, int zero=-3, int[] axes=[0, 1], bool[3] mask=[True, False, True]) -> "
        "Tensor",
        "dict(Dict(str, Tensor) d, Future(int) f, __torch__.torch.classes.a.B c, (int, Tensor)[] pairs, t x) -> "
        "Dict(str, Tensor)",
        "var(...) -> (...)", "nothing() -> ()", "mse(Tensor self, int reduction=Mean) -> Tensor",
        "to(Tensor self, ScalarType dtype=float) -> Tensor",
        "optional(Tensor? x=None, str? mode=None, float? p=None) -> Tensor?",
        "old(Tensor self, int[2] padding, int dim[1]) -> Tensor", "strings(str a='x y', str b=\"q\\\"r\") -> str"})
    round_trip(text);
  done("round trips");
}

static void errors() {
  const lamella_api* api = dispatcher::api();
  Schema s;
  for (auto [text, message] : {std::pair{"f(Tensor", "a name"},
                               {"f(Tensor self) Tensor", "'->'"},
                               {"f(Tensor self -> Tensor", "')'"},
                               {"1f() -> ()", "a name"},
                               {"", "a name"},
                               {"f(Tensor a, Tensor a) -> Tensor", "taken"},
                               {"f(int x=) -> Tensor", "a number"},
                               {"f(str s=\"abc) -> ()", "closing quote"},
                               {"f() -> Tensor extra more", "the end"},
                               {"f(Tensor(a! self) -> ()", "')'"},
                               {"f(int[x] y) -> ()", "']'"},
                               {"f(int[] y=[1, 0.5]) -> ()", "elements of int[]"},
                               {"f(Tensor[] y=[1]) -> ()", "elements of Tensor[]"},
                               {"f(int[] y=[[1]]) -> ()", "a number"},
                               {"f.(Tensor x) -> ()", "a name"},
                               {"f.default(Tensor x) -> ()", "an overload's name other than 'default'"},
                               {"f(Tensor x) ->", "a name"}}) {
    s = Schema{};
    FAILS(api, dispatcher::parse_schema(text, "aten", &s), message);
  }
  s = Schema{};
  CHECK(dispatcher::parse_schema("f(Tensor x] -> ()", "aten", &s));
  CHECK(core::pending_error().message.find("column 11") != std::string::npos);
  api->error_clear();
  done("errors with their column");
}

// Every prefix and every single-character change of a schema parses or fails with a message; nothing else happens.
static void mutations() {
  std::string text =
      "ns::f.over(Tensor(a!) self, int[2]? x=[1, 2], *, str s=\"q\", Scalar alpha=1) -> (Tensor(a!) o, Tensor[])";
  const lamella_api* api = dispatcher::api();
  int parsed = 0, failed = 0;
  auto attempt = [&](const std::string& t) {
    Schema s;
    if (dispatcher::parse_schema(t, "aten", &s)) {
      failed++;
      CHECK(api->error_message() && *api->error_message());
      api->error_clear();
    } else {
      parsed++;
    }
  };
  for (size_t i = 0; i <= text.size(); i++) {
    attempt(text.substr(0, i));
    for (char c : std::string("()[]!?*,.=\"' -aT0\n")) {
      std::string changed = text;
      if (i < text.size()) changed[i] = c;
      attempt(changed);
      attempt(text.substr(0, i) + c + text.substr(i));
    }
  }
  CHECK(parsed > 50 && failed > 500);
  std::printf("ok  %d mutated schemas parsed, %d refused\n", parsed, failed);
}

int main() {
  operators::start();
  kinds();
  aliases();
  trips();
  errors();
  mutations();
  return 0;
}
