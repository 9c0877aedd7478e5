#!/bin/sh
# One sweep by threads, by ranks of MPI and by shards: seconds of wall clock and of
# processor time, and whether the answer is the same to the last bit.
#
#   scaling.sh NESTOR [FILE.nest [OPTIONS]]      (RUNS=5: the median of so many)
#
# Wall clock means something on a quiet machine only. Processor time says what the
# work costs: that two threads or ranks take no more of it than one is what scaling
# rests on. Without FILE: examples/sweeps/conv2_x.nest with 512 channels and 112 x 112
# places (3,528 million points), every point computed.
set -eu
nestor=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
file=${2:-$work/large.nest}
sed 's/conv(64, 64,/conv(512, 512,/; s/56, 56) on/112, 112) on/' "$(dirname "$0")/../examples/sweeps/conv2_x.nest" > "$work/large.nest"
[ $# -lt 2 ] && shift 1 || shift 2
[ $# -gt 0 ] || set -- --no-prune
export LC_ALL=C

median() { sort -n "$1" | awk '{t[NR] = $1} END {print t[int((NR + 1) / 2)]}'; }

measure() { # NAME COMMAND...
  name=$1
  shift
  for _ in $(seq "${RUNS:-5}"); do
    start=$(date +%s%N)
    ( "$@" > "$work/out"; times > "$work/times" )
    end=$(date +%s%N)
    echo $(((end - start) / 1000000)) >> "$work/wall"
    awk 'NR == 2 {for (i = 1; i <= 2; i++) {split($i, t, "[ms]"); s += 60 * t[1] + t[2]}} END {printf "%d\n", 1000 * s}' "$work/times" >> "$work/cpu"
  done
  wall=$(median "$work/wall")
  cpu=$(median "$work/cpu")
  rm "$work/wall" "$work/cpu"
  : "${wall_1:=$wall}"
  awk -v n="$name" -v w="$wall" -v c="$cpu" -v f="$wall_1" \
    'BEGIN {printf "%-22s %7.2f s wall (%.2f times as fast) %7.2f s processor  ", n, w / 1000, f / w, c / 1000}'
  if [ ! -f "$work/first" ]; then
    mv "$work/out" "$work/first"
    echo "the reference"
  elif cmp -s "$work/out" "$work/first"; then echo "same answer"
  else echo "ANOTHER ANSWER"; fi
}

shards() { # N OPTIONS...
  n=$1
  shift
  for i in $(seq 0 $((n - 1))); do "$nestor" sweep -q -j 1 --shard "$i/$n" -o "$work/part$i" "$@" "$file"; done
  # shellcheck disable=SC2046
  "$nestor" merge --format json $(for i in $(seq 0 $((n - 1))); do echo "$work/part$i"; done)
}

for threads in 1 2 $(nproc); do
  [ "$threads" = 1 ] || [ "$threads" != "${before:-}" ] || continue
  before=$threads
  measure "$threads threads" "$nestor" sweep -q --format json -j "$threads" "$@" "$file"
done
if command -v mpirun > /dev/null; then
  for ranks in 2 3; do
    measure "$ranks ranks" mpirun --allow-run-as-root --oversubscribe -n "$ranks" "$nestor" sweep -q --format json -j 1 "$@" "$file"
  done
fi
measure "2 shards, one by one" shards 2 "$@"
