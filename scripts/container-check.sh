#!/usr/bin/env bash
# Builds the image and walks it: it starts as its own user, sends an email, keeps its data over a
# restart, ends by SIGTERM.
#   scripts/container-check.sh                                        with docker or podman
#   BASE=localhost/node:24-bookworm-slim scripts/container-check.sh   with another base image
# Where neither runs containers, buildah does, as root (BUILD_ARGS is handed to its build).
set -euo pipefail
cd "$(dirname "$0")/.."
base=${BASE:-node:24-bookworm-slim}
port=${PORT:-39300}
work=$(mktemp -d)
running=
say() { echo "container-check: $*"; }
fail() { say "$*"; cat "$work/log" 2> /dev/null || true; exit 1; }

if command -v docker > /dev/null && docker info > /dev/null 2>&1; then tool=docker
elif command -v podman > /dev/null && podman run --rm "$base" true > /dev/null 2>&1; then tool=podman
elif command -v buildah > /dev/null; then tool=buildah
else fail 'neither docker nor podman nor buildah is here'; fi
say "built and run by $tool"

case $tool in
  buildah)
    export STORAGE_DRIVER=${STORAGE_DRIVER:-vfs}
    # shellcheck disable=SC2086
    buildah bud --isolation chroot --build-arg "BASE=$base" ${BUILD_ARGS:-} -t sandmartin-check . > "$work/log" 2>&1 || fail 'the build failed'
    container=$(buildah from sandmartin-check)
    trap 'stop || true; buildah rm "$container" > /dev/null; rm -rf "$work"' EXIT
    # The image's own words, as an engine would take them.
    said() { buildah inspect --type image sandmartin-check | node -p "(({ User, Entrypoint, Cmd }) => $1)(JSON.parse(require('fs').readFileSync(0)).OCIv1.config)"; }
    user=$(said User)
    read -ra command <<< "$(said '[...Entrypoint, ...Cmd].join(" ")')"
    start() {
      buildah run --isolation chroot --user "$user" --env "PORT=$port" --env FEEDBACK_PORT=0 --env METRICS_PORT=0 "$container" -- "${command[@]}" > "$work/log" 2>&1 &
      running=$!
    }
    # Engines send the signal to the first process of the container; here it has a number of the
    # host.
    service_pid() { pgrep -n -f '^[^ ]*/node /app/bin/sandmartin.js serve'; }
    runs_as() { ps -o uid= -p "$(service_pid)" | tr -d ' '; }
    stop() { [ -z "$running" ] || { kill -TERM "$(service_pid)" && wait "$running" && running=; }; }
    ;;
  *)
    "$tool" build --build-arg "BASE=$base" -t sandmartin-check . > "$work/log" 2>&1 || fail 'the build failed'
    name=sandmartin-check-$$
    trap '"$tool" rm -f "$name" > /dev/null 2>&1; "$tool" volume rm "$name" > /dev/null 2>&1; rm -rf "$work"' EXIT
    start() {
      "$tool" run -d --name "$name" --read-only --tmpfs /tmp -v "$name:/data" -p "127.0.0.1:$port:3000" sandmartin-check > /dev/null
      "$tool" logs -f "$name" > "$work/log" 2>&1 &
    }
    runs_as() { "$tool" exec "$name" node -p 'process.getuid()'; }
    stop() {
      "$tool" stop -t 20 "$name" > /dev/null
      code=$("$tool" inspect --format '{{.State.ExitCode}}' "$name"); "$tool" rm "$name" > /dev/null; return "$code"
    }
    ;;
esac

until_up() {
  for _ in $(seq 1 180); do grep -q 'Sandmartin is running' "$work/log" && return; sleep 1; done
  fail 'it did not start'
}

start; until_up
[ "$(runs_as)" = 10001 ] || fail "it runs as user $(runs_as), not as its own"
key=$(grep -oE 'sm_live_[A-Za-z0-9_]+' "$work/log" | head -n 1)
id=$(curl -sS "http://127.0.0.1:$port/v1/send" -H "X-API-Key: $key" -H 'Content-Type: application/json' \
  -d '{"from_email":"hello@demo.example","to":["ada@example.com"],"subject":"From a container","text":"It works."}' | cut -d'"' -f4)
timeline() { curl -sS "http://127.0.0.1:$port/v1/messages/$id" -H "X-API-Key: $key"; }
for _ in $(seq 1 60); do timeline | grep -q '"status":"delivered"' && break; sleep 1; done
timeline | grep -q '"status":"delivered"' || fail "the email did not arrive: $(timeline)"
say "sent $id"
stop || fail 'SIGTERM did not end it cleanly'
start; until_up
timeline | grep -q '"status":"delivered"' || fail "after a restart: $(timeline)"
stop || fail 'SIGTERM did not end it cleanly after the restart'
say 'it starts as its own user, sends, keeps its data over a restart and ends by SIGTERM'
