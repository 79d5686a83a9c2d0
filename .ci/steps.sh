# Functions for the runs of checks: each step has a log, no step ends the run, and the run ends with its failures and
# a table of seconds.

export NO_COLOR=1 CI=true
unset KUBECONFIG KUBECONFIG_E2E # the checks start their own API server
logs=$(mktemp -d)
go_version=1.26.0
go_folder=${XDG_CACHE_HOME:-$HOME/.cache}/rx-informer/go-$go_version
promtool_folder=${XDG_CACHE_HOME:-$HOME/.cache}/rx-informer/promtool
PATH="$PATH:$go_folder/bin:$promtool_folder" # where `install_go` and `install_promtool` put them

# step NAME COMMAND...: runs a command, prints its output when it has ended, and notes its seconds, those of its processors, and its exit
# code.
step() {
  local name=$1 began=$SECONDS code=0 cpu TIMEFORMAT='%U %S'
  shift
  printf '\n== %s begins (%ss)\n' "$name" "$SECONDS"
  cpu=$({ time "$@" >"$logs/$name" 2>&1 </dev/null; } 2>&1) || code=$?
  # Two lanes must not print at the same time.
  {
    flock 9
    printf '\n== %s ended with %s after %ss\n' "$name" "$code" "$((SECONDS - began))"
    cat "$logs/$name"
    printf '%6ss %6ss  %-4s %s\n' "$((SECONDS - began))" "$(awk '{ printf "%.0f", $1 + $2 }' <<<"$cpu")" \
      "$([ "$code" = 0 ] && echo ok || echo FAIL)" "$name" >>"$logs/.table"
    [ "$code" = 0 ] || echo "$name" >>"$logs/.failed"
  } 9>>"$logs/.lock"
  return "$code"
}

# Prints the end of the log of each failed step, then the table. Its exit code is that of the run.
finish() {
  local name
  if [ -s "$logs/.failed" ]; then
    while read -r name; do
      printf '\n== FAILED: %s\n' "$name"
      grep -nE -A12 '(FAIL|✗|Error:|error TS)' "$logs/$name" | tail -n 60
      tail -n 15 "$logs/$name"
    done <"$logs/.failed"
  fi
  printf '\n== seconds per step, and seconds of processors\n'
  cat "$logs/.table"
  local code=0 verdict=passed
  if [ -s "$logs/.failed" ]; then
    code=1
    verdict="failed: $(paste -sd, "$logs/.failed")"
  fi
  # The compilers work only if the cache lacks a binary.
  awk -v seconds="$SECONDS" -v verdict="$verdict" '
    $NF == "binaries" { compiled = $1 + 0; compiling = $2 + 0 }
    { sum += $2 }
    END {
      printf "%s in %d s; binaries %d s beside; %d core-seconds, and %d of the binaries\n",
        verdict, seconds, compiled, sum - compiling, compiling
    }' "$logs/.table"
  [ "$code" = 0 ] && rm -rf "$logs"
  return "$code"
}

as_root() {
  local run=()
  [ "$(id -u)" = 0 ] || run=(sudo)
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive "$@"
}

apt_update() { as_root apt-get update -qq; }

apt_install() {
  apt_update
  as_root apt-get install -y -qq --no-install-recommends "$@"
}

# Debian's Go is older than the modules of the servers allow. The Go module proxy serves the compiler, too.
install_go() {
  local machine sum
  case $(uname -m) in
    x86_64) machine=amd64 sum=38461905b98c59173672814302e222ab43b652274bc0c95817b08b71ab66b705 ;;
    aarch64) machine=arm64 sum=4c3f961bc257ff52e7a425166f9f75015f645dff071d01a81823455ffe646609 ;;
    *) echo "The servers need Go $go_version or newer: https://go.dev/dl/ has it for $(uname -m)." && return 1 ;;
  esac
  { command -v curl && command -v unzip; } >/dev/null || apt_install ca-certificates curl unzip || return
  curl -fsSL -o "$logs/go.zip" \
    "https://proxy.golang.org/golang.org/toolchain/@v/v0.0.1-go$go_version.linux-$machine.zip" &&
    sha256sum -c <<<"$sum  $logs/go.zip" && unzip -q "$logs/go.zip" -d "$logs/go" && mkdir -p "${go_folder%/*}" &&
    chmod +x "$logs"/go/*/*/bin/* "$logs"/go/*/*/pkg/tool/*/* && mv "$logs"/go/*/* "$go_folder" || {
    echo "The servers need Go $go_version or newer, and proxy.golang.org did not give it: install it, and run this again."
    return 1
  }
}

# Whether this Go reads the modules of the servers. From 1.21 on it fetches the version that they ask for.
has_go() {
  command -v go >/dev/null && (cd spec/e2e/apiserver && go version) >/dev/null 2>&1 &&
    ! [[ $(go version) =~ go1\.([0-9]|1[0-9]|20)[.\ ] ]]
}

# Installs Go, nginx and Chromium, and builds the binaries.
prepare() {
  # An older Go may stand before it in the path.
  has_go || PATH="$go_folder/bin:$PATH" has_go || install_go || return
  PATH="$PATH:/usr/sbin" command -v nginx >/dev/null || apt_install nginx-light || return
  [ -x "${CHROMIUM:-/usr/bin/chromium}" ] || apt_install chromium || return
  if has_go; then npm run build:binaries; else PATH="$go_folder/bin:$PATH" npm run build:binaries; fi
}

# Debian's package of Prometheus would start a server where it is installed, so only the tool is taken out of it.
install_promtool() {
  apt_update && (cd "$logs" && apt-get download -qq prometheus && dpkg -x prometheus_*.deb prometheus) &&
    mkdir -p "$promtool_folder" && mv "$logs/prometheus/usr/bin/promtool" "$promtool_folder"
}

# Each alert fires under its fault, and only then, in the virtual time of promtool.
alerts() {
  command -v promtool >/dev/null || install_promtool || return
  promtool check rules examples/grafana/alerts.yml && promtool test rules spec/grafana/alerts.test.yml
}

# take_steps LAST FUNCTION: calls the function with the numbers from 1 to the last one, without those that another lane has
# taken.
take_steps() {
  local number
  while number=$(next_number) && [ "$number" -le "$1" ]; do "$2" "$number"; done
}

next_number() {
  flock 8
  echo >>"$logs/.taken"
  wc -l <"$logs/.taken"
} 8>>"$logs/.taken.lock"
