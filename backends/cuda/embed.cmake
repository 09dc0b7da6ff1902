# Writes a C++ file with the contents of kernels' sources as strings: cmake -DOUTPUT=file -DFILES="a|b" -P embed.cmake
set(CODE "// Generated: the texts of kernels/.\n#include \"texts.h\"\n\n#include <cstring>\n\nnamespace cuda {\nconst Text texts[] = {\n")
set(COUNT 0)
string(REPLACE "|" ";" FILES "${FILES}")
foreach(FILE ${FILES})
  file(READ ${FILE} CONTENT)
  string(REGEX REPLACE "^.*/(kernels|include)/" "" NAME ${FILE})  # the name by which a text includes the file
  string(APPEND CODE "{\"${NAME}\", R\"LAMELLA_TEXT(${CONTENT})LAMELLA_TEXT\"},\n")
  math(EXPR COUNT "${COUNT} + 1")
endforeach()
string(APPEND CODE "};\nconst int text_count = ${COUNT};\nconst char* text_of(const char* name) {\n  for (const Text& t : texts)\n    if (!std::strcmp(t.name, name)) return t.content;\n  return nullptr;\n}\n}  // namespace cuda\n")
file(WRITE ${OUTPUT} "${CODE}")
