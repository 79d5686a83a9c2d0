#!/bin/bash
# Builds the server into $OUT (default: bin/test-nats-server).
set -euo pipefail
cd "$(dirname "$0")"
export CGO_ENABLED=0 GOFLAGS="-buildvcs=false -modcacherw"
exec go build -trimpath -ldflags "-s -w" -o "${OUT:-bin/test-nats-server}" .
