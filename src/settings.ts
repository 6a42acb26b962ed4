/** All settings: their types, defaults and meanings. `node scripts/docs.ts` writes docs/settings.md and
 *  .env.example from them. */
import { z } from 'zod';
import { domainsSchema, issuerSchema, providersSchema, roleRulesSchema, SIGN_UPS } from './oidc-settings.ts';
import { originPatternsSchema } from './origin-patterns.ts';

/** Values of these settings are never shown (setting-display.ts). */
export const SECRET_SETTINGS: ReadonlySet<string> = new Set([
  'EVENT_KEYS',
  'SECRET_KEY',
  'SECRET_KEY_FALLBACK',
  'ADMIN_PASSWORD',
  'API_KEY',
  'SIGNING_KEY',
  'SIGNING_KEY_FALLBACK',
  'METRICS_TOKEN',
  'OIDC_CLIENT_SECRET',
  'OIDC_PROVIDERS',
]);

/** Maximum batch size and age that the settings can allow. */
export const BATCH_SIZE_HIGHEST = 10_000;
export const BATCH_TIMEOUT_HIGHEST_SECONDS = 86_400;
/** Two digits of an ID name the partition (model/partitions/layout.ts). */
const PARTITIONS_MAX = 1_024;

const port = z.coerce.number().int().min(0).max(65_535);
const positive = z.coerce.number().int().min(1);
const percent = z.coerce.number().int().min(1).max(100);
const limit = z.coerce.number().int().min(0);
/** The maximum is Heroku's value for its largest dynos. */
const processCount = z.coerce.number().int().min(1).max(200).default(1);
const signingKey = z.string().regex(/^signkey-\w+-(?:[0-9a-fA-F]{2})+$/);
const emailSchema = z.string().trim().toLowerCase().pipe(z.email());
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
);

const cidrs = list.pipe(
  z.array(
    z.union([z.literal('private'), z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
      error: 'comma-separated CIDR ranges such as 10.0.0.0/8, or the word private',
    }),
  ),
);

const redisUrls = list.pipe(z.array(z.url({ protocol: /^rediss?$/ })).min(1));
const natMap = list.pipe(
  z.array(z.string().regex(/^[^\s=]+:\d+=[^\s=]+:\d+$/, { error: 'expected host:port=host:port' })).min(1),
);

/** Placeholders of a trace link. */
const TRACE_URL_PLACEHOLDERS: ReadonlySet<string> = new Set(['trace_id', 'run_id', 'env']);

/** Braces without a placeholder, such as JSON in a query, are kept. Apps must not influence the host. */
const traceUrlTemplate = z
  .url({ protocol: /^https?$/ })
  .max(2_048)
  .refine((text) => text.includes('{trace_id}'), { error: 'expected the placeholder {trace_id}' })
  .refine((text) => [...text.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => TRACE_URL_PLACEHOLDERS.has(name)), {
    error: 'expected no other placeholders than {trace_id}, {run_id} and {env}',
  })
  .refine((text) => !/^https?:\/\/[^/?#]*\{/.test(text), { error: 'expected placeholders only after the host' });

const service = {
  MODE: z
    .enum(['production', 'dev'])
    .default('production')
    .describe('`production` or `dev`. Dev mode requires no credentials and listens on loopback only'),
  HOST: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Address to listen on. Default: 0.0.0.0; in dev mode 127.0.0.1. Use 127.0.0.1 if the proxy is on the same machine',
    ),
  PORT: port.default(8288).describe('Port to listen on'),
  WEB_CONCURRENCY: processCount.describe(
    'Number of processes of `scripts/start web`, which share `PORT`; 350 MB each. Heroku sets it',
  ),
  WORKER_CONCURRENCY: processCount.describe(
    'Number of processes of `scripts/start worker`; 200 MB each. `INGEST_CONCURRENCY` and `RUN_CONCURRENCY` apply to each',
  ),
  PUBLIC_URL: z.url().optional().describe('Public address of the service, such as `https://events.example.com`'),
  TRUST_PROXY: z.coerce
    .number()
    .int()
    .min(0)
    .max(20)
    .default(0)
    .describe('Number of reverse proxies whose `X-Forwarded-*` headers to trust. 1 on Heroku'),
  DEV_ALLOWED_ORIGINS: list
    .pipe(z.array(z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).origin)))
    .default([])
    .describe(
      'Comma-separated origins that dev mode accepts besides this machine, such as `http://host.docker.internal:8288` for containers on Linux',
    ),
  DISCOVERY: z.stringbool().default(true).describe('In dev mode, find and register apps on this machine'),
  DISCOVERY_PORTS: list
    .pipe(
      z.array(
        z
          .string()
          .regex(/^\d{1,5}$/)
          .transform(Number)
          .pipe(z.int().min(1).max(65_535)),
      ),
    )
    .optional()
    .describe('Comma-separated ports where `DISCOVERY` looks for apps. Default: those of common frameworks'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'])
    .default('info')
    .describe('Minimum severity to log: fatal, error, warn, info, debug or silent'),
};

