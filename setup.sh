#!/bin/sh
# Sets Nestor up on Debian 12, as root or with sudo:
#
#   ./setup.sh        installs what is missing, builds a release, evaluates an example
#   ./setup.sh test   does the same and runs the whole test suite
set -eu
cd "$(dirname "$0")"

usage() { echo "usage: ./setup.sh [test]" >&2; exit 2; }
[ $# -le 1 ] || usage
what=${1:-run}
case $what in run | test) ;; *) usage ;; esac

packages="gcc libc6-dev cmake ninja-build pkg-config flex bison llvm-19-dev libcmocka-dev
 libjansson-dev nettle-dev libcurl4-openssl-dev libsqlite3-dev libmicrohttpd-dev libseccomp-dev"
[ "$what" = run ] || packages="$packages locales binutils openssl python3 python3-lark libopenmpi-dev openmpi-bin chromium"

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

cmake --preset release
cmake --build --preset release --parallel "$(nproc)"

echo
echo "build/release/bin/nestor eval examples/alexnet.nest"
build/release/bin/nestor eval examples/alexnet.nest

if [ "$what" = test ]; then
  ctest --preset release --parallel "$(nproc)"
else
  echo "Nestor is built: build/release/bin/nestor. ./setup.sh test runs its tests."
fi
