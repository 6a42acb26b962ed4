/** Reads the flow control of a function from its registered configuration, as the SDKs send it. */
import { z } from 'zod';
import type { AppFunction } from '../apps/app.ts';
import { durationMs } from '../values/duration.ts';
import type { FlowOptions } from './options.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
export const CONCURRENCY_LIMITS_MAX = 2;

/** A time string within a range. */
function period(range: { fromMs: number; toMs: number; text: string }) {
  return z
    .string()
    .transform((text) => durationMs(text) ?? Number.NaN)
    .refine((ms) => ms >= range.fromMs && ms <= range.toMs, `a time string such as "30s", ${range.text}`);
}

const upToWeek = period({ fromMs: SECOND_MS, toMs: 7 * DAY_MS, text: 'from 1s to 7d' });
const upToDay = period({ fromMs: SECOND_MS, toMs: DAY_MS, text: 'from 1s to 24h' });
const anyPeriod = period({ fromMs: SECOND_MS, toMs: 366 * DAY_MS, text: 'from 1s to 366d' });
const count = z.int().min(1);
const key = z.string().nullish();

const concurrencyLimit = z
  .looseObject({ limit: count, key, scope: z.enum(['fn', 'env', 'account']).nullish() })
  .refine(({ key, scope }) => !scope || scope === 'fn' || key, {
    path: ['key'],
    message: 'a key, because functions share a limit of the scope "env" or "account" by it',
  });
const concurrencyLimits = z.array(concurrencyLimit).max(CONCURRENCY_LIMITS_MAX);

/** Fields without a value count as absent: some SDKs send them. */
export const flowSchema = z.object({
  concurrency: z
    .union([
      z.int().min(0),
      concurrencyLimit,
      concurrencyLimits,
      z.looseObject({ fn: concurrencyLimits.nullish(), step: concurrencyLimits.nullish() }),
    ])
    .nullish(),
  throttle: z.looseObject({ limit: count, period: upToWeek, burst: z.int().min(0).nullish(), key }).nullish(),
  rateLimit: z.looseObject({ limit: count, period: upToDay, key }).nullish(),
  debounce: z.looseObject({ period: upToWeek, timeout: upToWeek.nullish(), key }).nullish(),
  batchEvents: z.looseObject({ maxSize: z.int().min(2), timeout: upToDay, key, if: z.string().nullish() }).nullish(),
  singleton: z.looseObject({ key, mode: z.enum(['skip', 'cancel']) }).nullish(),
  priority: z.looseObject({ run: z.string().nullish() }).nullish(),
  idempotency: z.string().nullish(),
  timeouts: z.looseObject({ start: anyPeriod.nullish(), finish: anyPeriod.nullish() }).nullish(),
});

type Given = z.output<typeof flowSchema>;
type GivenLimit = z.output<typeof concurrencyLimit>;

const known = new WeakMap<AppFunction, FlowOptions | null>();

/** undefined: it has none. Read from the configuration, so functions that an earlier version registered have theirs too. */
export function flowOptionsOf(fn: AppFunction): FlowOptions | undefined {
  let options = known.get(fn);
  if (options === undefined) {
    options = readFlowOptions(fn.config) ?? null;
    known.set(fn, options);
  }
  return options ?? undefined;
}

/** @param config of a registered function; options that are not valid count as absent */
export function readFlowOptions(config: Record<string, unknown>): FlowOptions | undefined {
  const valid: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(flowSchema.shape)) {
    const { success, data } = schema.safeParse(config[name]);
    if (success && isSet(data)) valid[name] = data;
  }
  return Object.keys(valid).length === 0 ? undefined : toOptions(valid as Given);
}

function toOptions(given: Given): FlowOptions {
  const { throttle, rateLimit, debounce, batchEvents, singleton, priority, idempotency, timeouts } = given;
  return {
    ...toConcurrency(given.concurrency),
    ...(throttle && {
      throttle: { limit: throttle.limit, periodMs: throttle.period, burst: throttle.burst ?? 0, ...keyOf(throttle) },
    }),
    ...(rateLimit && { rateLimit: { limit: rateLimit.limit, periodMs: rateLimit.period, ...keyOf(rateLimit) } }),
    ...(debounce && {
      debounce: {
        periodMs: debounce.period,
        ...(debounce.timeout && { timeoutMs: debounce.timeout }),
        ...keyOf(debounce),
      },
    }),
    ...(batchEvents && {
      batch: {
        maxSize: batchEvents.maxSize,
        timeoutMs: batchEvents.timeout,
        ...keyOf(batchEvents),
        ...(batchEvents.if && { if: batchEvents.if }),
      },
    }),
    ...(singleton && { singleton: { mode: singleton.mode, ...keyOf(singleton) } }),
    ...(priority?.run && { priority: priority.run }),
    ...(idempotency && { idempotency }),
    ...(timeouts && {
      timeouts: {
        ...(timeouts.start && { startMs: timeouts.start }),
        ...(timeouts.finish && { finishMs: timeouts.finish }),
      },
    }),
  };
}

function toConcurrency(given: Given['concurrency']): Pick<FlowOptions, 'runConcurrency' | 'stepConcurrency'> {
  if (typeof given === 'number')
    return { runConcurrency: [], stepConcurrency: given > 0 ? [toLimit({ limit: given })] : [] };
  if (!given) return { runConcurrency: [], stepConcurrency: [] };
  if (Array.isArray(given)) return { runConcurrency: [], stepConcurrency: given.map(toLimit) };
  if ('limit' in given) return { runConcurrency: [], stepConcurrency: [toLimit(given as GivenLimit)] };
  const { fn, step } = given as { fn?: GivenLimit[] | null; step?: GivenLimit[] | null };
  return { runConcurrency: (fn ?? []).map(toLimit), stepConcurrency: (step ?? []).map(toLimit) };
}

function toLimit({ limit, scope, ...rest }: GivenLimit) {
  return { limit, scope: scope ?? 'fn', ...keyOf(rest) } as const;
}

function keyOf({ key }: { key?: string | null | undefined }): { key?: string } {
  return key ? { key } : {};
}

function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === 0 || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return typeof value !== 'object' || Object.values(value).some(isSet);
}