const redis = {
  REDIS_URL: z
    .url({ protocol: /^rediss?$/ })
    .default('redis://127.0.0.1:6379')
    .describe('URL of Redis 7.0 or newer. Use `maxmemory-policy noeviction` and `appendonly yes`'),
  REDIS_CLUSTER_URLS: redisUrls
    .optional()
    .describe(
      'Comma-separated URLs of some nodes of a Redis or Valkey Cluster, instead of `REDIS_URL`. User, password and TLS are those of the first URL',
    ),
  REDIS_CLUSTER_NAT_MAP: natMap
    .optional()
    .describe(
      'Addresses of cluster nodes as this process reaches them: comma-separated `announced host:port=reachable host:port`',
    ),
  REDIS_SENTINEL_URLS: redisUrls.optional().describe('Comma-separated URLs of Redis Sentinels'),
  REDIS_SENTINEL_MASTER: z
    .string()
    .min(1)
    .default('mymaster')
    .describe('Name of the master that the Sentinels watch. Its user, password and TLS are those of `REDIS_URL`'),
  PARTITIONS: z.coerce
    .number()
    .int()
    .min(1)
    .max(PARTITIONS_MAX)
    .optional()
    .describe(
      'Number of partitions of events and runs. Default: 1 on one Redis, 32 on a cluster. Can be raised, not lowered',
    ),
  MOVE_FROM_REDIS_URL: z
    .url({ protocol: /^rediss?$/ })
    .optional()
    .describe('For `scripts/start move`: URL of the old Redis. With Sentinels: of their master'),
  REDIS_TLS_VERIFY: z
    .stringbool()
    .default(true)
    .describe('Verify the certificate of a `rediss://` server. Heroku requires false'),
  KEY_PREFIX: z
    .string()
    .regex(/^[\w-]+$/)
    .default('service')
    .describe('Prefix of all Redis keys. Installations with different prefixes can share one Redis'),
  INGEST_DURABILITY: z
    .enum(['auto', 'redis', 'fsync'])
    .default('auto')
    .describe(
      'When to acknowledge an event: once Redis has it (`redis`) or once it is on disk (`fsync`). `auto`: `fsync` in production if Redis has `appendfsync always`, otherwise `redis`',
    ),
};

const outbox = {
  OUTBOX_DATABASE_URL: z
    .url({ protocol: /^postgres(?:ql)?$/ })
    .optional()
    .describe(
      "URL of an app's Postgres, from whose outbox workers accept events. Its user needs SELECT, UPDATE and DELETE on `tidegate_outbox` and `tidegate_steps`. TLS as for `DATABASE_URL`",
    ),
  OUTBOX_ENVIRONMENT: z
    .string()
    .min(1)
    .max(128)
    .default('production')
    .describe('Environment of the events of that outbox'),
};

