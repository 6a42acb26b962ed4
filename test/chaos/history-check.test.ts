import { expect } from 'chai';
import { expectationsOf } from '../../chaos/apps/apps.ts';
import {
  BATCHED,
  CANCELLED,
  DEBOUNCED,
  functionIdOf,
  HELD,
  KEYED,
  ORDERED,
  RATE_LIMITED,
  SINGLETON,
  THROTTLED,
  TICKING,
  WAITING,
} from '../../chaos/apps/limits.ts';
import { checkHistory } from '../../chaos/history/check.ts';
import type { Entry } from '../../chaos/history/entry.ts';
import { History } from '../../chaos/history/history.ts';
import { modelOf } from '../../chaos/history/model.ts';
import { control, end, event, run, send, start } from './entries.ts';

const many = <Made>(count: number, make: (n: number) => Made) => Array.from({ length: count }, (_, n) => make(n));
const of = ({ id }: { id: string }, more = {}) => ({ functionId: functionIdOf(id), ...more });
const plain = functionIdOf('plain');

/** What violates each row of the results, with the functions of the apps. */
const VIOLATIONS: Record<string, Entry[]> = {
  'acknowledged events lost': [send('lost', 0)],
  'runs missing': [send('missing', 0, { name: 'chaos/plain' }), event('missing')],
  'runs duplicated': [
    send('doubled', 0, { name: 'chaos/plain' }),
    event('doubled'),
    ...many(2, (n) => run(`doubled ${n}`, 'doubled', { functionId: plain })),
  ],
  'runs stuck': [run('stuck', '1', { status: 'Running' })],
  'runs failed unexpectedly': [run('failed', '1', { status: 'Failed' })],
  'IDs stored twice, or with two runs of a function': many(2, (n) => event('twice', { eventId: `event ${n}` })),
  'finished steps that ran again': [
    start('repeated', 0, { step: 'a' }),
    start('repeated', 1, { step: 'b', finished: ['a'] }),
    start('repeated', 60_000, { step: 'a' }),
  ],
  'steps that ran again without a crash': many(2, (n) => start('again', n)),
  'calls beyond a concurrency limit': many(KEYED.limit + 1, (n) => `k${n}`).flatMap((id, n) => [
    start(id, n, of(KEYED)),
    end(id, 50, of(KEYED)),
  ]),
  'starts beyond a throttle': many(9, (n) => start(`t${n}`, n, of(THROTTLED))),
  'runs beyond a rate limit, or skipped before it': many(RATE_LIMITED.limit + 1, String).flatMap((n) => [
    send(`r${n}`, 0, { key: 'k', name: 'chaos/other' }),
    start(`r${n}`, 10, of(RATE_LIMITED, { key: 'k', sentIds: [`r${n}`] })),
  ]),
  'singletons with two active runs': [
    start('s1', 0, of(SINGLETON, { step: 'a' })),
    start('s2', 1, of(SINGLETON, { step: 'a' })),
    start('s1', 2, of(SINGLETON, { step: SINGLETON.lastStep })),
  ],
  'runs of a lane out of order': [10, 9].map((n, at) => start(`o${n}`, at, of(ORDERED, { sentIds: [`chaos-${n}`] }))),
  'debounced events without a run, or run too early': [send('debounced', 0, { name: DEBOUNCED.name })],
  'batches too large, or of several keys': [
    start('batch', 0, of(BATCHED, { sentIds: many(BATCHED.maxSize + 1, (n) => `in a batch ${n}`) })),
  ],
  'runs started while their function was paused': [control('pause', 0, of(HELD)), start('held', 5_000, of(HELD))],
  'cancelled runs that went on': [
    control('cancel', 0, of(CANCELLED, { runId: 'cancelled' })),
    start('cancelled', 5_000, of(CANCELLED)),
  ],
  'waits that missed their event, or ended without it': [
    send('wait', 0, { name: WAITING.startedBy, key: 'w' }),
    send('go', 1_000, { name: WAITING.awaited, key: 'w' }),
    run('wait', 'wait', {
      ...of(WAITING),
      waits: [{ step: 'go', sinceMs: 100, untilMs: 6_100, eventId: null, timedOut: true }],
    }),
  ],
  'ticks run twice, early or not at all': many(2, (n) => start(`tick ${n}`, 10, of(TICKING, { tickMs: 0 }))),
  'replays that repeated or miscounted a run': [{ kind: 'replay', replayId: 'p', status: 'done', started: 1 }],
};

describe('The history of scripts/chaos', () => {
  const model = modelOf(expectationsOf(['typescript']), {
    callTimeoutMs: 15_000,
    stalledAfterMs: 5_000,
    isBuffered: () => false,
  });

  it('is checked for every property, and each check finds its violations', () => {
    const { counts } = checkHistory(new History([]), model);
    expect(counts.map(({ name, figure }) => [name, figure])).to.deep.equal(
      Object.keys(VIOLATIONS).map((name) => [name, 0]),
    );
    for (const [name, entries] of Object.entries(VIOLATIONS)) {
      const found = checkHistory(new History(entries), model).counts.find((count) => count.name === name);
      expect(found?.figure, name).to.be.above(0);
    }
  });
});
