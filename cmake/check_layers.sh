#!/bin/sh
# Who may include what, and what libraries may not do: check_layers.sh ROOT
#
#   base <- ir <- {frontend (with grammar), backend} <- driver <- {cli, bench}
#
# Frontend and backend never see each other. Only backend/llvm_*.[ch] see LLVM,
# only backend/mpi_*.c see MPI.
# cli and bench see the public header and themselves; bench/cli also the files and
# messages of cli. Libraries never print, exit or abort; base/arena.c and
# bench/record/memory.c may, when memory runs out. Included paths start at the
# root, so that this script can read them. Comments and strings are not code.
set -eu
cd "$1"

find base ir grammar frontend backend stdlib driver cli bench \
     -name '*.[chly]' -o -name '*.def' 2>/dev/null | LC_ALL=C sort |
xargs awk '
  BEGIN {
    allowed["base"] = " base "
    allowed["ir"] = " ir base "
    allowed["grammar"] = allowed["frontend"] = " frontend grammar ir base "
    allowed["backend"] = " backend ir base "
    allowed["stdlib"] = " stdlib base "
    allowed["driver"] = " driver stdlib backend frontend grammar ir base nestor "
    allowed["cli"] = " cli nestor "
    allowed["bench"] = " bench cli nestor "
    forbidden = "(printf|vprintf|fprintf|vfprintf|dprintf|puts|fputs|putc|fputc|putchar|fwrite|perror|" \
                "exit|_exit|_Exit|quick_exit|abort|raise)[ \t]*[(]|stdout|stderr"
  }
  function wrong(text) { print FILENAME ":" FNR ": " text; bad = 1 }

  FNR == 1 { dir = FILENAME; sub("/.*", "", dir); in_comment = 0 }
  {
    line = $0
    if (line ~ /^[ \t]*#[ \t]*include[ \t]*["<]/ && !in_comment) {
      path = line
      sub(/^[^"<]*["<]/, "", path)
      sub(/[">].*/, "", path)
      if (path ~ /^llvm/) {
        if (FILENAME !~ /^backend\/llvm_[^\/]*$/) wrong("only backend/llvm_*.[ch] include LLVM: " path)
        next
      }
      if (path == "mpi.h" && FILENAME !~ /^backend\/mpi_[^\/]*$/) wrong("only backend/mpi_*.c include MPI")
      if (line !~ /"/ && path !~ /^nestor\//) next # the system
      if (path !~ /\//) { wrong("name headers from the root of the repository: " path); next }
      target = path
      sub("/.*", "", target)
      if (dir == "bench" && target == "cli" && FILENAME !~ /^bench\/cli\//) wrong("only bench/cli includes cli")
      if (index(allowed[dir], " " target " ") == 0) wrong(dir " must not include " path)
      if (path ~ /^base\/diag_internal/ && dir != "base") wrong("internal to base: " path)
      next
    }
    gsub(/\\./, "", line)
    gsub(/"[^"]*"/, "", line)
    rest = ""
    while (line != "") { # what is outside comments
      if (in_comment) {
        at = index(line, "*/")
        if (!at) break
        line = substr(line, at + 2)
        in_comment = 0
      } else {
        at = index(line, "/*")
        if (!at) { rest = rest line; break }
        rest = rest substr(line, 1, at - 1)
        line = substr(line, at + 2)
        in_comment = 1
      }
    }
    sub("//.*", "", rest)
    if (dir != "cli" && FILENAME !~ /^bench\/(cli|worker)\// && FILENAME != "base/arena.c" && FILENAME != "bench/record/memory.c" &&
        rest ~ ("(^|[^A-Za-z0-9_])(" forbidden ")") && rest !~ /format[ \t]*[(]/) {
      wrong("a library neither prints nor ends the process: " rest)
    }
  }
  END { exit bad }
'
