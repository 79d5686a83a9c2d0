#!/bin/bash
# Builds the contestant into $OUT.
set -euo pipefail
cd "$(dirname "$0")"
export CGO_ENABLED=0 GOFLAGS="-buildvcs=false -modcacherw"
exec go build -trimpath -ldflags "-s -w" -o "$OUT" .
