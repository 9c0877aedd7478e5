# The productions of the parser as C strings, out of bison's own report.
#
#   cmake -D IN=parser.xml -D OUT=rules.inc -P grammar_rules.cmake
#
# Every line of OUT is one production, "attr: name '=' expr". What stands for an
# action in the middle of a rule is left out; whoever reads the lines also drops
# the productions with `error`, which are no part of the language.
cmake_policy(VERSION 3.21)
file(READ "${IN}" xml)
string(REGEX REPLACE "</rules>.*" "" xml "${xml}")
# What XML escapes, and what means something in CMake's lists, under names of its own.
string(REPLACE "&quot;" "QUOTE" xml "${xml}")
string(REPLACE "&apos;" "'" xml "${xml}")
string(REPLACE "&lt;" "LESS" xml "${xml}")
string(REPLACE "&gt;" "MORE" xml "${xml}")
string(REPLACE "&amp;" "AND" xml "${xml}")
string(REPLACE ";" "SEMICOLON" xml "${xml}")
string(REPLACE "[" "OPEN" xml "${xml}")
string(REPLACE "]" "CLOSE" xml "${xml}")

string(REGEX MATCHALL "<lhs>[^<]*</lhs>|<symbol>[^<]*</symbol>" parts "${xml}")
set(out "")
foreach(part IN LISTS parts)
  string(REGEX REPLACE "<[^>]*>" "" text "${part}")
  if(part MATCHES "^<lhs>")
    string(APPEND out "\n${text}:")
  elseif(NOT text MATCHES "^[$]?@") # stands for an action
    string(APPEND out " ${text}")
  endif()
endforeach()
string(REGEX REPLACE "\n[$@][^\n]*" "" out "${out}") # actions, $accept
string(REGEX REPLACE "\n([^\n]+)" "\n\"\\1\"," out "${out}")

string(REPLACE "QUOTE" "\\\"" out "${out}")
string(REPLACE "LESS" "<" out "${out}")
string(REPLACE "MORE" ">" out "${out}")
string(REPLACE "AND" "&" out "${out}")
string(REPLACE "SEMICOLON" ";" out "${out}")
string(REPLACE "OPEN" "[" out "${out}")
string(REPLACE "CLOSE" "]" out "${out}")
file(WRITE "${OUT}" "/* Made by cmake/grammar_rules.cmake from grammar/parser.y. */${out}\n")
