#!/usr/bin/env bash
# Builds hetGPU on Debian 12, installing what is missing.
#
#   ./build.sh demo          build, then run shipped PTX on the CPU backend
#   ./build.sh test [PRESET] build, then run all tests (default: release; also
#                            debug, asan, tsan, fuzz)
#   ./build.sh build [PRESET]  build only
#   ./build.sh package       build and make build/release/hetgpu-*.deb
set -euo pipefail
cd "$(dirname "$0")"

packages=(
  g++ cmake ninja-build ccache mold pkg-config python3 git
  llvm-19-dev libmlir-19-dev mlir-19-tools llvm-19-tools
  libabsl-dev libcli11-dev nlohmann-json3-dev libzstd-dev zlib1g-dev
  libxxhash-dev
  libboost-context-dev libgtest-dev libgmock-dev libbenchmark-dev
)

install_packages() {
  local missing=() package
  for package in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null |
      grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local sudo=""
  [ "$(id -u)" -eq 0 ] || sudo=sudo
  echo "installing: ${missing[*]}"
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq \
    --no-install-recommends "${missing[@]}"
}

build() {
  case "$1" in tsan | fuzz) packages+=(clang-19 libclang-rt-19-dev) ;; esac
  install_packages
  cmake --preset "$1" >/dev/null
  cmake --build --preset "$1"
}

command=${1:-help}
preset=${2:-release}
case "$command" in
  demo)
    build release
    bin=build/release/bin
    echo
    echo "== vecadd: kernels in the PTX file =="
    $bin/hetgpu-run examples/vecadd.ptx
    echo
    echo "== vecadd: one million floats on the CPU backend =="
    $bin/hetgpu-run examples/vecadd.plan.json
    echo
    echo "== mandelbrot: checked against what an NVIDIA H200 computed =="
    $bin/hetgpu-run examples/mandelbrot.plan.json
    ;;
  test)
    build "$preset"
    ctest --preset "$preset" --output-on-failure -j "$(nproc)"
    ;;
  build)
    build "$preset"
    ;;
  package)
    build release
    (cd build/release && cpack -G DEB)
    ;;
  *)
    sed -n '2,9s/^# \{0,1\}//p' "$0"
    [ "$command" = help ] || exit 2
    ;;
esac
