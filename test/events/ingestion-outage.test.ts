import { once } from 'node:events';
import type { Job } from 'bullmq';
import { expect } from 'chai';
import pino from 'pino';
import { readConfig } from '../../src/config.ts';
import type { IngestDeps } from '../../src/jobs/ingestion/ingest.ts';
import type { PartitionQueues } from '../../src/jobs/queues/partition-queues.ts';
import { INGEST } from '../../src/jobs/queues/queues.ts';
import { NOOP_RECORDER } from '../../src/metrics/recorder.ts';
import type { Envelope } from '../../src/model/events/event.ts';
import { unavailable } from '../../src/store/redis/connection/connection.ts';
import { createIngestWorker } from '../../src/workers/ingest-worker.ts';
import { WakeUps } from '../../src/workers/wake-ups.ts';
import type { WatchedWorker } from '../../src/workers/watched-worker.ts';
import { envelope, type OwnStore, openStore, queuesOf } from '../support/own-store.ts';

const REFUSALS = 3;

describe('An ingest job while a failover refuses its writes', () => {
  let store: OwnStore;
  let queues: PartitionQueues;
  let worker: WatchedWorker<{ events: Envelope[] }> | undefined;
  before(async () => {
    store = await openStore();
    store.redis.options.maxRetriesPerRequest = null;
    queues = queuesOf(store);
  });
  after(async () => {
    await worker?.close();
    await queues.close();
    await store.close();
  });

  it('is delayed as often as that takes, and uses up no attempt', async () => {
    let refusals = 0;
    const handlers = {
      replicated: async () => {
        if (refusals < REFUSALS) throw unavailable(`a primary was replaced: ${++refusals}`);
        return [];
      },
    } as unknown as IngestDeps;
    const { ingest } = queues.partition(0);
    worker = createIngestWorker(
      0,
      {
        ...{ config: readConfig({ MODE: 'dev' }), queueOptions: { connection: store.redis }, queues },
        ...{ jobLists: store.jobLists, handlers, log: pino({ enabled: false }), tracing: undefined },
        ...{ recorder: NOOP_RECORDER, telemetry: { recordJob: () => {} } },
      },
      new WakeUps(1),
    );
    const ended = once(worker, 'completed') as Promise<[Job]>;
    void worker.run();
    await ingest.add(INGEST, { events: [envelope()] });
    const [{ attemptsMade, attemptsStarted }] = await ended;
    // The attempt that succeeds counts.
    expect({ refusals, attemptsMade, attemptsStarted }).to.deep.equal({
      ...{ refusals: REFUSALS, attemptsMade: 1, attemptsStarted: REFUSALS + 1 },
    });
  });
});
