import { expect } from 'chai';
import { CoalescedIngestion } from '../../src/jobs/ingestion/coalesced-ingestion.ts';
import type { Envelope } from '../../src/model/events/event.ts';
import { newId } from '../../src/model/ids.ts';

const CONCURRENCY = 4;

function job(name: string, { env = 'production', events = 1 } = {}): Envelope[] {
  const now = Date.now();
  return Array.from({ length: events }, (_, index) => ({
    internalId: newId(now),
    env,
    name,
    ts: now,
    receivedAt: now,
    source: 'event-key' as const,
    requestId: newId(now),
    index,
    payload: JSON.stringify({ name, data: {} }),
  }));
}

/** Ingestions that end when the test says so. */
function controlled() {
  const started: { names: string[]; end: PromiseWithResolvers<void> }[] = [];
  const waiting: (() => void)[] = [];
  const coalesced = new CoalescedIngestion({
    ingest: (events) => {
      const end = Promise.withResolvers<void>();
      started.push({ names: events.map(({ name }) => name), end });
      for (const wake of waiting.splice(0)) wake();
      return end.promise;
    },
    concurrency: () => CONCURRENCY,
  });
  const untilStarted = async (count: number) => {
    while (started.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    return started.map(({ names }) => names);
  };
  return { coalesced, started, untilStarted, end: (i: number) => started[i]?.end.resolve() };
}

describe('A coalesced ingestion', () => {
  it('includes the events of all small jobs that arrived while another was in progress', async () => {
    const { coalesced, untilStarted, end } = controlled();
    const first = coalesced.run(job('a'));
    await untilStarted(1);
    const others = [coalesced.run(job('b')), coalesced.run(job('c', { events: 2 }))];
    end(0);
    await first;
    expect(await untilStarted(2)).to.deep.equal([['a'], ['b', 'c', 'c']]);
    end(1);
    await Promise.all(others);
  });

  it('ends each job separately: events that cannot be ingested fail only their own job', async () => {
    const ingested: string[] = [];
    const coalesced = new CoalescedIngestion({
      ingest: async (events) => {
        if (events.some(({ name }) => name === 'poison')) throw new Error(`poison among ${events.length}`);
        ingested.push(...events.map(({ name }) => name));
      },
      concurrency: () => CONCURRENCY,
    });
    const jobs = [job('a'), job('poison'), job('b')].map((events) => coalesced.run(events));
    const results = await Promise.allSettled(jobs);
    expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect((results[1] as PromiseRejectedResult).reason.message).to.equal('poison among 1');
    expect(ingested).to.deep.equal(['a', 'b']);
  });

  it('has the events of one environment only, and waits for no other', async () => {
    const { coalesced, untilStarted, end } = controlled();
    const slow = coalesced.run(job('a', { env: 'slow' }));
    await untilStarted(1);
    const quick = [coalesced.run(job('b', { env: 'quick' })), coalesced.run(job('c', { env: 'slow' }))];
    expect(await untilStarted(2)).to.deep.equal([['a'], ['b']]);
    end(1);
    await quick[0];
    end(0);
    await slow;
    expect(await untilStarted(3)).to.deep.equal([['a'], ['b'], ['c']]);
    end(2);
    await quick[1];
  });

  it('excludes large jobs, which are ingested alone and at once', async () => {
    const { coalesced, untilStarted, end } = controlled();
    const small = coalesced.run(job('a'));
    await untilStarted(1);
    const large = coalesced.run(job('large', { events: 200 }));
    expect((await untilStarted(2))[1]).to.have.length(200);
    end(1);
    await large;
    end(0);
    await small;
  });

  it('has at most as many events as a job may have', async () => {
    const { coalesced, untilStarted, end } = controlled();
    const first = coalesced.run(job('a'));
    await untilStarted(1);
    const others = Array.from({ length: 5 }, () => coalesced.run(job('b', { events: 150 })));
    end(0);
    await first;
    expect((await untilStarted(2)).map(({ length }) => length)).to.deep.equal([1, 450]);
    end(1);
    expect((await untilStarted(3)).map(({ length }) => length)).to.deep.equal([1, 450, 300]);
    end(2);
    await Promise.all(others);
  });
});
