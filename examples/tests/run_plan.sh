#!/usr/bin/env bash
# Usage: run_plan.sh HETGPU_RUN NAME
#
# Runs examples/NAME.plan.json on HETGPU_TEST_DEVICE (default cpu); its checks
# decide. Where golden/NAME.txt exists, everything that it holds must have been
# printed, line by line; blocks may print in another order.
set -euo pipefail
run=$1 name=$2
cd "$(dirname "$0")/.."
output=$("$run" "$name.plan.json" --device "${HETGPU_TEST_DEVICE:-cpu}")
printf '%s\n' "$output"
[ -f "golden/$name.txt" ] || exit 0
missing=$(comm -13 <(printf '%s\n' "$output" | sort) <(sort "golden/$name.txt"))
[ -z "$missing" ] || { printf 'not printed:\n%s\n' "$missing"; exit 1; }
