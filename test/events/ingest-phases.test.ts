import { expect } from 'chai';
import { type IngestDeps, ingest } from '../../src/jobs/ingestion/ingest.ts';
import { unavailable } from '../../src/store/redis/connection/connection.ts';
import { envelope } from '../support/own-store.ts';

describe('The ingestion of an event when a replica may take over', () => {
  /** @param lost number of the confirmation that fails, from 0 */
  async function did(lost?: number): Promise<string[]> {
    const done: string[] = [];
    const note = (what: string) => async () => void done.push(what);
    let confirmations = 0;
    const event = envelope();
    const deps = {
      environments: { read: async () => undefined },
      events: {
        storeNew: async () => [{ event, repeat: false, ingested: false }],
        markIngested: async () => {
          done.push('enters the index');
          return [event];
        },
      },
      functions: { of: async () => ({ match: () => [], hasPaused: false }) },
      starter: { start: note('starts its runs') },
      waitMatcher: { matchEvents: note('meets waits') },
      evaluator: { startTurn: () => {}, reportSkipped: async () => {}, shouldYield: false },
      flowControl: { decide: async () => [] },
      decisions: { add: async () => {} },
      telemetry: { recordIngested: () => {} },
      async replicated<T>(work: () => Promise<T>): Promise<T> {
        const result = await work();
        if (confirmations++ === lost) throw unavailable('a primary was replaced');
        done.push('is on a replica');
        return result;
      },
    } as unknown as IngestDeps;
    await ingest([event], deps).catch(() => done.push('is ingested again'));
    return done;
  }

  it('has its runs on a replica before the event enters the index, which implies that they exist', async () => {
    expect(await did()).to.deep.equal([
      'starts its runs',
      'is on a replica',
      'enters the index',
      'meets waits',
      'is on a replica',
    ]);
    expect(await did(0)).to.deep.equal(['starts its runs', 'is ingested again']);
  });
});