const archive = {
  DATABASE_URL: z
    .url({ protocol: /^postgres(?:ql)?$/ })
    .optional()
    .describe('URL of Postgres 14 or newer, for what is older than `HOT_HOURS`. `?sslmode=require` enables TLS'),
  DATABASE_TLS_VERIFY: z
    .stringbool()
    .default(true)
    .describe(
      'Verify the certificate of Postgres. `false` also enables TLS where the URL has no `sslmode`. Heroku requires false',
    ),
  DATABASE_POOL_SIZE: z.coerce
    .number()
    .int()
    .min(2)
    .max(100)
    .default(5)
    .describe('Maximum number of connections to Postgres per process'),
  DATABASE_SCHEMA: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,40}$/)
    .default('tidegate')
    .describe('Schema of all tables. Installations that share a database need different schemas'),
  LARGE_BODIES_BUCKET_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      "A bucket with the API of S3 that keeps webhooks' [large bodies](webhooks.md#large-bodies) instead of Postgres: `https://<key ID>:<secret key>@<host>/<bucket>?region=<region>`. Its lifecycle rule deletes them",
    ),
  HOT_HOURS: z.coerce
    .number()
    .min(0.001)
    .max(8_760)
    .default(24)
    .describe(
      'Age in hours at which events and ended runs move to Postgres, and the length of sleeps for which active runs do. At least 1; in dev mode also a fraction',
    ),
};

const backpressure = {
  REDIS_MEMORY_BYTES: positive
    .optional()
    .describe('Memory that Redis may use, if Redis itself has no limit (`maxmemory 0`)'),
  REDIS_MEMORY_LIMIT_PERCENT: z.coerce
    .number()
    .min(0)
    .max(100)
    .default(90)
    .describe('Reject events with 503 above this memory use of Redis. 0 disables the limit'),
  INGEST_BACKLOG_MAX: limit
    .default(200_000)
    .describe(
      'Reject events with 429 above this number of waiting ingest jobs (up to 500 events each). 0 disables the limit',
    ),
  RUN_BACKLOG_MAX: limit
    .default(1_000_000)
    .describe('Reject events with 429 above this number of waiting function calls. 0 disables the limit'),
};

const credentials = {
  SECRET_KEY: z
    .string()
    .min(32)
    .optional()
    .describe(
      'Encrypts secrets in Redis. At least 32 characters; required in production. Generate one with `openssl rand -hex 32`',
    ),
  SECRET_KEY_FALLBACK: z
    .string()
    .min(32)
    .optional()
    .describe('Previous `SECRET_KEY`. The next start re-encrypts secrets with the new key'),
  ADMIN_EMAIL: emailSchema
    .optional()
    .describe('Email of the first admin, created at startup. If not set, web logs a link to create the first admin'),
  ADMIN_PASSWORD: z
    .string()
    .min(12)
    .max(256)
    .optional()
    .describe('Password of the first admin. At least 12 characters; requires `ADMIN_EMAIL`'),
  API_KEY: z
    .string()
    .min(16)
    .optional()
    .describe('API key with admin access, in addition to keys created in the API. At least 16 characters'),
  EVENT_KEYS: list
    .default([])
    .describe(
      'Comma-separated event keys for production, in addition to keys created in the API. At least 16 characters each',
    ),
  SIGNING_KEY: signingKey
    .optional()
    .describe(
      'Signing key of production, instead of a generated one: `signkey-<word>-<hex>`. Generate one with `echo signkey-prod-$(openssl rand -hex 32)`',
    ),
  SIGNING_KEY_FALLBACK: signingKey
    .optional()
    .describe('Previous `SIGNING_KEY`. Apps can still authenticate with it during a rotation'),
};

