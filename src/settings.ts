/** The settings that there are: what each takes, its default and its meaning, and how it may be shown. */
import { z } from 'zod';

/** Settings whose values are never shown. */
const SECRET = new Set([
  'EVENT_KEYS',
  'SECRET_KEY',
  'SECRET_KEY_FALLBACK',
  'ADMIN_PASSWORD',
  'API_KEY',
  'SIGNING_KEY',
  'SIGNING_KEY_FALLBACK',
  'METRICS_TOKEN',
]);

const port = z.coerce.number().int().min(0).max(65_535);
const positive = z.coerce.number().int().min(1);
const percent = z.coerce.number().int().min(1).max(100);
const limit = z.coerce.number().int().min(0);
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

/** Every variable the service reads. The README's table of settings is proved equal to this by a test. */
export const SETTINGS = {
  MODE: z.enum(['production', 'dev']).default('production').describe('dev opens every door and binds to loopback only'),
  DEV_ALLOWED_ORIGINS: list
    .pipe(z.array(z.url({ protocol: /^https?$/ }).transform((url) => new URL(url).origin)))
    .default([])
    .describe(
      "in dev mode: comma-separated origins whose pages may send, and under whose hosts it answers, beside this machine's",
    ),
  HOST: z.string().min(1).optional().describe('address to listen on; default 0.0.0.0, in dev mode always 127.0.0.1'),
  PORT: port.default(8288).describe('port to listen on'),
  PUBLIC_URL: z.url().optional().describe('address under which senders reach this service; webhook URLs begin with it'),
  REDIS_URL: z
    .url({ protocol: /^rediss?$/ })
    .default('redis://127.0.0.1:6379')
    .describe('Redis 7.0 or newer; noeviction and AOF recommended'),
  REDIS_TLS_VERIFY: z
    .stringbool()
    .default(true)
    .describe('false: accept any certificate of a rediss:// server, as Heroku needs'),
  KEY_PREFIX: z
    .string()
    .regex(/^[\w-]+$/)
    .default('service')
    .describe('first part of every key in Redis; lets several copies share one Redis'),
  INGEST_DURABILITY: z
    .enum(['auto', 'redis', 'fsync'])
    .default('auto')
    .describe(
      "an event is acknowledged when Redis has it (redis), or when it is on Redis's disk (fsync); auto: fsync in production where Redis has appendfsync always, else redis",
    ),
  REDIS_MEMORY_BYTES: positive
    .optional()
    .describe('memory that Redis may use, where Redis itself has no limit (maxmemory 0)'),
  REDIS_MEMORY_LIMIT_PERCENT: z.coerce
    .number()
    .min(0)
    .max(100)
    .default(90)
    .describe('senders are told to come later when Redis has used more of its memory than this; 0: never'),
  INGEST_BACKLOG_MAX: limit
    .default(200_000)
    .describe('ingest jobs, of up to 500 events each, that may wait before senders are told to come later; 0: any'),
  RUN_BACKLOG_MAX: limit
    .default(1_000_000)
    .describe('calls of functions that may wait before senders are told to come later; 0: any'),
  EVENT_KEYS: list
    .default([])
    .describe(
      'comma-separated secrets, of at least 16 characters each, that may send events to production, beside the keys made in the API',
    ),
  SECRET_KEY: z
    .string()
    .min(32)
    .optional()
    .describe('at least 32 characters; seals what is secret in Redis; required outside dev mode'),
  SECRET_KEY_FALLBACK: z
    .string()
    .min(32)
    .optional()
    .describe('the former SECRET_KEY; what it sealed is sealed anew at the next start'),
  ADMIN_EMAIL: emailSchema
    .optional()
    .describe('with ADMIN_PASSWORD: the first admin, made at a start without any user'),
  ADMIN_PASSWORD: z.string().min(12).max(256).optional().describe('at least 12 characters; see ADMIN_EMAIL'),
  API_KEY: z.string().min(16).optional().describe('an API key with admin access, beside those made in the API'),
  SIGNING_KEY: signingKey
    .optional()
    .describe("signkey-<word>-<hex>; production's signing key, instead of the one that the service makes"),
  SIGNING_KEY_FALLBACK: signingKey
    .optional()
    .describe('the former SIGNING_KEY while it is rotated; apps may still prove themselves with it'),
  EVENT_MAX_BYTES: positive.default(524_288).describe('largest request body on /e/'),
  EVENT_MAX_FUTURE_DAYS: z.coerce
    .number()
    .min(0)
    .max(3_650)
    .default(365)
    .describe('days that `ts` of an event may lie ahead; its functions run then, and it is kept for them'),
  TRUST_PROXY: z.coerce
    .number()
    .int()
    .min(0)
    .max(20)
    .default(0)
    .describe('reverse proxies in front, whose X-Forwarded headers are believed; 1 on Heroku'),
  WEBHOOK_LOG_SIZE: z.coerce
    .number()
    .int()
    .min(0)
    .max(10_000)
    .default(200)
    .describe('requests kept in the log of each webhook, for 7 days and 32 MB at most; 0: none'),
  RETENTION_DAYS: z.coerce
    .number()
    .min(1)
    .default(7)
    .describe('days that events and finished runs are kept; at least 1'),
  RETRY_SCALE: z.coerce.number().min(0).default(1).describe('factor on every retry delay of the schedule'),
  CALL_TIMEOUT_SECONDS: z.coerce.number().positive().default(7_200).describe('longest a function call may take'),
  BLOCK_PRIVATE_ADDRESSES: z
    .stringbool()
    .default(false)
    .describe('true: apps at private, loopback, link-local and metadata addresses are not called'),
  OUTBOUND_DENY_CIDRS: cidrs
    .default([])
    .describe('comma-separated CIDR ranges where apps are not called; private: every address that is not public'),
  OUTBOUND_ALLOW_CIDRS: cidrs.default([]).describe('exceptions to OUTBOUND_DENY_CIDRS and BLOCK_PRIVATE_ADDRESSES'),
  OUTBOUND_BRANCH_DENY_CIDRS: cidrs
    .default([])
    .describe('as OUTBOUND_DENY_CIDRS, for apps of branch environments alone and without exceptions'),
  RUN_CONCURRENCY: positive.default(100).describe('function calls in flight in one worker'),
  APP_CONCURRENCY_PERCENT: percent
    .default(90)
    .describe(
      'of the calls that an environment, or an app in it, could have in flight if it were alone: how many it may; the rest is for others',
    ),
  BRANCH_CONCURRENCY_PERCENT: percent
    .default(50)
    .describe('of RUN_CONCURRENCY: calls that all branch environments together may have in flight'),
  APPS_MAX: positive.default(200).describe('apps that may be registered in one environment'),
  FUNCTIONS_PER_APP_MAX: positive
    .max(10_000)
    .default(2_000)
    .describe('functions that one app may register; at most 10000'),
  FUNCTIONS_MAX: positive
    .default(5_000)
    .describe('functions that may be registered in one environment, and archived ones that are remembered beside them'),
  TRIGGERS_PER_FUNCTION_MAX: positive.default(50).describe('triggers, and events that cancel it, of one function'),
  FUNCTION_CONFIG_MAX_BYTES: positive.default(65_536).describe('largest configuration of one function, as JSON'),
  BRANCH_ENVIRONMENTS_MAX: positive.default(200).describe('branch environments in all, archived ones among them'),
  BRANCH_EXPIRY_DAYS: z.coerce
    .number()
    .min(0)
    .default(30)
    .describe(
      'a branch environment without events and registrations for so many days is archived, and deleted after as many more; 0: never',
    ),
  INGEST_CONCURRENCY: positive.default(4).describe('ingest jobs in flight in one worker'),
  STALLED_AFTER_SECONDS: z.coerce
    .number()
    .positive()
    .default(30)
    .describe('a job whose worker has been silent this long is taken up by another'),
  SHUTDOWN_DRAIN_SECONDS: z.coerce
    .number()
    .nonnegative()
    .max(600)
    .default(2)
    .describe(
      'after SIGTERM, web answers new requests for this long while /readyz says 503, so that balancers turn elsewhere',
    ),
  SHUTDOWN_GRACE_SECONDS: z.coerce
    .number()
    .positive()
    .max(7_200)
    .default(20)
    .describe('after SIGTERM, requests and calls in flight may take this long; calls are then handed to other workers'),
  TRANSFORM_TIMEOUT_MS: positive.default(1_000).describe('longest a webhook transform may take'),
  TRANSFORM_THREADS: positive.default(2).describe('threads that run transforms in one web process'),
  METRICS_PORT: port
    .optional()
    .describe("a port of the process's own for Prometheus, GET /metrics, of web and of worker; 0: any that is free"),
  METRICS_TOKEN: z
    .string()
    .min(16)
    .optional()
    .describe(
      "at least 16 characters; the bearer token that opens GET /metrics on web's ordinary port, and is then required on METRICS_PORT, too",
    ),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'])
    .default('info')
    .describe('least severe line logged'),
};

