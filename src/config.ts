/** The only place that reads the environment: a validated, frozen value, created at startup and passed as an argument. */
import { z } from 'zod';
import { providersOf, type SettingValues, settingProblems } from './settings/checks.ts';
import { type Setting, settingsOf, shownGiven } from './settings/display.ts';
import { SETTINGS } from './settings/settings.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Encrypts secrets in dev mode, which requires no credentials anyway. */
const DEV_SECRET_KEY = 'dev mode has no secrets worth a key';
/** With an archive, Redis keeps unarchived data this long. */
const UNARCHIVED_DAYS = 400;
/** Usual ports of frameworks: the ports that the official development server probes, and a few more. */
const HABITUAL_PORTS: readonly number[] = [
  ...[3000, 3001, 3002, 3003, 3004, 3005, 3006, 3007, 3008, 3009, 3010, 3030, 4321, 5000, 5050, 5173],
  ...[8000, 8080, 8081, 8787, 8888, 8910, 8911, 8912, 8913, 8914, 8915, 1337, 2222],
];
const schema = z.object(SETTINGS);
type Env = SettingValues;

export type Config = ReturnType<typeof toConfig>;
export type ArchiveSettings = NonNullable<Config['archive']>;
export type FunctionLimits = Config['functionLimits'];
export type OutboundSettings = Config['outbound'];
export type Quotas = Config['quotas'];
export type RedisServers = Config['redis'];
export type Thresholds = Config['thresholds'];

/** An invalid setting. Its message has one line per variable: its name, what it got, what was expected. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Explains why a server cannot listen on PORT. */
export function portProblem(error: Error & { code?: string }, { host, port }: Config): ConfigError {
  const remedy = error.code === 'EADDRINUSE' ? '. Stop the process that has the port, or set another PORT' : '';
  return new ConfigError(`PORT: cannot listen on ${host}:${port}: ${error.message}${remedy}`);
}

const NODE_MAJOR = 24;

/** Describes an unsupported Node version. A Node that cannot run TypeScript fails in scripts/start. */
export function nodeProblem(version: string = process.versions.node): string | undefined {
  if (Number.parseInt(version, 10) >= NODE_MAJOR) return undefined;
  return `Tidegate needs Node ${NODE_MAJOR} or newer; found Node ${version}`;
}

/** @throws ConfigError */
export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  const node = nodeProblem();
  if (node !== undefined) throw new ConfigError(node);
  const given = Object.fromEntries(Object.entries(env).filter(([name, value]) => name in SETTINGS && value !== ''));
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    throw new ConfigError(
      parsed.error.issues
        .map(({ path, message }) => {
          const name = String(path[0]);
          const expected = SETTINGS[name as keyof typeof SETTINGS].description;
          const where = path.length > 1 ? `${path.slice(1).join('.')}: ` : '';
          return `${name}: got ${shownGiven(name, given[name])}: ${where}${message} (${expected})`;
        })
        .join('\n'),
    );
  }
  const problems = settingProblems(parsed.data);
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return toConfig(parsed.data, settingsOf(given), isTracingOn(env));
}

function adminOf({ ADMIN_EMAIL: email, ADMIN_PASSWORD: password }: Env) {
  return email === undefined || password === undefined ? undefined : { email, password };
}

/** Postgres, and which data goes there. */
function archiveOf(env: Env) {
  if (env.DATABASE_URL === undefined) return undefined;
  return {
    url: env.DATABASE_URL,
    tlsVerify: env.DATABASE_TLS_VERIFY,
    /** Connections per process. */
    poolSize: env.DATABASE_POOL_SIZE,
    schema: env.DATABASE_SCHEMA,
    /** Age at which events and ended runs leave Redis. */
    hotMs: Math.round(env.HOT_HOURS * HOUR_MS),
  };
}

function outboxOf(env: Env) {
  if (env.OUTBOX_DATABASE_URL === undefined) return undefined;
  return {
    url: env.OUTBOX_DATABASE_URL,
    tlsVerify: env.DATABASE_TLS_VERIFY,
    environment: env.OUTBOX_ENVIRONMENT,
  };
}

/** Location of Redis: a single server, the master named by Sentinels, or a cluster. */
function redisServersOf(env: Env) {
  const { REDIS_CLUSTER_NAT_MAP: natMap, REDIS_SENTINEL_URLS: sentinelUrls } = env;
  return {
    url: env.REDIS_URL,
    tlsVerify: env.REDIS_TLS_VERIFY,
    /** Nodes of a cluster; undefined without one. */
    clusterUrls: env.REDIS_CLUSTER_URLS,
    /** Announced addresses of nodes, and their reachable addresses: `host:port`. */
    natMap: natMap && Object.fromEntries(natMap.map((pair) => pair.split('=') as [string, string])),
    sentinels: sentinelUrls && { urls: sentinelUrls, master: env.REDIS_SENTINEL_MASTER },
  };
}

