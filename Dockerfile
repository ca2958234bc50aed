# Sandmartin with everything it needs: without DATABASE_URL it runs the included PostgreSQL, in /data.
# docs/install.md shows how to run it. Where no registry can be reached, BASE names a base image of your own.
ARG BASE=node:24-bookworm-slim

FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
# The rebuild runs the install scripts of the packages that remain: they complete PostgreSQL's libraries.
RUN npm run build && npm prune --omit=dev --ignore-scripts && npm rebuild

FROM ${BASE}
# A user with a name, not only a number: PostgreSQL asks the system who runs it.
RUN groupadd --gid 10001 sandmartin \
 && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin sandmartin \
 && install --directory --owner sandmartin --group sandmartin --mode 0700 /data
COPY --from=build /app/package.json /app/LICENSE /app/
COPY --from=build /app/bin /app/bin
COPY --from=build /app/catalog /app/catalog
COPY --from=build /app/docs /app/docs
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/dist /app/dist
RUN ln -s /app/bin/sandmartin.js /usr/local/bin/sandmartin

# MALLOC_…: returns the memory of large emails to the system at once; by default glibc keeps up to 64 MB.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    METRICS_PORT=9464 \
    MALLOC_MMAP_THRESHOLD_=1048576 \
    DATA_DIR=/data
WORKDIR /data
VOLUME /data
USER sandmartin
# API, dashboard and MCP; delivery reports by SMTP.
EXPOSE 3000 2526
# Health has a port of its own, on the container's loopback: every role answers there.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.METRICS_PORT}/healthz`).then((it) => process.exit(it.ok ? 0 : 1), () => process.exit(1))"]
# Node is the first process and shuts down cleanly on SIGTERM.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/bin/sandmartin.js"]
CMD ["serve"]
