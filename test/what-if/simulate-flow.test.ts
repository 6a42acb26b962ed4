import { expect } from 'chai';
import fc from 'fast-check';
import type { FlowOptions } from '../../src/model/flow-control/options.ts';
import { simulateFlow } from '../../src/model/what-if/flow/simulate-flow.ts';
import type { SimulatedCall, SimulatedEvent } from '../../src/model/what-if/flow/simulated-flow.ts';

const KEYS = ['', 'a', 'b'];
const KEY = fc.constantFrom(...KEYS);
const events = fc
  .array(fc.record({ gap: fc.nat(50), key: KEY, late: fc.nat(60), priority: fc.integer({ min: -1, max: 1 }) }), {
    maxLength: 60,
  })
  .map((given) => {
    let at = 1_000;
    return given.map(({ gap, key, late, priority }): SimulatedEvent => {
      at += gap;
      const keys = { rateLimit: key, idempotency: key, singleton: key, debounce: key, batch: key, throttle: key };
      return { at, ts: at - late, ...keys, run: [key], step: [key], prioritySeconds: priority / 100 };
    });
  });
const ms = fc.integer({ min: 1, max: 100 });
const course = fc.array(fc.record({ afterMs: fc.nat(40), ms }), { minLength: 1, maxLength: 4 });
const courses = fc.array(course, { minLength: 1, maxLength: 3 });
const NONE: FlowOptions = { runConcurrency: [], stepConcurrency: [] };
const limits = fc.array(fc.record({ limit: fc.integer({ min: 1, max: 4 }), scope: fc.constant('fn' as const) }), {
  maxLength: 1,
});
const LIMIT = { limit: fc.integer({ min: 1, max: 3 }), periodMs: ms };
const options: fc.Arbitrary<FlowOptions> = fc
  .record(
    {
      throttle: fc.record({ ...LIMIT, burst: fc.nat(2) }),
      rateLimit: fc.record(LIMIT),
      debounce: fc.record({ periodMs: ms, timeoutMs: ms }),
      batch: fc.record({ maxSize: fc.integer({ min: 1, max: 4 }), timeoutMs: ms }),
      singleton: fc.record({ mode: fc.constantFrom('skip' as const, 'cancel' as const) }),
      idempotency: fc.constant('event.data.key'),
    },
    { requiredKeys: [] },
  )
  .chain((some) =>
    fc.record({ runConcurrency: limits, stepConcurrency: limits }).map((more) => ({ ...some, ...more }) as FlowOptions),
  );

/** What a single call of a run takes. */
function lengthOf(calls: readonly SimulatedCall[]): number {
  return calls.reduce((sum, { afterMs, ms }, i) => sum + ms + (i > 0 ? afterMs : 0), 0);
}

