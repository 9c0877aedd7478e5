#!/bin/sh
# Every message that the checker and the evaluation can give occurs in a golden file: each code of the catalogue but
# those of syntax (E01xx, judged by run.py) stands in some .err or .out.
# usage: coverage.sh SOURCE_DIR
cd "$1" || exit 2
missing=
for code in $(sed -n 's/^NST_DIAG([A-Z_0-9]*, \([EW][0-9]*\),.*/\1/p' base/diag_catalogue.def); do
  case $code in
    E01??) continue ;;
    E0001 | E0002) continue ;; # of a program's file: the command says these in its own words (tests/cli/cli_io.py)
    E0005) continue ;;         # a file of 16 MiB: tests/cli/cli_io.py
    E0023) continue ;;         # given to embedders, not to the command: tests/unit/test_lower.c
    E0905) continue ;;         # a test that fails by it shows the text alone: eval/metric-without-value
    E0908) continue ;;         # the command sets no such limit: tests/unit/test_fuel.c
    E0931) continue ;;         # the checker finds it first: tests/unit/test_metrics.c
    E0940 | E0999) continue ;; # faults of Nestor
    E0941) continue ;;         # no code generator: tests/cli/cli_engines.py
  esac
  grep -rlqs --include='*.err' --include='*.out' -e "\[$code\]" tests/golden || missing="$missing $code"
done
[ -z "$missing" ] && exit 0
echo "no golden file shows:$missing" >&2
exit 1