const singleSignOn = {
  OIDC_ISSUER: issuerSchema
    .optional()
    .describe(
      'Issuer of an OpenID provider, such as `https://accounts.google.com`: users [sign in there](single-sign-on.md). Requires `PUBLIC_URL`',
    ),
  OIDC_CLIENT_ID: z.string().min(1).optional().describe('ID of this service at the provider'),
  OIDC_CLIENT_SECRET: z.string().min(1).optional().describe('Secret of this service at the provider'),
  OIDC_NAME: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('Name of the provider on the sign-in page. Default: its host'),
  OIDC_SCOPES: z.string().default('openid email profile').describe('Scopes to ask for; Okta needs `groups` too'),
  OIDC_ROLE_RULES: roleRulesSchema
    .optional()
    .describe(
      'Roles by group, such as `admins=admin,devs=member,*=read-only`, or as JSON; the highest counts. If not set, users have the role of their invitation',
    ),
  OIDC_GROUPS_CLAIM: z.string().min(1).default('groups').describe('Claim with the groups of a user'),
  OIDC_VERIFIED_CLAIM: z
    .string()
    .min(1)
    .default('email_verified')
    .describe('Claim that says that the email address belongs to the user. Microsoft Entra: `xms_edov`'),
  OIDC_ALLOWED_DOMAINS: domainsSchema
    .optional()
    .describe('Comma-separated domains of email addresses that may sign in. Default: all'),
  OIDC_SIGN_UP: z
    .enum(SIGN_UPS)
    .default('invited')
    .describe(
      'Who becomes a user: `invited`, only who was invited; `first-sign-in`, everybody with a role by `OIDC_ROLE_RULES`',
    ),
  OIDC_PROVIDERS: providersSchema
    .default([])
    .describe('Further providers, as a [JSON array](single-sign-on.md#several-providers)'),
  PASSWORD_SIGN_IN: z
    .stringbool()
    .default(true)
    .describe(
      'Whether users may sign in with a password. With false, only admins without single sign-on may; `ADMIN_EMAIL` and `ADMIN_PASSWORD` create one',
    ),
  REQUIRE_SECOND_FACTOR: z
    .stringbool()
    .default(false)
    .describe(
      'Whether everybody who signs in with a password needs a [second factor](security.md#second-factors). Who has none sets one up at the next sign-in',
    ),
};

const events = {
  EVENT_MAX_BYTES: positive.default(524_288).describe('Maximum body size of `POST /e/:key`'),
  EVENT_MAX_FUTURE_DAYS: z.coerce
    .number()
    .min(0)
    .max(3_650)
    .default(365)
    .describe('Maximum number of days that `ts` of an event may lie in the future'),
  RETENTION_DAYS: z.coerce
    .number()
    .min(1)
    .max(3_650)
    .default(7)
    .describe(
      'Number of days to keep events and finished runs. At least 1. With `DATABASE_URL`, environments can have their own (`PATCH /v1/environments/:name/limits`)',
    ),
  MCP_PAYLOADS: z
    .stringbool()
    .default(true)
    .describe(
      'Show assistants that use [`/mcp`](mcp.md) what events, runs and webhooks contain. `false`: only what happened to them',
    ),
  RUN_LOGS: z.stringbool().default(true).describe('Keep what functions log, up to 1,000 lines and 256 KiB per run'),
  AUDIT_RETENTION_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .max(3_650)
    .default(365)
    .describe('Number of days to keep audit entries. Needs `DATABASE_URL`; without it, the last 10,000 are kept'),
  INGEST_CONCURRENCY: positive.default(4).describe('Maximum number of ingest jobs in progress per worker'),
};

const webhooks = {
  WEBHOOK_LOG_SIZE: z.coerce
    .number()
    .int()
    .min(0)
    .max(10_000)
    .default(200)
    .describe('Number of requests to keep in the log of each webhook, for up to 7 days and 32 MiB. 0 disables the log'),
  TRANSFORM_TIMEOUT_MS: positive.default(1_000).describe('Maximum duration of a webhook transform'),
  TRANSFORM_THREADS: positive.default(2).describe('Number of threads that run transforms per web process'),
};

const calls = {
  RUN_CONCURRENCY: positive.default(100).describe('Maximum number of function calls in progress per worker'),
  APP_CONCURRENCY_PERCENT: percent
    .default(90)
    .describe('Maximum percentage of the free concurrency that an environment, or an app in it, may use'),
  BRANCH_CONCURRENCY_PERCENT: percent
    .default(50)
    .describe('Maximum percentage of `RUN_CONCURRENCY` for all branch environments together'),
  CALL_TIMEOUT_SECONDS: z.coerce.number().positive().default(7_200).describe('Maximum duration of a function call'),
  CALL_RESPONSE_MAX_BYTES: z.coerce
    .number()
    .int()
    .min(65_536)
    .max(67_108_864)
    .default(8_454_144)
    .describe('Maximum size of the response to a function call. Default: two of the largest step outputs'),
  RETRY_SCALE: z.coerce.number().min(0).default(1).describe('Factor for all scheduled retry delays'),
  STALLED_AFTER_SECONDS: z.coerce
    .number()
    .positive()
    .default(30)
    .describe('Another worker takes over a job when its worker has not responded for this long (± 10 %)'),
};

