/** The functions with flow control: each reports what its limits are about. */
import type { Tidegate } from 'tidegate';
import {
  BATCHED,
  DEBOUNCED,
  HELD,
  KEYED,
  LIMITED,
  ORDERED,
  RATE_LIMITED,
  REPLAYED,
  RETRIES,
  SINGLETON,
  THROTTLED,
  TICKING,
} from './limits.ts';
import { hold, report } from './report.ts';

const KEY = 'event.data.key';
const period = (ms: number) => `${ms / 1_000}s`;

export function flowControlFunctions(client: Tidegate) {
  return [
    client.createFunction(
      { id: LIMITED.id, retries: RETRIES, triggers: { event: 'chaos/limited' }, concurrency: LIMITED.limit },
      (context) => hold(LIMITED.id, context, LIMITED.heldMs),
    ),
    client.createFunction(
      {
        id: KEYED.id,
        retries: RETRIES,
        triggers: { event: 'chaos/keyed' },
        concurrency: { limit: KEYED.limit, key: KEY },
      },
      (context) => hold(KEYED.id, context, KEYED.heldMs),
    ),
    client.createFunction(
      { id: HELD.id, retries: RETRIES, triggers: { event: 'chaos/held' }, concurrency: HELD.limit },
      (context) => hold(HELD.id, context, HELD.heldMs),
    ),
    client.createFunction(
      {
        id: THROTTLED.id,
        retries: RETRIES,
        triggers: { event: 'chaos/throttled' },
        throttle: { limit: THROTTLED.limit, burst: THROTTLED.burst, period: period(THROTTLED.periodMs), key: KEY },
      },
      (context) => report(THROTTLED.id, context),
    ),
    client.createFunction(
      {
        id: RATE_LIMITED.id,
        retries: RETRIES,
        triggers: { event: 'chaos/rate-limited' },
        rateLimit: { limit: RATE_LIMITED.limit, period: period(RATE_LIMITED.periodMs), key: KEY },
      },
      (context) => report(RATE_LIMITED.id, context),
    ),
    client.createFunction(
      {
        id: SINGLETON.id,
        retries: RETRIES,
        triggers: { event: 'chaos/singleton' },
        singleton: { key: KEY, mode: 'skip' },
      },
      async (context) => {
        await context.step.run('a', () => report(SINGLETON.id, context, 'a'));
        await context.step.sleep('nap', SINGLETON.sleepMs);
        await context.step.run(SINGLETON.lastStep, () => report(SINGLETON.id, context, SINGLETON.lastStep, ['a']));
      },
    ),
    client.createFunction(
      {
        id: ORDERED.id,
        retries: RETRIES,
        triggers: { event: ORDERED.name },
        order: { key: KEY, by: 'event.data.at', window: period(ORDERED.windowMs), onStale: 'skip' },
      },
      async (context) => {
        await context.step.run('a', () => report(ORDERED.id, context, 'a'));
        await context.step.run(ORDERED.lastStep, () => report(ORDERED.id, context, ORDERED.lastStep, ['a']));
      },
    ),
    client.createFunction(
      {
        id: DEBOUNCED.id,
        retries: RETRIES,
        triggers: { event: DEBOUNCED.name },
        debounce: { period: period(DEBOUNCED.periodMs), key: KEY },
      },
      (context) => report(DEBOUNCED.id, context),
    ),
    client.createFunction(
      {
        id: BATCHED.id,
        retries: RETRIES,
        triggers: { event: 'chaos/batched' },
        batchEvents: { maxSize: BATCHED.maxSize, timeout: period(BATCHED.timeoutMs), key: KEY },
      },
      (context) => report(BATCHED.id, context),
    ),
    client.createFunction(
      { id: TICKING.id, retries: RETRIES, triggers: { cron: `*/${TICKING.everyMs / 1_000} * * * * *` } },
      (context) => report(TICKING.id, context),
    ),
    client.createFunction({ id: REPLAYED.id, retries: RETRIES, triggers: { event: REPLAYED.name } }, (context) =>
      report(REPLAYED.id, context),
    ),
  ];
}
