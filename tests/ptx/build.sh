#!/usr/bin/env bash
# Makes the .ptx files of this folder from the .cu files. Needs CUDA 13.
set -euo pipefail
cd "$(dirname "$0")"
compile() { nvcc -ptx -std=c++17 "$@"; }
for name in integers floats halves memory atomics warp calls inline_asm matrix \
  textures; do
  compile -arch=sm_80 "$name.cu" -o "$name.ptx"
done
compile -arch=sm_90a halves.cu -o halves_sm90a.ptx
compile -arch=sm_75 memory.cu -o memory_sm75.ptx
compile -arch=sm_80 -lineinfo calls.cu -o calls_lineinfo.ptx
compile -arch=sm_80 -G memory.cu -o memory_debug.ptx
# Paths of the machine that compiled say nothing: keep file names only, and drop
# the DWARF sections, which hold them too.
sed -i -E 's#(\.file\s+[0-9]+ )"[^"]*/([^"/]+)"#\1"\2"#' ./*.ptx
sed -i '/^\s*\.section/,/^\s*}/d' ./*.ptx
