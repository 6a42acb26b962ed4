/** The reference for events: pipelines of plain commands that write the same records and index entries as the service, without HTTP and
 *  without a queue. Receives a number of seconds over IPC and replies with events per second. */
import { Redis } from 'ioredis';
import { toEnvelope } from '../../src/model/events/event.ts';
import { writeEvent } from '../../src/model/events/event-encoding.ts';
import { newId } from '../../src/model/ids.ts';
import { eventOf } from '../payloads.ts';

const { REDIS_URL = '' } = process.env;
/** The sizes of an ingest job and of a worker's concurrency. */
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
  pipeline.hincrby('bare:minute', NAME, EVENTS);
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
  // This database is separate from that of the service.
  await redis.flushdb('ASYNC');
  process.send?.(perSecond);
});
await redis.ping();
process.send?.({ ready: true });
process.once('disconnect', () => process.exit());
