#!/usr/bin/env bash
# Builds Citus 13.2.2 for Debian's PostgreSQL 15 and installs it there: what tests/citus and `npm
# run bench citus` need (root; a few minutes, once). Nothing to do where it is installed.
# CITUS_SOURCE: a tar file of the sources; without it they are fetched from GitHub. Citus is
# AGPL-3.0 and no part of Sandmartin.
set -euo pipefail
version=13.2.2
config=${PG_CONFIG:-/usr/lib/postgresql/15/bin/pg_config}
if [ -x "$config" ] && [ -f "$("$config" --pkglibdir)/citus.so" ]; then
  echo 'Citus is installed.'
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The sources first: where they cannot be had nothing else is worth waiting for.
source=${CITUS_SOURCE:-$work/citus.tar.gz}
if [ -z "${CITUS_SOURCE:-}" ]; then
  curl -fsSL --connect-timeout 15 --max-time 50 -o "$source" "https://github.com/citusdata/citus/archive/refs/tags/v$version.tar.gz"
fi
if [ ! -x "$config" ] || [ ! -f "$("$config" --includedir-server)/postgres.h" ]; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update > /dev/null
  apt-get install -y --no-install-recommends postgresql-15 postgresql-server-dev-15 gcc make flex \
    libssl-dev liblz4-dev libzstd-dev libkrb5-dev libselinux1-dev libxslt1-dev libpam0g-dev \
    libreadline-dev zlib1g-dev libxml2-dev libicu-dev uuid-dev > /dev/null
fi
mkdir "$work/citus" && tar -xf "$source" -C "$work/citus" --strip-components=1
cd "$work/citus"
# PostgreSQL 15.20 exports a function that Citus defines for itself on 15.
if grep -qs have_createdb_privilege "$("$config" --includedir-server)/commands/dbcommands.h"; then
  sed -i 's/^have_createdb_privilege(void)/citus_have_createdb_privilege(void)/' src/include/pg_version_compat.h
fi
PG_CONFIG=$config ./configure --without-libcurl > configure.log
make -j"$(nproc)" -s > make.log 2>&1 || { grep -m5 'error' make.log; exit 1; }
make -s install > install.log 2>&1
echo 'Citus is installed.'
