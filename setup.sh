#!/bin/sh
# Sets Nestor up on Debian 12, as root or with sudo:
#
#   ./setup.sh            installs what is missing, builds a release, evaluates an example
#   ./setup.sh test       does the same and runs the whole test suite
#   ./setup.sh packages   only installs what building and all tests want
set -eu
cd "$(dirname "$0")"

usage() { echo "usage: ./setup.sh [test | packages]" >&2; exit 2; }
[ $# -le 1 ] || usage
what=${1:-run}
case $what in run | test | packages) ;; *) usage ;; esac

packages="gcc libc6-dev cmake ninja-build pkg-config flex bison llvm-19-dev libcmocka-dev
 libjansson-dev nettle-dev libcurl4-openssl-dev libsqlite3-dev libmicrohttpd-dev libseccomp-dev"
if [ "$what" != run ]; then
  packages="$packages locales binutils util-linux openssl sqlite3 zsh python3 python3-jsonschema python3-lark libopenmpi-dev openmpi-bin chromium"
  # Debian's npm cannot stand beside a nodejs from elsewhere, which brings its own.
  command -v npm >/dev/null || packages="$packages nodejs npm"
fi

missing=""
for package in $packages; do
  dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
done
if [ -n "$missing" ]; then
  echo "installing:$missing"
  as_root=""
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "setup: run this as root, or install sudo" >&2; exit 1; }
    as_root="sudo"
  fi
  $as_root apt-get update -q
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
fi

[ "$what" != packages ] || exit 0

cmake --preset release
cmake --build --preset release --parallel "$(nproc)"

echo
echo "build/release/bin/nestor eval examples/alexnet.nest"
build/release/bin/nestor eval examples/alexnet.nest

echo
echo "Nestor is built: build/release/bin/nestor. For \`nestor\` in this shell:"
echo '  export PATH="$PWD/build/release/bin:$PATH"'
echo "or install it: cmake --install build/release (as root), then ldconfig. ./setup.sh test runs its tests."

[ "$what" != test ] || ctest --preset release --parallel "$(nproc)"
