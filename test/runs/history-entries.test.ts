import { expect } from 'chai';
import fc from 'fast-check';
import type { HistoryEntry } from '../../src/model/runs/run.ts';
import { decodeHistoryEntry, encodeHistoryEntry } from '../../src/store/runs/history-entries.ts';

const time = fc.integer({ min: 1_600_000_000_000, max: 1_900_000_000_000 });
const entry: fc.Arbitrary<HistoryEntry> = fc.record(
  {
    kind: fc.constantFrom('attempt' as const, 'step' as const),
    status: fc.constantFrom('Completed' as const, 'Failed' as const, 'Cancelled' as const),
    startedAt: time,
    endedAt: time,
    queuedAt: time,
    attempt: fc.nat(20),
    stepId: fc.string({ maxLength: 50 }),
    name: fc.string({ maxLength: 50 }),
    op: fc.string({ maxLength: 20 }),
    error: fc.record({ name: fc.string(), message: fc.string() }),
    waitsFor: fc.string(),
    timedOut: fc.constant(true as const),
    group: fc.nat(9),
  },
  { requiredKeys: ['kind', 'status', 'startedAt', 'endedAt'] },
);
const ATTEMPT: HistoryEntry = {
  kind: 'attempt',
  attempt: 0,
  status: 'Completed',
  queuedAt: 1_795_866_561_203,
  startedAt: 1_795_866_561_236,
  endedAt: 1_795_866_561_467,
};

describe('A stored history entry', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(entry, (one) => {
        expect(decodeHistoryEntry(encodeHistoryEntry(one))).to.deep.equal(one);
      }),
    );
  });

  it('of an attempt has its times and nothing else', () => {
    expect(encodeHistoryEntry(ATTEMPT)).to.equal('[0,1795866561236,231,33,0]');
  });

  it('can be read as earlier versions wrote it', () => {
    expect(decodeHistoryEntry(JSON.stringify(ATTEMPT))).to.deep.equal(ATTEMPT);
  });

  it('of a step that was pending at the end of its run shows when it began', () => {
    const pending = { op: 'Sleep', name: 'nap', since: 1_000, until: 9_000 };
    const text = JSON.stringify({ stepId: 's1', endedAt: 2_000, pending });
    expect(decodeHistoryEntry(text)).to.deep.equal({
      kind: 'step',
      stepId: 's1',
      op: 'Sleep',
      name: 'nap',
      until: 9_000,
      status: 'Cancelled',
      startedAt: 1_000,
      endedAt: 2_000,
    });
  });
});
