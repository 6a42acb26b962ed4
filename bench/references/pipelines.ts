/** The reference for events: what the same events cost when nothing but pipelines of plain commands writes their records and index
 *  entries, as the service writes them, without HTTP and without a queue. Told for how many seconds, answers with events a second. */
import { Redis } from 'ioredis';
import { toEnvelope } from '../../src/model/events/event.ts';
import { writeEvent } from '../../src/model/events/event-encoding.ts';
import { newId } from '../../src/model/ids.ts';
import { eventOf } from '../bodies.ts';

const { REDIS_URL = '' } = process.env;
/** As many as in an ingest job, and as many jobs at once as in a worker. */
const EVENTS = 500;
const AT_ONCE = 4;
const NAME = 'bench/batch';

const redis = new Redis(REDIS_URL);

async function write(): Promise<void> {
  const receivedAt = Date.now();
  const at = { env: 'production', receivedAt, source: 'event-key', requestId: newId(receivedAt) } as const;
  const pipeline = redis.pipeline();
  const entries: (string | number)[] = [];
  for (let index = 0; index < EVENTS; index++) {
    const internalId = newId(receivedAt);
    const event = eventOf(NAME) as { name: string; data: Record<string, unknown> };
    const text = writeEvent(toEnvelope(event, { ...at, internalId, index }), at.source);
    pipeline.hsetnx(`bare:events:${internalId.slice(0, 8)}`, internalId.slice(8), text);
    entries.push(receivedAt, internalId);
  }
  pipeline.zadd(`bare:index:${NAME}`, ...entries);
  pipeline.hincrby('bare:slot', NAME, EVENTS);
  await pipeline.exec();
}

process.on('message', async (seconds: number) => {
  const startedAt = performance.now();
  let written = 0;
  const work = async () => {
    while (performance.now() - startedAt < 1_000 * seconds) {
      await write();
      written += EVENTS;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const perSecond = (1_000 * written) / (performance.now() - startedAt);
  // Its database is its own: what the service has stays.
  await redis.flushdb('ASYNC');
  process.send?.(perSecond);
});
await redis.ping();
process.send?.({ ready: true });
process.once('disconnect', () => process.exit());
