#!/usr/bin/env bash
# Makes localhost/node:24-bookworm-slim, which stands in for the official base image where no
# container registry can be reached: Debian from its packages, Node and npm from npm. Says its name.
#   scripts/container-base.sh [NODE_MAJOR]        as root, with buildah and mmdebstrap; a minute
set -euo pipefail
major=${1:-24}
name=localhost/node:$major-bookworm-slim
export STORAGE_DRIVER=${STORAGE_DRIVER:-vfs}
if ! buildah inspect --type image "$name" > /dev/null 2>&1; then
  work=$(mktemp -d)
  trap 'buildah rm "$image" > /dev/null 2>&1 || true; rm -rf "$work"' EXIT
  case $(uname -m) in aarch64 | arm64) arch=arm64 ;; *) arch=x64 ;; esac
  mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$work/root.tar" >&2
  mkdir "$work/root"
  tar -xf "$work/root.tar" -C "$work/root" --exclude='./dev/*'
  npm install --prefix "$work" --no-save --no-audit --no-fund --silent --prefer-offline "node-linux-$arch@$major" npm@11 >&2
  local=$work/root/usr/local
  install "$work/node_modules/node-linux-$arch/bin/node" "$local/bin/node"
  cp -r "$work/node_modules/npm" "$local/lib/npm"
  chmod +x "$local"/lib/npm/bin/*.js
  for program in npm npx; do ln -s "../lib/npm/bin/$program-cli.js" "$local/bin/$program"; done
  image=$(buildah from scratch)
  buildah add --quiet "$image" "$work/root" / > /dev/null
  buildah commit --quiet "$image" "$name" > /dev/null
fi
echo "$name"
