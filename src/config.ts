/** The one place that reads the environment: a validated, frozen value, made at boot and passed as an argument. */
import { z } from 'zod';

const DAY_MS = 86_400_000;

const port = z.coerce.number().int().min(0).max(65_535);
const positive = z.coerce.number().int().min(1);
const signingKey = z.string().regex(/^signkey-\w+-(?:[0-9a-fA-F]{2})+$/);
const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
);

/** Every variable the service reads. The README's table of settings is proved equal to this by a test. */
export const SETTINGS = {
  MODE: z.enum(['production', 'dev']).default('production').describe('dev opens every door and binds to loopback only'),
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
  EVENT_KEYS: list.default([]).describe('comma-separated secrets that may send events; required outside dev mode'),
  API_KEY: z
    .string()
    .min(16)
    .optional()
    .describe('secret for /v1 (Bearer) and /queues (Basic); required outside dev mode'),
  SIGNING_KEY: signingKey
    .optional()
    .describe('signkey-<word>-<hex>; signs calls and proves apps; required outside dev mode'),
  SIGNING_KEY_FALLBACK: signingKey
    .optional()
    .describe('the former signing key while keys are rotated; apps may still prove themselves with it'),
  EVENT_MAX_BYTES: positive.default(524_288).describe('largest request body on /e/'),
  RETENTION_DAYS: z.coerce
    .number()
    .min(1)
    .default(7)
    .describe('days that events and finished runs are kept; at least 1'),
  RETRY_SCALE: z.coerce.number().min(0).default(1).describe('factor on every retry delay of the schedule'),
  CALL_TIMEOUT_SECONDS: z.coerce.number().positive().default(7_200).describe('longest a function call may take'),
  RUN_CONCURRENCY: positive.default(100).describe('function calls in flight in one worker'),
  INGEST_CONCURRENCY: positive.default(4).describe('ingest jobs in flight in one worker'),
  STALLED_AFTER_SECONDS: z.coerce
    .number()
    .positive()
    .default(30)
    .describe('a job whose worker has been silent this long is taken up by another'),
  TRANSFORM_TIMEOUT_MS: positive.default(1_000).describe('longest a webhook transform may take'),
  TRANSFORM_THREADS: positive.default(2).describe('threads that run transforms in one web process'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'])
    .default('info')
    .describe('least severe line logged'),
};

const schema = z.object(SETTINGS);
type Env = z.infer<typeof schema>;

export interface Config {
  readonly dev: boolean;
  readonly host: string;
  readonly port: number;
  /** Without a trailing slash; undefined: the address the service listens on. */
  readonly publicUrl: string | undefined;
  readonly redisUrl: string;
  readonly redisTlsVerify: boolean;
  readonly keyPrefix: string;
  readonly eventKeys: readonly string[];
  readonly apiKey: string | undefined;
  readonly signingKey: string | undefined;
  readonly signingKeyFallback: string | undefined;
  readonly eventMaxBytes: number;
  readonly retentionMs: number;
  readonly retryScale: number;
  readonly callTimeoutMs: number;
  readonly runConcurrency: number;
  readonly ingestConcurrency: number;
  readonly stalledAfterMs: number;
  /** A run that is not heard of for so long is looked after. Longer than any stalled job takes to be taken up. */
  readonly lookAfterMs: number;
  readonly transformTimeoutMs: number;
  readonly transformThreads: number;
  readonly logLevel: Env['LOG_LEVEL'];
}

/** A setting that the service cannot start with. Its message has one line a variable: name, what it got, what it takes. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** @throws ConfigError */
export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([name, value]) => name in SETTINGS && value !== ''));
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    throw new ConfigError(
      parsed.error.issues
        .map(({ path, message }) => {
          const name = String(path[0]);
          const takes = SETTINGS[name as keyof typeof SETTINGS].description;
          return `${name}: got ${JSON.stringify(given[name])}: ${message} (${takes})`;
        })
        .join('\n'),
    );
  }
  const missing = parsed.data.MODE === 'dev' ? [] : missingInProduction(parsed.data);
  if (missing.length > 0) {
    throw new ConfigError(
      missing
        .map((name) => `${name}: not set, and required unless MODE=dev (${SETTINGS[name].description})`)
        .join('\n'),
    );
  }
  return toConfig(parsed.data);
}

function missingInProduction(env: Env) {
  const required = ['EVENT_KEYS', 'API_KEY', 'SIGNING_KEY'] as const;
  return required.filter((name) => env[name] === undefined || env[name].length === 0);
}

function toConfig(env: Env): Config {
  const dev = env.MODE === 'dev';
  return Object.freeze({
    dev,
    host: dev ? '127.0.0.1' : (env.HOST ?? '0.0.0.0'),
    port: env.PORT,
    publicUrl: env.PUBLIC_URL?.replace(/\/+$/, ''),
    redisUrl: env.REDIS_URL,
    redisTlsVerify: env.REDIS_TLS_VERIFY,
    keyPrefix: env.KEY_PREFIX,
    eventKeys: env.EVENT_KEYS,
    apiKey: env.API_KEY,
    signingKey: env.SIGNING_KEY,
    signingKeyFallback: env.SIGNING_KEY_FALLBACK,
    eventMaxBytes: env.EVENT_MAX_BYTES,
    retentionMs: env.RETENTION_DAYS * DAY_MS,
    retryScale: env.RETRY_SCALE,
    callTimeoutMs: env.CALL_TIMEOUT_SECONDS * 1_000,
    runConcurrency: env.RUN_CONCURRENCY,
    ingestConcurrency: env.INGEST_CONCURRENCY,
    stalledAfterMs: env.STALLED_AFTER_SECONDS * 1_000,
    lookAfterMs: env.STALLED_AFTER_SECONDS * 4_000,
    transformTimeoutMs: env.TRANSFORM_TIMEOUT_MS,
    transformThreads: env.TRANSFORM_THREADS,
    logLevel: env.LOG_LEVEL,
  });
}
