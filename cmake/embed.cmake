# Writes a C file that holds text files as byte arrays: cmake -DROOT= -DFILES=a;b -DOUT= -P embed.cmake
# Plain CMake, so that a build needs no script interpreter.
set(arrays "")
set(rows "")
set(count 0)
foreach(file IN LISTS FILES)
  string(REGEX REPLACE "\\.nest$" "" name "${file}")
  string(REPLACE "/" "." name "${name}")
  file(READ "${ROOT}/${file}" hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR len "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REPLACE "0x0a," "0x0a,\n" bytes "${bytes}") # a line for a line
  string(APPEND arrays "static const unsigned char text_${count}[] = {\n${bytes}0x00};\n")
  string(APPEND rows "  {\"std.${name}\", (const char *)text_${count}, ${len}},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE "${OUT}.new" "/* Generated from the files of stdlib by cmake/embed.cmake. */
#include \"stdlib/stdlib.h\"

${arrays}
const nst_stdlib_entry nst_stdlib_entries[] = {
${rows}  {0},
};
const size_t nst_stdlib_count = ${count};
")
file(RENAME "${OUT}.new" "${OUT}")
