#!/bin/sh
# Installs into a scratch prefix and uses it from outside: run.sh CMAKE SOURCE BUILD SCRATCH CC LIBDIR
#
# The tree is moved after it is installed, so nothing in it may know where it is.
set -eu
cmake=$1 source=$2 build=$3 scratch=$4 cc=$5 libdir=$6
unset NESTOR_LLVM_MODULE
rm -rf "$scratch"
"$cmake" --install "$build" --prefix "$scratch/first" >/dev/null
mv "$scratch/first" "$scratch/prefix"
prefix=$scratch/prefix

fail() { echo "install: $1"; exit 1; }
same() { [ "$2" = "$3" ] || fail "$1: expected
$2
got
$3"; }

for file in bin/nestor "$libdir/libnestor.so" "$libdir/libnestor.a" include/nestor/nestor.h share/man/man1/nestor.1 \
            share/nestor/stdlib/hardware/edge.nest \
            share/bash-completion/completions/nestor share/zsh/site-functions/_nestor; do
  [ -f "$prefix/$file" ] || fail "$file is missing"
done
ls "$prefix"/share/nestor/schemas/*.json >/dev/null || fail "no JSON schema is installed"

# Off chip: A once (its tile stays while n runs), B once per tile of m, C written once at 4 bytes.
expected="t =  8: 53248 bytes off chip
t = 16: 36864 bytes off chip
t = 32: 28672 bytes off chip"

"$cmake" -G Ninja -S "$source/examples/api" -B "$scratch/build" "-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_C_COMPILER=$cc" >/dev/null
"$cmake" --build "$scratch/build" >/dev/null
same "through the CMake package" "$expected" "$("$scratch/build/count")"
same "linked statically" "$expected" "$("$scratch/build/count_static")"

PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
export PKG_CONFIG_PATH
"$cc" "$source/examples/api/count.c" $(pkg-config --cflags --libs nestor) -o "$scratch/by_hand"
same "through pkg-config" "$expected" "$(LD_LIBRARY_PATH=$prefix/$libdir "$scratch/by_hand")"
same "the version" "$(pkg-config --modversion nestor)" "$("$prefix/bin/nestor" version | sed -n '1s/^nestor \([0-9.]*\).*/\1/p')"

# The command finds the standard library inside itself and, if it was built, the code generator beside it.
engine=analysis
[ -f "$prefix/$libdir/nestor/nestor-llvm.so" ] && engine=jit
cd "$scratch"
"$prefix/bin/nestor" eval --engine "$engine" --format csv "$source/examples/alexnet.nest" >installed.csv ||
  fail "the installed command fails with the engine $engine"
[ -s installed.csv ] || fail "the installed command printed nothing"

# The benchmark, if it was built: tasks are made, and their reference answers pass by each way to the grader.
if [ ! -f "$build/lib/nestor/nestor-bench" ]; then
  "$prefix/bin/nestor" bench help 2>missing.txt && fail "nestor bench runs, though it was not built"
  grep -q "the benchmark is not installed" missing.txt || fail "nestor bench says: $(cat missing.txt)"
  exit 0
fi
for file in nestor/nestor-bench nestor/nestor-grade-worker libnestor-grade.so pkgconfig/nestor-grade.pc nestor/python/nestor_grade.py \
            nestor/python/nestor_trl.py nestor/python/nestor.yaml; do
  [ -f "$prefix/$libdir/$file" ] || fail "$libdir/$file is missing"
done
[ -f "$prefix/include/nestor/grade.h" ] || fail "include/nestor/grade.h is missing"
"$prefix/bin/nestor" bench gen --seed 3 --count 16 --levels 1-2 -o tasks.jsonl --key key.jsonl || fail "bench gen fails"
# Reference answers as samples. Of numbers and choices the key's answer is what follows "answer:".
cat >samples.py <<'END'
import json
for line in open("key.jsonl", encoding="utf-8"):
    key = json.loads(line)
    is_text = key["answer"].lstrip().split()[0] in ("workload", "hardware", "mapping", "model")
    print(json.dumps({"task_id": key["task_id"], "sample_id": "0",
                      "completion": key["answer"] if is_text else "answer: " + key["answer"]}))
END
command -v python3 >/dev/null || { echo "install: no python3, so the grader is not tried"; exit 0; }
python3 samples.py >samples.jsonl
passed() { [ "$(grep -c '"passed":true' "$2")" = 16 ] || fail "$1: not all reference answers pass:
$(cat "$2")"; }
"$prefix/bin/nestor" bench grade --tasks tasks.jsonl --key key.jsonl samples.jsonl >results.jsonl || fail "bench grade fails"
passed "bench grade" results.jsonl
"$scratch/build/grade" tasks.jsonl key.jsonl <samples.jsonl >library.jsonl || fail "the grader's library fails"
passed "the library" library.jsonl
"$cc" -D_GNU_SOURCE "$source/examples/api/grade.c" $(pkg-config --cflags --libs nestor-grade) -o "$scratch/grade_by_hand"
LD_LIBRARY_PATH=$prefix/$libdir "$scratch/grade_by_hand" tasks.jsonl key.jsonl <samples.jsonl >by_hand.jsonl
same "the library through pkg-config" "$(cat library.jsonl)" "$(cat by_hand.jsonl)"
cat >host.py <<'END'
import json
import nestor_grade
samples = [json.loads(line) for line in open("samples.jsonl", encoding="utf-8")]
with nestor_grade.Grader("tasks.jsonl", "key.jsonl") as grader:
    for result in grader.grade_many((s["task_id"], s["completion"], None, "0") for s in samples):
        print(json.dumps(result, separators=(",", ":")))
END
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$prefix/$libdir/nestor/python python3 host.py >python.jsonl || fail "the grader's Python file fails"
passed "Python" python.jsonl
"$prefix/bin/nestor" bench validate tasks.jsonl --key key.jsonl >validate.txt || fail "bench validate: $(cat validate.txt)"