/** A setting as it may be shown. */
export interface Setting {
  readonly name: string;
  /** What holds, given or by default; null: nothing, or a secret. */
  readonly value: string | null;
  readonly default: string | null;
  readonly meaning: string;
  readonly isSet: boolean;
  readonly secret: boolean;
}

/** All of them, as they hold. */
export function settingsOf(given: Record<string, string | undefined>): Setting[] {
  return Object.entries(SETTINGS).map(([name, takes]) => {
    const secret = SECRET.has(name);
    const byDefault = textOf(takes.safeParse(undefined).data);
    const value = secret ? null : withoutPassword(given[name] ?? byDefault);
    return {
      name,
      value,
      default: byDefault,
      meaning: takes.description ?? '',
      isSet: given[name] !== undefined,
      secret,
    };
  });
}

/** As one would write it in the environment; null for none. */
function textOf(value: unknown): string | null {
  return value === undefined || (Array.isArray(value) && value.length === 0) ? null : String(value);
}

/** Redis's password may stand in its URL. */
function withoutPassword(value: string | null): string | null {
  return value?.replace(/^(\w+:\/\/[^:/@]*:).*(?=@)/, '$1***').replace(/([?&]password=)[^&]*/i, '$1***') ?? null;
}

/** What was given, for a message. A secret is told by its length. */
export function shownGiven(name: string, value: string | undefined): string {
  return SECRET.has(name) ? `${value?.length} characters` : JSON.stringify(value);
}
