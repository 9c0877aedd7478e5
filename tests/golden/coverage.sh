#!/bin/sh
# Every message that the frontend can give occurs in a golden file: each code of
# the catalogue in the ranges E002x, E02xx to E08xx and W03xx stands in some .err.
# usage: coverage.sh SOURCE_DIR
cd "$1" || exit 2
missing=
for code in $(sed -n 's/^NST_DIAG([A-Z_0-9]*, \([EW][0-9]*\),.*/\1/p' base/diag_catalogue.def); do
  case $code in E002?|E0[2-8]??|W03??) ;; *) continue ;; esac
  case $code in
    E069?) continue ;; # given while evaluating
    E0023) continue ;; # given to embedders, not to the command: tests/unit/test_lower.c
  esac
  grep -rlqs --include='*.err' -e "\[$code\]" tests/golden || missing="$missing $code"
done
[ -z "$missing" ] && exit 0
echo "no golden file shows:$missing" >&2
exit 1
