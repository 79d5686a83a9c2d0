#!/bin/bash
# Builds the server into $OUT (default: bin/test-nats-server).
# Its flags are those of the other binaries, so that the compiler's cache has Go's own packages for all of them.
set -euo pipefail
cd "$(dirname "$0")"
export CGO_ENABLED=0 GOFLAGS="-buildvcs=false -modcacherw"
exec go build -gcflags "all=-l -dwarf=false" -trimpath -ldflags "-s -w" -o "${OUT:-bin/test-nats-server}" .