const connect = {
  CONNECT_GATEWAY_URL: z
    .url({ protocol: /^wss?$/ })
    .optional()
    .describe(
      'Address for WebSockets of apps. Default: `/v0/connect` at `PUBLIC_URL`, or at the host that the app has called',
    ),
  CONNECT_LEASE_SECONDS: z.coerce
    .number()
    .int()
    .min(4)
    .max(600)
    .default(20)
    .describe('A call over a connection fails when its instance does not extend the lease for this long'),
  CONNECTIONS_MAX: positive.max(5_000).default(500).describe('Maximum number of connections of apps per environment'),
  CONNECTION_CALLS_MAX: positive
    .default(1_000)
    .describe(
      'Maximum number of calls in progress per connection. An instance may ask for fewer (`maxWorkerConcurrency`)',
    ),
};

const outbound = {
  BLOCK_PRIVATE_ADDRESSES: z
    .stringbool()
    .default(false)
    .describe('Block calls to apps at private, loopback, link-local and metadata addresses'),
  OUTBOUND_DENY_CIDRS: cidrs
    .default([])
    .describe(
      'Comma-separated CIDR ranges where apps may not be called. `private` means every address that is not public',
    ),
  OUTBOUND_ALLOW_CIDRS: cidrs.default([]).describe('Exceptions to `OUTBOUND_DENY_CIDRS` and `BLOCK_PRIVATE_ADDRESSES`'),
  OUTBOUND_BRANCH_DENY_CIDRS: cidrs
    .default([])
    .describe('Same as `OUTBOUND_DENY_CIDRS`, but only for apps of branch environments, and without exceptions'),
};

const quotas = {
  API_RATE_LIMIT: z.coerce
    .number()
    .int()
    .min(0)
    .default(6_000)
    .describe(
      'Requests per minute of an API key, app or user to the REST API, then 429. 0 disables the limit. Events and webhooks do not count',
    ),
  APPS_MAX: positive.default(200).describe('Maximum number of apps per environment'),
  FUNCTIONS_PER_APP_MAX: positive
    .max(10_000)
    .default(2_000)
    .describe('Maximum number of functions per app. At most 10,000'),
  FUNCTIONS_MAX: positive
    .default(5_000)
    .describe('Maximum number of functions per environment, and as many archived ones'),
  DESTINATIONS_MAX: positive.default(100).describe('Maximum number of destinations per environment'),
  TRIGGERS_PER_FUNCTION_MAX: positive.default(10).describe('Maximum number of triggers per function'),
  CANCEL_EVENTS_PER_FUNCTION_MAX: positive
    .default(5)
    .describe('Maximum number of events that cancel runs of a function'),
  BATCH_SIZE_MAX: positive
    .min(2)
    .max(BATCH_SIZE_HIGHEST)
    .default(100)
    .describe('Maximum `maxSize` of `batchEvents` that a function may ask for. At most 10,000'),
  BATCH_TIMEOUT_MAX_SECONDS: positive
    .max(BATCH_TIMEOUT_HIGHEST_SECONDS)
    .default(60)
    .describe('Maximum `timeout` of `batchEvents` that a function may ask for. At most one day'),
  APP_ORIGINS: list
    .pipe(originPatternsSchema)
    .default([])
    .describe(
      'Comma-separated origins allowed for apps and endpoints of all environments. `*` stands for a part of a label: `https://shop-*-acme.example.app`',
    ),
  NEW_APPS: z
    .enum(['accept', 'hold'])
    .default('accept')
    .describe(
      'First registrations at an origin that nobody has allowed: `accept`, or `hold` until somebody confirms. Not in dev mode',
    ),
  UNSUPPORTED: z
    .enum(['report', 'reject'])
    .default('report')
    .describe('Registrations with unsupported fields: `report` registers the app and lists them, `reject` refuses it'),
  FUNCTION_CONFIG_MAX_BYTES: positive.default(65_536).describe('Maximum size of a function configuration as JSON'),
  BRANCH_ENVIRONMENTS_MAX: positive
    .default(200)
    .describe('Maximum number of branch environments, including archived ones'),
  BRANCH_EXPIRY_DAYS: z.coerce
    .number()
    .min(0)
    .default(30)
    .describe(
      'Archive a branch environment after this many days without use, and delete it after twice as many. 0 disables expiry',
    ),
};

