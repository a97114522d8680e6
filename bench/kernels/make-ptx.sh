#!/usr/bin/env bash
# Regenerates the committed PTX of the benchmarks' own kernels (all, or those
# named). Needs nvcc of CUDA 13.
set -euo pipefail
cd "$(dirname "$0")"
sources=("$@")
[ ${#sources[@]} -gt 0 ] || sources=(*.cu)
for source in "${sources[@]}"; do
  name=${source%.cu}
  nvcc -ptx -O3 -arch=sm_80 "$name.cu" -o "$name.ptx"
done
