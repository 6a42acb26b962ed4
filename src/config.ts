/** The only place that reads the environment: a validated, frozen value, created at startup and passed as an argument. */
import { z } from 'zod';
import { type Setting, settingsOf, shownGiven } from './setting-display.ts';
import { SETTINGS } from './settings.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Encrypts secrets in dev mode, which requires no credentials anyway. */
const DEV_SECRET_KEY = 'dev mode has no secrets worth a key';
/** With an archive, Redis keeps what Postgres does not have yet for so long. */
const UNARCHIVED_DAYS = 400;
const LOOPBACK = /^(?:.*\.)?localhost$|^127(?:\.\d{1,3}){3}$|^\[::1\]$/;
/** Anyone can try keys, so keys must be hard to guess. */
const MIN_EVENT_KEY_LENGTH = 16;
/** Where frameworks listen by habit, as far as the official development server looks there too, and a few more. */
const HABITUAL_PORTS: readonly number[] = [
  ...[3000, 3001, 3002, 3003, 3004, 3005, 3006, 3007, 3008, 3009, 3010, 3030, 4321, 5000, 5050, 5173],
  ...[8000, 8080, 8081, 8787, 8888, 8910, 8911, 8912, 8913, 8914, 8915, 1337, 2222],
];
const schema = z.object(SETTINGS);
type Env = z.infer<typeof schema>;

/** Limits above which the service rejects events; 0 disables a limit. */
export interface Thresholds {
  /** Memory limit for a Redis without `maxmemory`. */
  readonly memoryBytes: number | undefined;
  readonly memoryPercent: number;
  readonly ingestJobs: number;
  readonly runJobs: number;
}

/** Bounds of a function's configuration: one that exceeds them is refused by itself. */
export interface FunctionLimits {
  readonly triggers: number;
  /** Events that cancel runs. */
  readonly cancelEvents: number;
  /** Events of a batch. */
  readonly batchSize: number;
  readonly batchTimeoutMs: number;
}

/** Limits of registrations. */
export interface Quotas {
  /** Per environment. */
  readonly apps: number;
  readonly functionsOfApp: number;
  /** Per environment. */
  readonly functions: number;
  /** Per function. */
  readonly configBytes: number;
  /** In total. */
  readonly branches: number;
}

/** Postgres, and what goes there. */
export interface ArchiveSettings {
  readonly url: string;
  readonly tlsVerify: boolean;
  /** Connections per process. */
  readonly poolSize: number;
  readonly schema: string;
  /** Age at which events and ended runs leave Redis. */
  readonly hotMs: number;
}

/** Where apps may be called: CIDR ranges, or the word private. */
export interface OutboundSettings {
  readonly blockPrivate: boolean;
  readonly deny: readonly string[];
  /** Exceptions to the two above. */
  readonly allow: readonly string[];
  /** For branch environments only. */
  readonly branchDeny: readonly string[];
}

/** Apps that connect (docs/connect.md). */
export interface ConnectSettings {
  /** undefined: derived from the public URL or from the request. */
  readonly gatewayUrl: string | undefined;
  readonly leaseMs: number;
  /** Per environment. */
  readonly connections: number;
  /** Per connection. */
  readonly calls: number;
}

/** Limits of realtime messages. */
export interface RealtimeLimits {
  readonly tokenMs: number;
  readonly messageBytes: number;
  /** Per environment and process. */
  readonly messagesPerSecond: number;
  /** Per environment and process. */
  readonly subscribers: number;
}

/** Where Redis is: one server, the master that Sentinels name, or a cluster. */
export interface RedisServers {
  readonly url: string;
  readonly tlsVerify: boolean;
  /** Nodes of a cluster; undefined: there is none. */
  readonly clusterUrls: readonly string[] | undefined;
  /** Announced addresses of nodes, and how to reach them: `host:port`. */
  readonly natMap: Readonly<Record<string, string>> | undefined;
  readonly sentinels: { readonly urls: readonly string[]; readonly master: string } | undefined;
}