const realtime = {
  REALTIME_TOKEN_SECONDS: positive
    .max(86_400)
    .default(60)
    .describe('How long a subscription token can be used to connect'),
  REALTIME_MESSAGE_MAX_BYTES: positive
    .max(4_194_304)
    .default(524_288)
    .describe('Maximum size of a realtime message. At most 4 MiB'),
  REALTIME_MESSAGES_PER_SECOND: positive
    .default(1_000)
    .describe('Realtime messages of an environment per second and web process. Each started 16 KiB count as one'),
  REALTIME_SUBSCRIBERS_MAX: positive
    .max(10_000)
    .default(1_000)
    .describe(
      'Maximum number of realtime connections of an environment, or of all branches, per web process; a tenth per token',
    ),
};

const alerts = {
  SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    .optional()
    .describe(
      'Mail server for [alerts](alerts.md): `smtp://user:password@mail.example.com:587`, or `smtps://` with TLS from the start. `?requireTLS=true` sends nothing without TLS',
    ),
  ALERT_FROM: emailSchema.optional().describe('Sender of that mail. Required with `SMTP_URL`'),
};

const shutdown = {
  SHUTDOWN_DRAIN_SECONDS: z.coerce
    .number()
    .nonnegative()
    .max(600)
    .default(2)
    .describe('After SIGTERM, web accepts requests for this long while `/readyz` returns 503'),
  SHUTDOWN_GRACE_SECONDS: z.coerce
    .number()
    .positive()
    .max(7_200)
    .default(20)
    .describe(
      'After SIGTERM, requests and calls in progress may take this long; other workers then take over the calls',
    ),
};

const metrics = {
  METRICS_PORT: port
    .optional()
    .describe('Separate port for Prometheus (`GET /metrics`) on web and worker. 0 selects any free port'),
  METRICS_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe(
      'Token that enables `GET /metrics` on the main port of web; `METRICS_PORT` then requires it too. At least 16 characters',
    ),
  TRACE_URL_TEMPLATE: traceUrlTemplate
    .optional()
    .describe(
      'Address of a trace, which the dashboard links from each run: `https://traces.example.com/trace/{trace_id}`; also `{run_id}`, `{env}`',
    ),
};

/** Every variable that the service reads. */
export const SETTINGS = {
  ...service,
  ...redis,
  ...archive,
  ...outbox,
  ...backpressure,
  ...credentials,
  ...singleSignOn,
  ...events,
  ...webhooks,
  ...calls,
  ...connect,
  ...outbound,
  ...quotas,
  ...realtime,
  ...alerts,
  ...shutdown,
  ...metrics,
};

/** The same by topic: docs/settings.md and .env.example have a heading for each. */
export const SETTING_GROUPS = {
  Service: service,
  Redis: redis,
  Archive: archive,
  Outbox: outbox,
  Backpressure: backpressure,
  Credentials: credentials,
  'Single sign-on': singleSignOn,
  Events: events,
  Webhooks: webhooks,
  'Function calls': calls,
  'Apps that connect': connect,
  'Outbound addresses': outbound,
  Quotas: quotas,
  Realtime: realtime,
  Alerts: alerts,
  Shutdown: shutdown,
  Metrics: metrics,
} satisfies Record<string, Partial<typeof SETTINGS>>;