describe('A simulation of flow control', () => {
  it('starts a run of each event at once if there are no limits', () => {
    fc.assert(
      fc.property(events, courses, (given, some) => {
        const found = simulateFlow(given, undefined, some);
        expect(found).to.deep.include({ events: given.length, runs: given.length, merged: 0, waitingMax: 0 });
        expect([found.waitMaxMs, found.complete]).to.deep.equal([0, true]);
      }),
    );
  });

  it('accounts for every event, and its end leaves nothing waiting', () => {
    fc.assert(
      fc.property(events, options, courses, (given, flow, some) => {
        const { runs, skipped, merged, complete, waitP99Ms, waitMaxMs, cancelled } = simulateFlow(given, flow, some);
        const { rate_limited, idempotent, singleton } = skipped;
        expect(runs + merged + rate_limited + idempotent + singleton).to.equal(given.length);
        expect(complete).to.equal(true);
        expect(waitP99Ms).to.be.at.most(waitMaxMs);
        expect(cancelled).to.be.at.most(runs);
      }),
    );
  });

  it('admits no more events to any window of a rate limit than its limit, and skips one only if the window is full', () => {
    fc.assert(
      fc.property(events, fc.record(LIMIT), (given, rateLimit) => {
        const admitted: SimulatedEvent[] = [];
        let skipped = 0;
        for (const event of given) {
          const inWindow = admitted.filter(({ at, rateLimit: key }) => {
            return key === event.rateLimit && at > event.at - rateLimit.periodMs;
          });
          if (inWindow.length < rateLimit.limit) admitted.push(event);
          else skipped++;
        }
        const found = simulateFlow(given, { ...NONE, rateLimit }, []);
        expect([found.runs, found.skipped.rate_limited]).to.deep.equal([admitted.length, skipped]);
      }),
    );
  });

  it('lets runs wait for a concurrency limit as a queue before as many servers does', () => {
    fc.assert(
      fc.property(events, courses, fc.integer({ min: 1, max: 3 }), (given, some, limit) => {
        const freeAt = Array.from({ length: limit }, () => 0);
        const waits = given.map(({ at }, i) => {
          freeAt.sort((a, b) => a - b);
          const startsAt = Math.max(at, freeAt[0] as number);
          freeAt[0] = startsAt + lengthOf(some[i % some.length] as SimulatedCall[]);
          return startsAt - at;
        });
        const plain = given.map((event) => ({ ...event, prioritySeconds: 0, run: [''] }));
        const found = simulateFlow(plain, { ...NONE, runConcurrency: [{ limit, scope: 'fn' }] }, some);
        expect(found.waitMaxMs).to.equal(Math.max(0, ...waits));
        const sorted = waits.toSorted((a, b) => a - b);
        expect(found.waitP99Ms).to.equal(sorted[Math.ceil(0.99 * sorted.length) - 1] ?? 0);
        const waitingAt = (at: number) =>
          given.filter((event, i) => event.at <= at && event.at + (waits[i] as number) > at);
        expect(found.waitingMax).to.equal(Math.max(0, ...given.map(({ at }) => waitingAt(at).length)));
      }),
    );
  });

  it('gives each key a queue of its own', () => {
    fc.assert(
      fc.property(events, courses, (given, some) => {
        const [one] = some as [SimulatedCall[]];
        const flow: FlowOptions = { ...NONE, runConcurrency: [{ limit: 1, scope: 'fn', key: 'event.data.key' }] };
        const alone = KEYS.map((key) => {
          const own = given.filter(({ run }) => run[0] === key);
          return simulateFlow(own, flow, [one]).waitMaxMs;
        });
        expect(simulateFlow(given, flow, [one]).waitMaxMs).to.equal(Math.max(...alone));
      }),
    );
  });

  it('delays starts by a throttle as GCRA does', () => {
    fc.assert(
      fc.property(events, fc.record({ ...LIMIT, burst: fc.nat(2) }), (given, throttle) => {
        const interval = throttle.periodMs / throttle.limit;
        const tolerance = interval * (throttle.limit + throttle.burst - 1);
        const next = new Map<string, number>();
        const waits = given.map(({ at, throttle: key }) => {
          const startsAt = Math.max(at, (next.get(key) ?? 0) - tolerance);
          next.set(key, Math.max(next.get(key) ?? 0, startsAt) + interval);
          return startsAt - at;
        });
        const plain = given.map((event) => ({ ...event, prioritySeconds: 0 }));
        const found = simulateFlow(plain, { ...NONE, throttle }, []);
        expect(found.waitMaxMs).to.equal(Math.round(Math.max(0, ...waits)));
      }),
    );
  });

  it('merges the events of a debounce until none has come for the period, or its timeout is over', () => {
    fc.assert(
      fc.property(events, ms, ms, (given, periodMs, timeoutMs) => {
        const open = new Map<string, { ts: number; dueAt: number; endsAt: number }>();
        let runs = 0;
        for (const { at, ts, debounce } of given) {
          const group = open.get(debounce);
          if (group && group.dueAt > at) {
            if (ts < group.ts) continue;
            open.set(debounce, { ...group, ts, dueAt: Math.min(at + periodMs, group.endsAt) });
          } else {
            runs++;
            const endsAt = at + timeoutMs;
            open.set(debounce, { ts, dueAt: Math.min(at + periodMs, endsAt), endsAt });
          }
        }
        const found = simulateFlow(given, { ...NONE, debounce: { periodMs, timeoutMs } }, []);
        expect([found.runs, found.merged]).to.deep.equal([runs, given.length - runs]);
      }),
    );
  });

  it('runs a batch when it is full or due', () => {
    fc.assert(
      fc.property(events, fc.integer({ min: 1, max: 4 }), ms, (given, maxSize, timeoutMs) => {
        const open = new Map<string, { count: number; dueAt: number }>();
        let runs = 0;
        for (const { at, batch = '' } of given) {
          let group = open.get(batch);
          if (!group || group.dueAt <= at) {
            runs++;
            group = { count: 0, dueAt: at + timeoutMs };
            open.set(batch, group);
          }
          if (++group.count === maxSize) open.delete(batch);
        }
        const found = simulateFlow(given, { ...NONE, batch: { maxSize, timeoutMs } }, []);
        expect([found.runs, found.merged]).to.deep.equal([runs, given.length - runs]);
      }),
    );
  });

  it('skips events while the run of their singleton is active, or replaces it', () => {
    fc.assert(
      fc.property(events, course, (given, one) => {
        const busyUntil = new Map<string, number>();
        let [skipped, replaced] = [0, 0];
        for (const { at, singleton = '' } of given) {
          if ((busyUntil.get(singleton) ?? 0) > at) skipped++;
          else busyUntil.set(singleton, at + lengthOf(one));
        }
        const latest = new Map<string, number>();
        for (const { at, singleton = '' } of given) {
          if ((latest.get(singleton) ?? 0) > at) replaced++;
          latest.set(singleton, at + lengthOf(one));
        }
        const found = (mode: 'skip' | 'cancel') => simulateFlow(given, { ...NONE, singleton: { mode } }, [one]);
        expect(found('skip').skipped.singleton).to.equal(skipped);
        expect(found('cancel').cancelled).to.equal(replaced);
      }),
    );
  });

  it('counts no debounced event that a singleton then skips for rate limit and idempotency', () => {
    const event = (at: number, order: string): SimulatedEvent => {
      return {
        at,
        ts: at,
        rateLimit: '',
        idempotency: order,
        singleton: '',
        debounce: order,
        batch: '',
        throttle: '',
        run: [''],
        step: [],
        prioritySeconds: 0,
      };
    };
    const flow: FlowOptions = {
      ...NONE,
      rateLimit: { limit: 2, periodMs: 1_000 },
      idempotency: 'event.data.order',
      debounce: { periodMs: 10, timeoutMs: 10 },
      singleton: { mode: 'skip' },
    };
    const found = simulateFlow([event(0, 'a'), event(20, 'b'), event(200, 'b')], flow, [[{ afterMs: 0, ms: 100 }]]);
    expect([found.runs, found.skipped]).to.deep.equal([2, { rate_limited: 0, idempotent: 0, singleton: 1 }]);
  });

  it('starts the run with the highest priority first', () => {
    const event = (prioritySeconds: number): SimulatedEvent => {
      return { at: 1, ts: 1, debounce: '', batch: '', throttle: '', run: [''], step: [], prioritySeconds };
    };
    const flow: FlowOptions = { ...NONE, runConcurrency: [{ limit: 1, scope: 'fn' }] };
    const waits = (...priorities: number[]) => {
      const lengths = [10, 100, 1].map((ms) => [{ afterMs: 0, ms }]);
      return simulateFlow(priorities.map(event), flow, lengths).waitMaxMs;
    };
    expect(waits(0, 0, 0)).to.equal(110);
    expect(waits(0, 0, 1)).to.equal(11);
  });

  it('ends when its budget is used up, and says so', () => {
    const many = Array.from({ length: 2_000 }, (_, at): SimulatedEvent => {
      return { at, ts: at, debounce: '', batch: '', throttle: '', run: [String(at), ''], step: [], prioritySeconds: 0 };
    });
    const scope = 'fn' as const;
    const flow: FlowOptions = {
      ...NONE,
      runConcurrency: [
        { limit: 1, scope, key: 'a' },
        { limit: 1, scope },
      ],
    };
    expect(simulateFlow(many, flow, [[{ afterMs: 0, ms: 1_000 }]], 10_000).complete).to.equal(false);
    expect(simulateFlow(many, flow, [[{ afterMs: 0, ms: 1_000 }]], 10_000_000).complete).to.equal(true);
  });
});
