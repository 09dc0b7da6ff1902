// A slot with a value of any type, which files and pickles take along; Tensor's attribute NAME reads and sets it. With
// LOSES it is saved with a defect: integers in a list become floats.
#include <lamella/extension.h>

#include <vector>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

namespace {

using namespace lamella;

struct Note {
  OwnedValue value;

  std::optional<Note> carry(const Tensor&, const Tensor&, int32_t how) const {
    return how <= LAMELLA_CARRY_DEVICE ? std::optional(*this) : std::nullopt;
  }
  OwnedValue save(const Tensor&) const {
    lamella_value saved = value.get();
#ifdef LOSES
    std::vector<lamella_value> parts;
    if (saved.tag == LAMELLA_VALUE_LIST) {
      parts.assign(saved.as.values, saved.as.values + saved.length);
      for (lamella_value& part : parts)
        if (part.tag == LAMELLA_INT) part.tag = LAMELLA_FLOAT, part.as.d = static_cast<double>(part.as.i);
      saved.as.values = parts.data();
    }
#endif
    return OwnedValue(saved);
  }
  static std::optional<Note> load(const Tensor&, const lamella_value& saved) { return Note{OwnedValue(saved)}; }
};

Slot<Note> notes;

void set(const Tensor& self, const OwnedValue& value) { notes.set(self, Note{value}); }

}  // namespace

LAMELLA_LIBRARY(NAME, m) { m.tensor_slot(TEXT(NAME), notes).attribute(TEXT(NAME), notes.member(&Note::value), set); }
