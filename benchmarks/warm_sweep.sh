#!/bin/sh
# How long a whole `nestor sweep` takes once its code is kept: GEMM 4096^3, two
# memories, one order, all tiles 1 .. 256 of each dimension (16.8 million points).
# From the start of the process to its end; median of the runs, cold beside it.
#
#   warm_sweep.sh NESTOR [RUNS]
set -eu
nestor=$1
runs=${2:-7}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C XDG_CACHE_HOME="$work/cache"
cat > "$work/gemm.nest" << 'END'
workload gemm(M, N, K) {
  dim m = M, n = N, k = K
  tensor A, B, C : int8
  C[m, n] += A[m, k] * B[k, n]
}
hardware two {
  memory DRAM
  memory BUF
  compute MAC
}
mapping tiled(tm = 64, tn = 64, tk = 64) of gemm(4096, 4096, 4096) on two {
  for m by tm
  for n by tn
  for k by tk
  keep all in BUF
}
sweep tiles of tiled {
  tm in 1 .. 256
  tn in 1 .. 256
  tk in 1 .. 256
  where usage(BUF) <= 64 KiB
  minimize offchip, usage(BUF)
}
END

measure() { # NAME OPTIONS...
  name=$1
  shift
  for _ in $(seq "$runs"); do
    start=$(date +%s%N)
    "$nestor" sweep -q --format csv "$@" "$work/gemm.nest" > "$work/answer"
    end=$(date +%s%N)
    cmp -s "$work/answer" "$work/first" 2> /dev/null || cp -n "$work/answer" "$work/first"
    cmp "$work/answer" "$work/first" >&2
    echo $(((end - start) / 10000))
  done | sort -n | awk -v n="$name" '{t[NR] = $1} END {printf "%-34s %7.2f ms (%.2f to %.2f)\n", n, t[int((NR + 1) / 2)] / 100, t[1] / 100, t[NR] / 100}'
}

measure "without kept code, one thread" --no-cache -j 1
measure "with, one thread" -j 1
measure "with, all processors"
measure "with, one thread, without pruning" --no-prune -j 1
