#!/usr/bin/env bash
# Fuzzes every target, or those named, each for some seconds, on the stable toolchain:
#   fuzz/run.sh SECONDS [TARGET ...]
# Failing inputs are stored in fuzz/artifacts/TARGET/, and the script then exits with an error.
set -euo pipefail
cd "$(dirname "$0")"

seconds=${1:?seconds for each target}
shift
if [ $# -eq 0 ]; then
  set -- $(sed -n 's/^name = "\(.*\)"$/\1/p' Cargo.toml | grep -vx fuzz)
fi

# Instrumentation for libFuzzer. Only sanitizers, which are not used, would need a nightly toolchain.
export RUSTFLAGS="--cfg fuzzing -Ccodegen-units=1 -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
 -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions=yes -Coverflow-checks=yes"
RUSTFLAGS=$(tr '\n' ' ' <<<"$RUSTFLAGS")
# With an explicit target triple the flags do not apply to build scripts.
triple=$(rustc -vV | sed -n 's/^host: //p')
cargo build --release --locked --target "$triple"
target_folder=$(cargo metadata --format-version 1 --no-deps | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p')

for target in "$@"; do
  mkdir -p "corpus/$target" "artifacts/$target"
  log=$(mktemp)
  if "$target_folder/$triple/release/$target" "corpus/$target" "seeds/$target" \
    -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
    -artifact_prefix="artifacts/$target/" >"$log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -1)
    printf '%-16s %10s runs, %s\n' "$target" "$runs" "$coverage"
  else
    tail -40 "$log"
    echo "$target: a failing input is in fuzz/artifacts/$target/" >&2
    exit 1
  fi
  rm -f "$log"
done
