#!/bin/sh
# What the built library shows and asks for: check_symbols.sh libnestor.so
#
# It exports the public interface only, calls nothing that prints or exits (code
# made by flex and bison included), and has no variables but constants: all
# state is in the caller's objects.
set -eu
export LC_ALL=C
bad=0
say() { echo "$1"; bad=1; }

exported=$(nm -D --defined-only "$1" | awk '$3 !~ /^nestor_/ {print $3}')
[ -z "$exported" ] || say "exported besides the public interface: $(echo $exported)"

called=$(nm -D --undefined-only "$1" | awk '{sub(/@.*/, "", $2); print $2}' |
  grep -Ex '(__)?(v?f?printf|fputs|puts|putchar|perror|exit|_exit|quick_exit)(_chk)?' || true)
[ -z "$called" ] || say "prints or exits: $(echo $called)"

# What bison begins with where the compiler is not GCC is never written to.
variables=$(nm -f sysv "$1" | awk -F '|' '{gsub(/ /, "")} $7 ~ /^[.](data|bss|tdata|tbss)$/ {print $1}' |
  grep -Evx 'completed\.[0-9]+|__bss_start|_edata|_end|__TMC_END__|__dso_handle|nst_parse_parse\.yy(val|loc)_default' || true)
[ -z "$variables" ] || say "variables that may change: $(echo $variables)"
exit $bad