export interface Config {
  readonly settings: readonly Setting[];
  readonly dev: boolean;
  /** Origins that dev mode accepts besides loopback addresses. */
  readonly devAllowedOrigins: readonly string[];
  /** Whether a person chose the host. */
  readonly isHostSet: boolean;
  readonly host: string;
  readonly port: number;
  /** Processes that the supervisor starts. */
  readonly concurrency: { readonly web: number; readonly worker: number };
  /** Without a trailing slash; undefined: the address the service listens on. */
  readonly publicUrl: string | undefined;
  readonly redis: RedisServers;
  /** The Redis that the installation moves away from (move.ts). */
  readonly moveFromUrl: string | undefined;
  /** undefined: the default for one Redis or a cluster. */
  readonly partitions: number | undefined;
  readonly keyPrefix: string;
  /** undefined: Redis keeps everything. */
  readonly archive: ArchiveSettings | undefined;
  /** auto: fsync if Redis syncs every write anyway, otherwise redis. */
  readonly ingestDurability: Env['INGEST_DURABILITY'];
  /** Above these the service rejects events. */
  readonly thresholds: Thresholds;
  readonly eventKeys: readonly string[];
  readonly secretKey: string;
  readonly secretKeyFallback: string | undefined;
  /** The first admin; undefined: web logs a link to create one. */
  readonly admin: { readonly email: string; readonly password: string } | undefined;
  readonly apiKey: string | undefined;
  /** Requests per minute of an API key; 0: no limit. */
  readonly apiRateLimit: number;
  readonly signingKey: string | undefined;
  readonly signingKeyFallback: string | undefined;
  readonly eventMaxBytes: number;
  /** How far in the future `ts` of an event may lie. */
  readonly eventMaxFutureMs: number;
  /** Number of proxies to trust; 0: ignore X-Forwarded-* headers. */
  readonly trustProxy: number;
  readonly webhookLogSize: number;
  readonly retentionMs: number;
  /** With an archive. */
  readonly auditRetentionDays: number;
  /** How long Redis keeps events and ended runs at most: the retention, or much longer where they are archived and then removed. */
  readonly hotTtlMs: number;
  readonly retryScale: number;
  readonly callTimeoutMs: number;
  readonly connect: ConnectSettings;
  readonly callResponseMaxBytes: number;
  readonly outbound: OutboundSettings;
  readonly runConcurrency: number;
  /** From 0 to 1. */
  readonly appShare: number;
  readonly branchShare: number;
  readonly quotas: Quotas;
  readonly functionLimits: FunctionLimits;
  /** Where apps and endpoints of all environments may be (origin-patterns.ts). */
  readonly appOrigins: readonly string[];
  /** What happens to the first registration of an app. */
  readonly newApps: Env['NEW_APPS'];
  /** Registrations with fields that the service does not act on. */
  readonly unsupported: Env['UNSUPPORTED'];
  /** An unused branch is archived after this time, and later deleted; undefined: never. */
  readonly branchExpiryMs: number | undefined;
  readonly ingestConcurrency: number;
  readonly stalledAfterMs: number;
  readonly realtime: RealtimeLimits;
  readonly shutdownDrainMs: number;
  readonly shutdownGraceMs: number;
  /** The reconciler checks runs that are idle for this long: longer than the recovery of any stalled job. */
  readonly reconcileAfterMs: number;
  readonly transformTimeoutMs: number;
  readonly transformThreads: number;
  /** Separate port of this process; undefined: none. */
  readonly metricsPort: number | undefined;
  /** Required to read metrics, on any port. */
  readonly metricsToken: string | undefined;
  /** With the placeholders {trace_id}, {run_id} and {env}; undefined: runs do not link to their traces. */
  readonly traceUrlTemplate: string | undefined;
  /** Ports where dev mode looks for apps; undefined: it does not. */
  readonly discoveryPorts: readonly number[] | undefined;
  /** Whether what functions log is kept. */
  readonly runLogs: boolean;
  readonly logLevel: Env['LOG_LEVEL'];
  /** Whether OpenTelemetry's variables enable traces. */
  readonly tracing: boolean;
}

/** An invalid setting. Its message has one line per variable: its name, what it got, what was expected. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** For a server that cannot listen on PORT. */
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
          return `${name}: got ${shownGiven(name, given[name])}: ${message} (${expected})`;
        })
        .join('\n'),
    );
  }
  const { PORT, METRICS_PORT } = parsed.data;
  if (METRICS_PORT !== undefined && METRICS_PORT !== 0 && METRICS_PORT === PORT) {
    throw new ConfigError(`METRICS_PORT: got ${METRICS_PORT}, the same as PORT; use different ports`);
  }
  if (parsed.data.REDIS_CLUSTER_URLS && parsed.data.REDIS_SENTINEL_URLS) {
    throw new ConfigError('REDIS_SENTINEL_URLS: set, but REDIS_CLUSTER_URLS is set too; use one of them');
  }
  if (parsed.data.MODE !== 'dev' && parsed.data.HOT_HOURS < 1) {
    throw new ConfigError(`HOT_HOURS: got ${parsed.data.HOT_HOURS}; expected at least 1 unless MODE=dev`);
  }
  const unsafe = parsed.data.MODE === 'dev' ? [] : unsafeInProduction(parsed.data);
  if (unsafe.length > 0) throw new ConfigError(unsafe.join('\n'));
  return toConfig(parsed.data, settingsOf(given), isTracingOn(env));
}