/** OpenTelemetry's variables. The OpenTelemetry SDK reads these variables itself (tracing/sdk.ts), so they are not in SETTINGS. */
function isTracingOn(env: Record<string, string | undefined>): boolean {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return false;
  const exporter = env.OTEL_TRACES_EXPORTER?.trim();
  if (exporter) return exporter !== 'none';
  return Boolean(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim() || env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim());
}

function toConfig(env: Env, settings: readonly Setting[], tracing: boolean) {
  const dev = env.MODE === 'dev';
  return Object.freeze({
    settings,
    dev,
    /** Origins that dev mode accepts besides loopback addresses. */
    devAllowedOrigins: env.DEV_ALLOWED_ORIGINS,
    host: dev ? '127.0.0.1' : (env.HOST ?? '0.0.0.0'),
    isHostSet: env.HOST !== undefined,
    port: env.PORT,
    /** Processes that the supervisor starts. */
    concurrency: { web: env.WEB_CONCURRENCY, worker: env.WORKER_CONCURRENCY },
    /** Without a trailing slash; undefined: the address the service listens on. */
    publicUrl: env.PUBLIC_URL?.replace(/\/+$/, ''),
    redis: redisServersOf(env),
    /** The Redis that the installation moves away from (move.ts). */
    moveFromUrl: env.MOVE_FROM_REDIS_URL,
    /** undefined: the default for one Redis or a cluster. */
    partitions: env.PARTITIONS,
    keyPrefix: env.KEY_PREFIX,
    /** undefined without an archive. */
    archive: archiveOf(env),
    /** undefined: large bodies of webhooks are in Postgres. */
    largeBodiesUrl: env.LARGE_BODIES_BUCKET_URL,
    /** The outbox of an app's Postgres; undefined: none. */
    outbox: outboxOf(env),
    /** auto: fsync if Redis syncs every write anyway, otherwise redis. */
    ingestDurability: dev && env.INGEST_DURABILITY === 'auto' ? 'redis' : env.INGEST_DURABILITY,
    /** Above these limits the service rejects events; 0 disables a limit. */
    thresholds: {
      /** Memory limit for a Redis without `maxmemory`. */
      memoryBytes: env.REDIS_MEMORY_BYTES,
      memoryPercent: env.REDIS_MEMORY_LIMIT_PERCENT,
      ingestJobs: env.INGEST_BACKLOG_MAX,
      runJobs: env.RUN_BACKLOG_MAX,
    },
    eventKeys: env.EVENT_KEYS,
    secretKey: env.SECRET_KEY ?? DEV_SECRET_KEY,
    secretKeyFallback: env.SECRET_KEY_FALLBACK,
    /** The first admin; undefined: web logs a link to create one. */
    admin: adminOf(env),
    /** OpenID providers of single sign-on. */
    oidc: dev ? [] : providersOf(env),
    /** false: only admins without single sign-on sign in with a password. */
    passwordSignIn: env.PASSWORD_SIGN_IN,
    requireSecondFactor: env.REQUIRE_SECOND_FACTOR,
    apiKey: env.API_KEY,
    /** Requests per minute of an API key; 0: no limit. */
    apiRateLimit: env.API_RATE_LIMIT,
    signingKey: env.SIGNING_KEY,
    signingKeyFallback: env.SIGNING_KEY_FALLBACK,
    eventMaxBytes: env.EVENT_MAX_BYTES,
    /** Maximum distance of an event's `ts` in the future. */
    eventMaxFutureMs: env.EVENT_MAX_FUTURE_DAYS * DAY_MS,
    /** Number of proxies to trust; 0: ignore X-Forwarded-* headers. */
    trustProxy: env.TRUST_PROXY,
    webhookLogSize: env.WEBHOOK_LOG_SIZE,
    retentionMs: env.RETENTION_DAYS * DAY_MS,
    /** Used with an archive. */
    auditRetentionDays: env.AUDIT_RETENTION_DAYS,
    /** Maximum time in Redis of events and ended runs: the retention, or much longer with an archive, which removes them itself. */
    hotTtlMs: (env.DATABASE_URL === undefined ? env.RETENTION_DAYS : UNARCHIVED_DAYS) * DAY_MS,
    retryScale: env.RETRY_SCALE,
    callTimeoutMs: env.CALL_TIMEOUT_SECONDS * 1_000,
    /** Apps that connect (docs/connect.md). */
    connect: {
      /** undefined: derived from the public URL or from the request. */
      gatewayUrl: env.CONNECT_GATEWAY_URL,
      leaseMs: env.CONNECT_LEASE_SECONDS * 1_000,
      /** Maximum per environment. */
      connections: env.CONNECTIONS_MAX,
      /** Maximum per connection. */
      calls: env.CONNECTION_CALLS_MAX,
    },
    callResponseMaxBytes: env.CALL_RESPONSE_MAX_BYTES,
    /** undefined: alerts send no mail. */
    mail: env.SMTP_URL && env.ALERT_FROM ? { url: env.SMTP_URL, from: env.ALERT_FROM } : undefined,
    /** Addresses at which apps may be called: CIDR ranges, or the word private. */
    outbound: {
      blockPrivate: env.BLOCK_PRIVATE_ADDRESSES,
      deny: env.OUTBOUND_DENY_CIDRS,
      /** Exceptions to the two above. */
      allow: env.OUTBOUND_ALLOW_CIDRS,
      /** For branch environments only. */
      branchDeny: env.OUTBOUND_BRANCH_DENY_CIDRS,
    },
    runConcurrency: env.RUN_CONCURRENCY,
    /** Share from 0 to 1. */
    appShare: env.APP_CONCURRENCY_PERCENT / 100,
    branchShare: env.BRANCH_CONCURRENCY_PERCENT / 100,
    /** Limits of registrations. */
    quotas: {
      /** Maximum per environment. */
      apps: env.APPS_MAX,
      functionsOfApp: env.FUNCTIONS_PER_APP_MAX,
      /** Maximum per environment. */
      functions: env.FUNCTIONS_MAX,
      /** Maximum per environment. */
      destinations: env.DESTINATIONS_MAX,
      /** Maximum per function. */
      configBytes: env.FUNCTION_CONFIG_MAX_BYTES,
      /** Maximum of the installation. */
      branches: env.BRANCH_ENVIRONMENTS_MAX,
    },
    /** Limits of a function's configuration: a function that exceeds them is refused by itself. */
    functionLimits: {
      triggers: env.TRIGGERS_PER_FUNCTION_MAX,
      /** Number of events that cancel runs. */
      cancelEvents: env.CANCEL_EVENTS_PER_FUNCTION_MAX,
      /** Number of events in a batch. */
      batchSize: env.BATCH_SIZE_MAX,
      batchTimeoutMs: env.BATCH_TIMEOUT_MAX_SECONDS * 1_000,
    },
    /** Allowed origins of apps and endpoints in all environments (origin-patterns.ts). */
    appOrigins: env.APP_ORIGINS,
    /** Whether the first registration of an app is held. */
    newApps: env.NEW_APPS,
    /** Reaction to registrations with unsupported fields. */
    unsupported: env.UNSUPPORTED,
    /** An unused branch is archived after this time, and later deleted; undefined: never. */
    branchExpiryMs: env.BRANCH_EXPIRY_DAYS > 0 ? env.BRANCH_EXPIRY_DAYS * DAY_MS : undefined,
    ingestConcurrency: env.INGEST_CONCURRENCY,
    stalledAfterMs: env.STALLED_AFTER_SECONDS * 1_000,
    /** Limits of realtime messages. */
    realtime: {
      tokenMs: env.REALTIME_TOKEN_SECONDS * 1_000,
      messageBytes: env.REALTIME_MESSAGE_MAX_BYTES,
      /** Maximum per environment and process. */
      messagesPerSecond: env.REALTIME_MESSAGES_PER_SECOND,
      /** Maximum per environment and process. */
      subscribers: env.REALTIME_SUBSCRIBERS_MAX,
    },
    shutdownDrainMs: env.SHUTDOWN_DRAIN_SECONDS * 1_000,
    shutdownGraceMs: env.SHUTDOWN_GRACE_SECONDS * 1_000,
    /** Runs idle for this long are reconciled: longer than the recovery of any stalled job. */
    reconcileAfterMs: env.STALLED_AFTER_SECONDS * 4_000,
    transformTimeoutMs: env.TRANSFORM_TIMEOUT_MS,
    transformThreads: env.TRANSFORM_THREADS,
    /** Separate port for metrics; undefined: none. */
    metricsPort: env.METRICS_PORT,
    /** Required to read metrics, on any port. */
    metricsToken: env.METRICS_TOKEN,
    /** With the placeholders {trace_id}, {run_id} and {env}; undefined: runs do not link to their traces. */
    traceUrlTemplate: env.TRACE_URL_TEMPLATE,
    /** Ports at which dev mode looks for apps; undefined: discovery is off. */
    discoveryPorts: dev && env.DISCOVERY ? (env.DISCOVERY_PORTS ?? HABITUAL_PORTS) : undefined,
    /** Whether logs of functions are stored. */
    runLogs: env.RUN_LOGS,
    mcpPayloads: env.MCP_PAYLOADS,
    logLevel: env.LOG_LEVEL,
    /** Whether OpenTelemetry's variables enable traces. */
    tracing,
  });
}
