#!/usr/bin/env bash
# npm run test:container: builds the image and walks it. With a read-only root and one volume it
# starts as its own user, finds itself healthy, passes doctor, sends an email, keeps its data over a
# restart and ends by SIGTERM.
#   BASE=node:22-bookworm-slim npm run test:container     with another base image
# With docker or podman. Where neither runs containers, buildah builds the image, as root and without
# a registry (scripts/container-base.sh), and the service runs in namespaces as an engine makes them.
# Ends with 3 if this machine can do none of that, and says why.
set -euo pipefail
cd "$(dirname "$0")/.."
port=${PORT:-39300}
image=sandmartin-check
work=$(mktemp -d)
say() { echo "container-check: $*"; }
cannot() { say "it cannot run here: $*"; exit 3; }
fail() { say "$*"; tail -n 50 "$work/log" 2> /dev/null || true; exit 1; }

if command -v docker > /dev/null && docker info > /dev/null 2>&1; then tool=docker
elif command -v podman > /dev/null && podman run --rm "${BASE:-node:24-bookworm-slim}" true > /dev/null 2>&1; then tool=podman
elif ! command -v buildah > /dev/null; then cannot 'neither docker nor podman runs containers, and buildah is not installed'
elif ! unshare --mount --pid --fork true; then cannot 'it may not make namespaces; buildah needs root'
else tool=buildah; fi
say "built and run by $tool"

case $tool in
  buildah)
    export STORAGE_DRIVER=${STORAGE_DRIVER:-vfs}
    container= running=
    trap 'end; rm -rf "$work"' EXIT
    # Whatever happened: everything in its namespace ends with the first process.
    end() {
      [ -z "$running" ] || { kill -KILL "$(first)" && wait "$running"; } 2> /dev/null || true
      [ -z "$container" ] || buildah rm "$container" > /dev/null
      buildah rmi "$image" > /dev/null 2>&1 || true
    }
    base=${BASE:-$(scripts/container-base.sh)} || cannot 'there is no base image'
    # npm inside asks the registry of this machine, and has what `npm ci` downloaded before.
    { cat ~/.npmrc /usr/local/etc/npmrc 2> /dev/null || true; echo 'prefer-offline=true'; } > "$work/npmrc"
    npm=(-v "$work/npmrc:/root/.npmrc:ro" -v "$(npm config get cache):/root/.npm")
    # In OCI's format an image has no health check.
    buildah bud --format docker --isolation chroot --build-arg "BASE=$base" "${npm[@]}" -t "$image" . \
      > "$work/log" 2>&1 || fail 'the build failed'
    container=$(buildah from "$image")
    root=$(buildah mount "$container")
    # The image's own words, as an engine would take them; one word on each line.
    said() { buildah inspect --type image "$image" | node -e "const { config } = JSON.parse(require('fs').readFileSync(0)).Docker; console.log($1.join('\n'))"; }
    mapfile -t environment < <(said 'config.Env')
    mapfile -t command < <(said '[...config.Entrypoint, ...config.Cmd]')
    mapfile -t health < <(said 'config.Healthcheck.Test.slice(1)')
    user=$(said '[config.User]')
    environment+=("PORT=$port" "METRICS_PORT=$((port + 1))" FEEDBACK_PORT=0)
    mkdir "$work/data"
    chown "$(stat -c %u:%g "$root/data")" "$work/data"
    start() {
      unshare --mount --pid --fork sh -euc '
        root=$1 data=$2 user=$3; shift 3
        mount --bind "$root" "$root"
        mount -o remount,bind,ro "$root"
        mount --rbind /dev "$root/dev"
        mount -t proc proc "$root/proc"
        mount -t tmpfs tmpfs "$root/tmp"
        mount --bind "$data" "$root/data"
        exec chroot --userspec="$user" "$root" env -i -C /data "$@"
      ' sh "$root" "$work/data" "$user" "${environment[@]}" "${command[@]}" > "$work/log" 2>&1 &
      running=$!
    }
    # The first process of the container.
    first() { cat "/proc/$running/task/$running/children" | tr -d ' '; }
    runs_as() { stat -c %u "/proc/$(first)"; }
    inside() {
      nsenter --target "$(first)" --mount --pid --root --wd --setuid "$(runs_as)" --setgid "$(runs_as)" \
        env -i "${environment[@]}" "$@"
    }
    healthy() { inside "${health[@]}"; }
    stop() { kill -TERM "$(first)" && wait "$running" && running=; }
    ;;
  *)
    "$tool" build --build-arg "BASE=${BASE:-node:24-bookworm-slim}" -t "$image" . > "$work/log" 2>&1 || fail 'the build failed'
    name=$image-$$
    trap '"$tool" rm -f "$name" > /dev/null 2>&1; "$tool" volume rm "$name" > /dev/null 2>&1; rm -rf "$work"' EXIT
    start() {
      "$tool" run -d --name "$name" --read-only --tmpfs /tmp -v "$name:/data" -p "127.0.0.1:$port:3000" "$image" > /dev/null
      "$tool" logs -f "$name" > "$work/log" 2>&1 &
    }
    inside() { "$tool" exec "$name" "$@"; }
    runs_as() { inside node -p 'process.getuid()'; }
    # As the engine itself sees it.
    healthy() {
      if [ "$tool" = podman ]; then podman healthcheck run "$name"
      else [ "$(docker inspect --format '{{.State.Health.Status}}' "$name")" = healthy ]; fi
    }
    stop() {
      "$tool" stop -t 20 "$name" > /dev/null
      code=$("$tool" inspect --format '{{.State.ExitCode}}' "$name"); "$tool" rm "$name" > /dev/null; return "$code"
    }
    ;;
esac

until_true() { for _ in $(seq 1 60); do "$@" > /dev/null 2>&1 && return; sleep 1; done; return 1; }
is_up() { grep -q 'Sandmartin is running' "$work/log"; }
delivered() { timeline | grep -q '"status":"delivered"'; }
timeline() { curl -sS "http://127.0.0.1:$port/v1/messages/$id" -H "X-API-Key: $key"; }

start
until_true is_up || fail 'it did not start'
[ "$(runs_as)" = 10001 ] || fail "it runs as user $(runs_as), not as its own"
until_true healthy || fail "it does not find itself healthy: $(healthy 2>&1)"
inside sandmartin doctor || fail 'doctor found a fault'
! inside touch /var/tmp/here 2> /dev/null || fail 'its root can be written to'
key=$(grep -oE 'sm_live_[A-Za-z0-9_]+' "$work/log" | head -n 1)
id=$(curl -sS "http://127.0.0.1:$port/v1/send" -H "X-API-Key: $key" -H 'Content-Type: application/json' \
  -d '{"from_email":"hello@demo.example","to":["ada@example.com"],"subject":"From a container","text":"It works."}' | cut -d'"' -f4)
until_true delivered || fail "the email did not arrive: $(timeline)"
stop || fail 'SIGTERM did not end it cleanly'
start
until_true is_up || fail 'it did not start again'
delivered || fail "after a restart: $(timeline)"
stop || fail 'SIGTERM did not end it cleanly after the restart'
say 'it starts as its own user with a read-only root, is healthy, passes doctor, sends, keeps its data over a restart and ends by SIGTERM'
