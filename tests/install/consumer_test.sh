#!/usr/bin/env bash
# Usage: consumer_test.sh SOURCE BUILD LIBDIR
# Installs libhetgpu and its headers, then builds and runs the host examples
# against them: by find_package, by pkg-config, and after moving the tree.
set -euo pipefail
source_dir=$1 build_dir=$2 libdir=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ptx=$source_dir/examples/vecadd.ptx

fail() { echo "error: $*" >&2; exit 1; }

for component in Runtime Development; do
  cmake --install "$build_dir" --prefix "$work/first" \
        --component "$component" > /dev/null
done
prefix=$work/moved
mv "$work/first" "$prefix"
library=$prefix/$libdir/libhetgpu.so

echo "# exported names"
strangers=$(nm -D --defined-only "$library" | awk '{print $3}' |
            grep -v -e '^hetgpu' -e '^HETGPU_0$' || true)
[ -z "$strangers" ] || fail "exported beyond the API: $strangers"
readelf -d "$library" | grep -q 'SONAME.*libhetgpu\.so\.[0-9]' ||
  fail "no versioned soname"
if readelf -d "$library" | grep -q 'NEEDED.*LLVM'; then
  fail "libhetgpu.so links LLVM"
fi

echo "# find_package"
cmake -S "$source_dir/examples/host" -B "$work/build" \
      -DCMAKE_PREFIX_PATH="$prefix" > /dev/null
cmake --build "$work/build" > /dev/null
"$work/build/examples/vecadd_c" "$ptx"
"$work/build/examples/vecadd_cpp" "$ptx"

echo "# pkg-config"
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
flags="$(pkg-config --cflags --libs hetgpu) -Wl,-rpath,$prefix/$libdir"
cc -std=c11 -pedantic -Wall -Wextra -Werror \
   "$source_dir/examples/host/vecadd.c" -o "$work/vecadd_c" $flags
"$work/vecadd_c" "$ptx"
c++ -std=c++17 -fno-exceptions -fno-rtti -Wall -Wextra -Werror \
    "$source_dir/examples/host/vecadd.cpp" -o "$work/vecadd_cpp" $flags
"$work/vecadd_cpp" "$ptx"
