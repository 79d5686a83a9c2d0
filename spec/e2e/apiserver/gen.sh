#!/bin/bash
# gen.sh VERSION [NAME]: writes NAME.mod and NAME.sum (default: go.mod and go.sum) for a version of kube-apiserver, as in
# `gen.sh v1.37.2` and `gen.sh v1.36.4 versions/1.36`.
# Copies upstream's go.mod unchanged, so that every version is the one that upstream was built with. Only the
# staging modules, which upstream replaces by folders, are named by version (v1.37.2 is v0.37.2 there).
# `go mod tidy` would change versions: never run it here.
set -euo pipefail
version=${1:?usage: gen.sh VERSION [NAME]}
name=${2:-go}
staging=v0${version#v1}
cd "$(dirname "$0")"
upstream=$(cd / && go mod download -json "k8s.io/kubernetes@$version" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
{
  echo "module rx-informer.test/apiserver"
  echo
  sed -n '/^go /p;/^godebug /p' "$upstream"
  echo
  echo "require k8s.io/kubernetes $version"
  echo
  awk '/^require \(/{p=1} p{print} /^\)/{p=0}' "$upstream" | sed -E "s# v0\.0\.0\$# $staging#; s# // indirect##"
  echo
  echo "replace ("
  sed -nE "s#^[[:space:]]*(k8s.io/[a-z0-9-]+) => \./staging/src/.*#\t\1 => \1 $staging#p" "$upstream"
  echo ")"
} >"$name.mod"
rm -f "$name.sum"
GOFLAGS="-modcacherw -mod=mod -modfile=$name.mod" go list -deps . >/dev/null # fills NAME.sum
