# Functions for the runs of checks: each step has a log, no step ends the run, and the run ends with its failures and
# a table of seconds.

export NO_COLOR=1 CI=true
unset KUBECONFIG KUBECONFIG_E2E # the checks start their own API server
logs=$(mktemp -d)

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
  printf '%6ss %6ss  in all\n' "$SECONDS" "$(awk '{ sum += $2 } END { print sum }' "$logs/.table")"
  if [ -s "$logs/.failed" ]; then
    printf 'failed: %s\n' "$(paste -sd, "$logs/.failed")"
    return 1
  fi
  rm -rf "$logs"
}

apt_install() {
  local run=()
  [ "$(id -u)" = 0 ] || run=(sudo)
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# Installs nginx, Chromium and Go, and builds the binaries.
prepare() {
  command -v go >/dev/null || apt_install golang-go || return
  PATH="$PATH:/usr/sbin" command -v nginx >/dev/null || apt_install nginx-light || return
  [ -x "${CHROMIUM:-/usr/bin/chromium}" ] || apt_install chromium || return
  npm run build:binaries
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