/** Settings that are unsafe in production, one line each. */
function unsafeInProduction(env: Env): string[] {
  const problems: string[] = [];
  if (env.SECRET_KEY === undefined) {
    problems.push(`SECRET_KEY: not set, but required unless MODE=dev (${SETTINGS.SECRET_KEY.description})`);
  }
  for (const [at, key] of env.EVENT_KEYS.entries()) {
    if (key.length >= MIN_EVENT_KEY_LENGTH) continue;
    problems.push(
      `EVENT_KEYS: key ${at + 1} has ${key.length} characters; each needs at least ${MIN_EVENT_KEY_LENGTH}. Generate keys with: openssl rand -hex 32`,
    );
  }
  if ((env.ADMIN_EMAIL === undefined) !== (env.ADMIN_PASSWORD === undefined)) {
    const [set, missing] = env.ADMIN_EMAIL ? ['ADMIN_EMAIL', 'ADMIN_PASSWORD'] : ['ADMIN_PASSWORD', 'ADMIN_EMAIL'];
    problems.push(`${missing}: not set, but ${set} is; set both or neither`);
  }
  if (env.PUBLIC_URL !== undefined && !isSafeAddress(new URL(env.PUBLIC_URL))) {
    problems.push(
      `PUBLIC_URL: got ${JSON.stringify(env.PUBLIC_URL)}; expected an https URL, or an address of this machine`,
    );
  }
  const url = env.PUBLIC_URL === undefined ? undefined : new URL(env.PUBLIC_URL);
  if (url && (url.search || url.hash || url.username || url.password)) {
    problems.push(
      'PUBLIC_URL: has a query, a fragment or credentials; expected scheme and host, such as https://events.example.com',
    );
  }
  const named = (['SECRET_KEY', 'ADMIN_PASSWORD', 'API_KEY', 'SIGNING_KEY', 'METRICS_TOKEN'] as const).filter(
    (name) => env[name],
  );
  for (const [at, name] of named.entries()) {
    const same = named.slice(0, at).find((other) => env[other] === env[name]);
    if (same) problems.push(`${name}: the same as ${same}; each secret must be different`);
  }
  return problems;
}

