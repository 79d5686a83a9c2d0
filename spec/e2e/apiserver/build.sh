#!/bin/bash
# Builds the server into $OUT (default: bin/test-apiserver). The version it reports is that of go.mod.
set -euo pipefail
cd "$(dirname "$0")"
export CGO_ENABLED=0 GOFLAGS="-buildvcs=false -modcacherw"
version=$(sed -nE 's#^(require )?[[:space:]]*k8s.io/kubernetes (v[0-9.]+).*#\2#p' go.mod | head -1)
IFS=. read -r major minor _ <<<"${version#v}"
flags="-s -w"
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  flags+=" -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor"
  flags+=" -X $package.gitTreeState=clean -X $package.buildDate=1970-01-01T00:00:00Z"
done
exec go build -trimpath -ldflags "$flags" -o "${OUT:-bin/test-apiserver}" .
