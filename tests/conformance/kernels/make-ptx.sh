#!/usr/bin/env bash
# Makes the .ptx files again from their .cu files (nvcc 13.0).
set -euo pipefail
cd "$(dirname "$0")"
for source in *.cu; do
  nvcc -ptx -O3 -arch=sm_80 "$source" -o "${source%.cu}.ptx"
done