function isSafeAddress({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** Whether the host name means this machine; no page elsewhere can have such a name.
 *  @param hostname of a URL, as `URL` has it */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

function adminOf({ ADMIN_EMAIL: email, ADMIN_PASSWORD: password }: Env): Config['admin'] {
  return email === undefined || password === undefined ? undefined : { email, password };
}

function archiveOf(env: Env): ArchiveSettings | undefined {
  if (env.DATABASE_URL === undefined) return undefined;
  return {
    url: env.DATABASE_URL,
    tlsVerify: env.DATABASE_TLS_VERIFY,
    poolSize: env.DATABASE_POOL_SIZE,
    schema: env.DATABASE_SCHEMA,
    hotMs: Math.round(env.HOT_HOURS * HOUR_MS),
  };
}

function redisServersOf(env: Env): RedisServers {
  const { REDIS_CLUSTER_NAT_MAP: natMap, REDIS_SENTINEL_URLS: sentinelUrls } = env;
  return {
    url: env.REDIS_URL,
    tlsVerify: env.REDIS_TLS_VERIFY,
    clusterUrls: env.REDIS_CLUSTER_URLS,
    natMap: natMap && Object.fromEntries(natMap.map((pair) => pair.split('=') as [string, string])),
    sentinels: sentinelUrls && { urls: sentinelUrls, master: env.REDIS_SENTINEL_MASTER },
  };
}

/** OpenTelemetry's variables. The SDK reads all of them itself (tracing/sdk.ts), so they are not in SETTINGS. */
function isTracingOn(env: Record<string, string | undefined>): boolean {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return false;
  const exporter = env.OTEL_TRACES_EXPORTER?.trim();
  if (exporter) return exporter !== 'none';
  return Boolean(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim() || env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim());
}

function toConfig(env: Env, settings: readonly Setting[], tracing: boolean): Config {
  const dev = env.MODE === 'dev';
  return Object.freeze({
    settings,
    dev,
    devAllowedOrigins: env.DEV_ALLOWED_ORIGINS,
    host: dev ? '127.0.0.1' : (env.HOST ?? '0.0.0.0'),
    isHostSet: env.HOST !== undefined,
    port: env.PORT,
    concurrency: { web: env.WEB_CONCURRENCY, worker: env.WORKER_CONCURRENCY },
    publicUrl: env.PUBLIC_URL?.replace(/\/+$/, ''),
    redis: redisServersOf(env),
    moveFromUrl: env.MOVE_FROM_REDIS_URL,
    partitions: env.PARTITIONS,
    keyPrefix: env.KEY_PREFIX,
    archive: archiveOf(env),
    ingestDurability: dev && env.INGEST_DURABILITY === 'auto' ? 'redis' : env.INGEST_DURABILITY,
    thresholds: {
      memoryBytes: env.REDIS_MEMORY_BYTES,
      memoryPercent: env.REDIS_MEMORY_LIMIT_PERCENT,
      ingestJobs: env.INGEST_BACKLOG_MAX,
      runJobs: env.RUN_BACKLOG_MAX,
    },
    eventKeys: env.EVENT_KEYS,
    secretKey: env.SECRET_KEY ?? DEV_SECRET_KEY,
    secretKeyFallback: env.SECRET_KEY_FALLBACK,
    admin: adminOf(env),
    apiKey: env.API_KEY,
    apiRateLimit: env.API_RATE_LIMIT,
    signingKey: env.SIGNING_KEY,
    signingKeyFallback: env.SIGNING_KEY_FALLBACK,
    eventMaxBytes: env.EVENT_MAX_BYTES,
    eventMaxFutureMs: env.EVENT_MAX_FUTURE_DAYS * DAY_MS,
    trustProxy: env.TRUST_PROXY,
    webhookLogSize: env.WEBHOOK_LOG_SIZE,
    retentionMs: env.RETENTION_DAYS * DAY_MS,
    auditRetentionDays: env.AUDIT_RETENTION_DAYS,
    hotTtlMs: (env.DATABASE_URL === undefined ? env.RETENTION_DAYS : UNARCHIVED_DAYS) * DAY_MS,
    retryScale: env.RETRY_SCALE,
    callTimeoutMs: env.CALL_TIMEOUT_SECONDS * 1_000,
    connect: {
      gatewayUrl: env.CONNECT_GATEWAY_URL,
      leaseMs: env.CONNECT_LEASE_SECONDS * 1_000,
      connections: env.CONNECTIONS_MAX,
      calls: env.CONNECTION_CALLS_MAX,
    },
    callResponseMaxBytes: env.CALL_RESPONSE_MAX_BYTES,
    outbound: {
      blockPrivate: env.BLOCK_PRIVATE_ADDRESSES,
      deny: env.OUTBOUND_DENY_CIDRS,
      allow: env.OUTBOUND_ALLOW_CIDRS,
      branchDeny: env.OUTBOUND_BRANCH_DENY_CIDRS,
    },
    runConcurrency: env.RUN_CONCURRENCY,
    appShare: env.APP_CONCURRENCY_PERCENT / 100,
    branchShare: env.BRANCH_CONCURRENCY_PERCENT / 100,
    quotas: {
      apps: env.APPS_MAX,
      functionsOfApp: env.FUNCTIONS_PER_APP_MAX,
      functions: env.FUNCTIONS_MAX,
      configBytes: env.FUNCTION_CONFIG_MAX_BYTES,
      branches: env.BRANCH_ENVIRONMENTS_MAX,
    },
    functionLimits: {
      triggers: env.TRIGGERS_PER_FUNCTION_MAX,
      cancelEvents: env.CANCEL_EVENTS_PER_FUNCTION_MAX,
      batchSize: env.BATCH_SIZE_MAX,
      batchTimeoutMs: env.BATCH_TIMEOUT_MAX_SECONDS * 1_000,
    },
    appOrigins: env.APP_ORIGINS,
    newApps: env.NEW_APPS,
    unsupported: env.UNSUPPORTED,
    branchExpiryMs: env.BRANCH_EXPIRY_DAYS > 0 ? env.BRANCH_EXPIRY_DAYS * DAY_MS : undefined,
    ingestConcurrency: env.INGEST_CONCURRENCY,
    stalledAfterMs: env.STALLED_AFTER_SECONDS * 1_000,
    realtime: {
      tokenMs: env.REALTIME_TOKEN_SECONDS * 1_000,
      messageBytes: env.REALTIME_MESSAGE_MAX_BYTES,
      messagesPerSecond: env.REALTIME_MESSAGES_PER_SECOND,
      subscribers: env.REALTIME_SUBSCRIBERS_MAX,
    },
    shutdownDrainMs: env.SHUTDOWN_DRAIN_SECONDS * 1_000,
    shutdownGraceMs: env.SHUTDOWN_GRACE_SECONDS * 1_000,
    reconcileAfterMs: env.STALLED_AFTER_SECONDS * 4_000,
    transformTimeoutMs: env.TRANSFORM_TIMEOUT_MS,
    transformThreads: env.TRANSFORM_THREADS,
    metricsPort: env.METRICS_PORT,
    metricsToken: env.METRICS_TOKEN,
    traceUrlTemplate: env.TRACE_URL_TEMPLATE,
    discoveryPorts: dev && env.DISCOVERY ? (env.DISCOVERY_PORTS ?? HABITUAL_PORTS) : undefined,
    runLogs: env.RUN_LOGS,
    logLevel: env.LOG_LEVEL,
    tracing,
  });
}
