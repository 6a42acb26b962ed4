import { expect } from 'chai';
import { CronTicks, type CronTicksDeps } from '../../src/jobs/timers/cron.ts';
import type { AppFunction } from '../../src/model/apps/app.ts';
import type { Envelope } from '../../src/model/events/event.ts';
import { unavailable } from '../../src/store/redis/connection/connection.ts';
import type { Keyspace } from '../../src/store/redis/keyspace/keyspace.ts';

const TICK = Date.UTC(2026, 0, 1);
const CRON = '* * * * * *';

describe('A tick when a replica may take over', () => {
  /** @param isLost whether what was written is on no replica */
  async function did(isLost: boolean): Promise<string[]> {
    const done: string[] = [];
    const note = (what: string) => async () => void done.push(what);
    const fn = { id: 'app-f', triggers: [{ cron: CRON }] } as unknown as AppFunction;
    const ticks = new CronTicks({
      ids: { ownEvent: () => 'event', derived: () => 'run' } as unknown as CronTicksDeps['ids'],
      keys: { homeOf: () => ({ number: 0 }) } as unknown as Keyspace,
      events: {
        storeNew: async (events: readonly Envelope[]) =>
          events.map((event) => ({ event, repeat: false, ingested: false })),
        markIngested: note('enters the index'),
      },
      functions: { of: async () => ({ find: () => fn }) },
      flowControl: { decide: async () => [] },
      starter: { start: note('starts its run') },
      telemetry: { recordIngested: () => {} },
      clock: () => TICK,
      async replicated<T>(work: () => Promise<T>): Promise<T> {
        const result = await work();
        if (isLost) throw unavailable('a primary was replaced');
        done.push('is on a replica');
        return result;
      },
    } as unknown as CronTicksDeps);
    const timer = { kind: 'cron', env: 'production', functionId: fn.id, cron: CRON } as const;
    await ticks.handle(timer, TICK, 1).catch(() => done.push('is handled again'));
    return done;
  }

  it('has its run on a replica before its event enters the index, which implies that the run exists', async () => {
    expect(await did(false)).to.deep.equal(['starts its run', 'is on a replica', 'enters the index']);
    expect(await did(true)).to.deep.equal(['starts its run', 'is handled again']);
  });
});
