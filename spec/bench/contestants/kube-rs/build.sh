#!/bin/bash
# Builds the contestant into $OUT. Cargo writes its lock file and its products into a folder that is removed at the end.
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp Cargo.toml main.rs "$work"
cargo build --quiet --release --manifest-path "$work/Cargo.toml"
cp "$work/target/release/kube-rs-contestant" "$OUT"
