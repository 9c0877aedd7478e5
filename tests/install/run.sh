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

"$cmake" -S "$source/examples/api" -B "$scratch/build" "-DCMAKE_PREFIX_PATH=$prefix" "-DCMAKE_C_COMPILER=$cc" >/dev/null
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
