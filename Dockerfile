# syntax=docker/dockerfile:1
# The image of web, worker and release:
#   docker build -t tidegate .
#   docker run --env-file .env tidegate release|web|worker
# docs/deploy.md#containers has the settings it needs.
ARG NODE_VERSION=24

FROM node:${NODE_VERSION}-slim AS source
WORKDIR /app
COPY . .

FROM source AS build
RUN --mount=type=cache,target=/root/.npm \
    npm ci --workspace dashboard --include-workspace-root --no-audit --no-fund && npm run build

FROM source AS production
# isolated-vm brings its binaries for glibc on x64 and arm64: no compiler is needed.
RUN --mount=type=cache,target=/root/.npm \
    npm ci --omit=dev --omit=optional --no-audit --no-fund && npm run trim

FROM node:${NODE_VERSION}-slim
WORKDIR /app
# The root file system may be read-only: compiled code is cached in /tmp.
ENV NODE_ENV=production \
    NODE_COMPILE_CACHE=/tmp/tidegate \
    HOST=0.0.0.0 \
    PORT=8288 \
    METRICS_PORT=9464
COPY --from=production /app/package.json /app/LICENSE ./
COPY --from=production /app/node_modules node_modules
COPY --from=build /app/dashboard/dist dashboard/dist
COPY --from=build /app/dist/service dist/service
COPY --from=production /app/scripts/start scripts/start
COPY --from=production /app/deploy/health.js deploy/health.js
COPY --from=production /app/src src
COPY --from=production /app/docs docs
# The user node. A number, so that Kubernetes sees that it is not root.
USER 1000:1000
EXPOSE 8288 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "deploy/health.js"]
ENTRYPOINT ["scripts/start"]
CMD ["web"]
