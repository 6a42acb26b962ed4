import { expect } from 'chai';
import fc from 'fast-check';
import type { Entry, Execution } from '../../chaos/history/entry.ts';
import { History } from '../../chaos/history/history.ts';
import { checkBatches } from '../../chaos/history/properties/batches.ts';
import { checkCancellations } from '../../chaos/history/properties/cancellations.ts';
import { checkConcurrency } from '../../chaos/history/properties/concurrency.ts';
import { checkDebounce } from '../../chaos/history/properties/debounce.ts';
import { checkOrder } from '../../chaos/history/properties/order.ts';
import { checkPauses } from '../../chaos/history/properties/pauses.ts';
import { checkRateLimit } from '../../chaos/history/properties/rate-limit.ts';
import { checkSingleton } from '../../chaos/history/properties/singleton.ts';
import { checkThrottle } from '../../chaos/history/properties/throttle.ts';
import { control, end, event, FN, fault, run, send, start } from './entries.ts';

describe('The history of scripts/chaos', () => {
  it('proves that events of a key ran out of order, unless their app was stopped', () => {
    const check = (...entries: Entry[]) => checkOrder(new History(entries), { functionId: FN });
    const first = (runId: string, n: number, atMs: number, key = 'a') =>
      start(runId, atMs, { key, sentIds: [`chaos-${n}`] });
    expect(check(first('r1', 9, 0), first('r2', 10, 5), first('r3', 8, 6, 'b'))).to.deep.equal([]);
    const wrong = [first('r1', 10, 0), first('r2', 9, 5), first('r3', 11, 6)];
    expect(check(...wrong)).to.have.length(1);
    expect(check(...wrong, fault('kill-app', 1, 3))).to.deep.equal([]);
  });

  describe('proves an exceeded concurrency limit', () => {
    const check = (limit: number, ...entries: Entry[]) =>
      checkConcurrency(new History(entries), { functionId: FN, limit, certainMs: 5_000 });
    const call = (runId: string, fromMs: number, untilMs: number, key?: string) =>
      [start, end].map((of, n) => of(runId, n === 0 ? fromMs : untilMs, key === undefined ? {} : { key }));

    it('when more calls of a key than allowed are in flight', () => {
      const violations = check(1, ...call('r1', 0, 100), ...call('r2', 99, 200));
      expect(violations).to.have.length(1);
      expect(violations[0]?.proof.map((entry) => (entry as Execution).runId)).to.deep.equal(['r1', 'r1', 'r2', 'r2']);
      expect(check(1, ...call('r1', 0, 100), ...call('r2', 100, 200))).to.deep.equal([]);
      expect(check(2, ...call('r1', 0, 100), ...call('r2', 99, 200))).to.deep.equal([]);
      expect(check(1, ...call('r1', 0, 100, 'a'), ...call('r2', 99, 200, 'b'))).to.deep.equal([]);
      expect(check(1, ...call('r1', 0, 100, 'a'), ...call('r2', 99, 200, 'a'))).to.have.length(1);
    });

    it('but not when a call is repeated, has timed out, or has no end', () => {
      expect(check(1, ...call('r1', 0, 100), ...call('r1', 50, 200))).to.deep.equal([]);
      expect(check(1, ...call('r1', 0, 9_000), ...call('r2', 6_000, 9_000))).to.deep.equal([]);
      expect(check(1, start('r1', 0), ...call('r2', 6_000, 9_000))).to.deep.equal([]);
    });

    it('but not for a call whose process has died, or a call that the service has given up while its app hung', () => {
      const again = call('r1', 200, 300).map((entry) => ({ ...entry, process: 2 }));
      expect(check(1, start('r1', 0, { process: 1 }), ...call('r2', 50, 100), ...again)).to.deep.equal([]);
      const atOnce = [...call('r1', 11_001, 11_100), ...call('r2', 11_001, 11_100)];
      expect(check(1, ...atOnce)).to.have.length(1);
      expect(check(1, fault('hang-app', 0, 11_000), ...atOnce)).to.deep.equal([]);
    });

    it('in no history of a semaphore, but in each with one call more', () => {
      const durations = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 4, maxLength: 30 });
      fc.assert(
        fc.property(durations, fc.integer({ min: 1, max: 3 }), (heldMs, limit) => {
          const freeMs = Array<number>(limit).fill(0);
          const calls = heldMs.flatMap((ms, n) => {
            const permit = freeMs.indexOf(Math.min(...freeMs));
            const fromMs = freeMs[permit] ?? 0;
            freeMs[permit] = fromMs + ms;
            return call(`r${n}`, fromMs, fromMs + ms);
          });
          expect(check(limit, ...calls)).to.deep.equal([]);
          expect(check(limit, ...calls, ...call('another', 0, 1))).to.not.deep.equal([]);
        }),
      );
    });
  });

  describe('proves an exceeded throttle', () => {
    const throttle = { functionId: FN, limit: 2, periodMs: 1_000, burst: 1 };
    const check = (...entries: Entry[]) => checkThrottle(new History(entries), throttle);
    const starts = (...times: number[]) => times.map((atMs, n) => start(`r${n}`, atMs, { key: 'k' }));

    it('when runs of a key start faster than any delay of admitted ones explains', () => {
      expect(check(...starts(0, 1, 2, 500, 1_000))).to.deep.equal([]);
      // Two intervals of 500 ms late at most.
      expect(check(...starts(0, 1, 2, 3, 4))).to.deep.equal([]);
      expect(check(...starts(0, 1, 2, 3, 4, 5))).to.have.length(1);
    });

    it('unless a worker died before, or the app was stopped', () => {
      expect(check(fault('stop-app', -3_000, 0, false), ...starts(0, 1, 2, 3, 4, 5))).to.deep.equal([]);
      expect(check(fault('kill-worker', -5_000, -4_900), ...starts(0, 1, 2, 3, 4, 5))).to.deep.equal([]);
    });

    it('but not when many reached the app late and at once, and the next ones in time', () => {
      const late = starts(...Array.from({ length: 20 }, (_, n) => n));
      const inTime = Array.from({ length: 60 }, (_, n) => start(`later${n}`, 500 * (n + 1), { key: 'k' }));
      expect(check(fault('kill-worker', -11_000, -1), ...late, ...inTime)).to.deep.equal([]);
      const tooMany = Array.from({ length: 5 }, (_, n) => start(`extra${n}`, 29_000 + n, { key: 'k' }));
      expect(check(fault('kill-worker', -11_000, -1), ...late, ...inTime, ...tooMany)).to.have.length(1);
    });

    it('in no history of a throttle whose starts reach the app late', () => {
      const delays = fc.array(fc.tuple(fc.nat(2_000), fc.nat(1_000)), { maxLength: 40 });
      fc.assert(
        fc.property(delays, (runs) => {
          let nextMs = 0;
          let nowMs = 0;
          const times = runs.map(([pauseMs, lateMs]) => {
            nowMs = Math.max(nowMs + pauseMs, nextMs - 1_000);
            nextMs = Math.max(nextMs, nowMs) + 500;
            return nowMs + lateMs;
          });
          expect(check(...starts(...times))).to.deep.equal([]);
        }),
      );
    });
  });

  describe('proves a broken rate limit', () => {
    const limit = { functionId: FN, limit: 2, periodMs: 10_000 };
    const check = (...entries: Entry[]) => checkRateLimit(new History(entries), limit);
    const admitted = (id: string, sentMs: number, atMs: number) => [
      send(id, sentMs, { key: 'k' }),
      start(`r${id}`, atMs, { sentIds: [id], key: 'k' }),
    ];
    const skipped = (id: string, sentMs: number, untilMs: number) => [
      send(id, sentMs, { key: 'k' }),
      event(id, {
        decisions: [{ functionId: FN, outcome: 'skipped', reason: 'rate_limited', runIds: [], untilMs }],
      }),
    ];

    it('when more runs were certainly admitted within a period', () => {
      const two = [...admitted('1', 0, 100), ...admitted('2', 1_000, 1_100)];
      expect(check(...two, ...admitted('3', 9_000, 9_100))).to.have.length(1);
      expect(check(...two, ...admitted('3', 9_000, 10_100))).to.deep.equal([]);
      expect(check(...two, ...admitted('3', 10_100, 10_200))).to.deep.equal([]);
    });

    it('when an event is skipped though fewer runs were admitted', () => {
      const one = admitted('1', 0, 100);
      expect(check(...one, ...skipped('3', 5_000, 10_000))).to.have.length(1);
      expect(check(...one, ...admitted('2', 1_000, 1_100), ...skipped('3', 5_000, 10_000))).to.deep.equal([]);
      expect(check(...one, ...admitted('2', 20_000, 20_100), ...skipped('3', 5_000, 10_000))).to.have.length(1);
    });

    it('in no history of a sliding window, however late its runs start', () => {
      const times = fc.array(fc.tuple(fc.nat(4_000), fc.nat(500), fc.nat(9_000)), { maxLength: 40 });
      fc.assert(
        fc.property(times, (events) => {
          let nowMs = 0;
          const admissions: number[] = [];
          const entries = events.flatMap<Entry>(([pauseMs, ingestedMs, lateMs], n) => {
            const sentMs = nowMs + pauseMs;
            nowMs = sentMs + ingestedMs;
            const inWindow = admissions.filter((ms) => ms > nowMs - limit.periodMs);
            if (inWindow.length >= limit.limit) return skipped(String(n), sentMs, (inWindow[0] ?? 0) + limit.periodMs);
            admissions.push(nowMs);
            return admitted(String(n), sentMs, nowMs + lateMs);
          });
          expect(check(...entries)).to.deep.equal([]);
        }),
      );
    });
  });

  it('proves two active runs of a singleton', () => {
    const step = (runId: string, name: string, atMs: number, key = 'k') => start(runId, atMs, { step: name, key });
    const check = (...entries: Entry[]) => checkSingleton(new History(entries), { functionId: FN, lastStep: 'b' });
    const first = [step('r1', 'a', 0), step('r1', 'b', 500)];
    expect(check(...first, step('r2', 'a', 400), step('r2', 'b', 900))).to.have.length(1);
    expect(check(...first, step('r2', 'a', 500), step('r2', 'b', 900))).to.deep.equal([]);
    expect(check(...first, step('r2', 'a', 400, 'other'))).to.deep.equal([]);
    expect(check(...first, step('r2', 'a', 400), run('r2', '1', { retryOf: 'r1' }))).to.deep.equal([]);
  });

  it('proves debounced runs that start too early, and events that no run stands for', () => {
    const debounce = { functionId: FN, name: 'a/b', periodMs: 1_000 };
    const check = (...entries: Entry[]) => checkDebounce(new History(entries), debounce);
    const sent = (id: string, atMs: number, key = 'k') => send(id, atMs, { key });
    const ran = (id: string, atMs: number) => start(`r${id}`, atMs, { sentIds: [id] });
    expect(check(sent('1', 0), sent('2', 500), ran('2', 1_500))).to.deep.equal([]);
    expect(check(sent('1', 0), sent('2', 500), ran('2', 1_400))).to.have.length(1);
    expect(check(sent('1', 0), sent('2', 500), ran('1', 1_500))).to.have.length(1);
    expect(check(sent('1', 0), sent('2', 500, 'other'), ran('2', 1_500))).to.have.length(1);
    expect(check(fault('clock-ahead', 0, 900, false), sent('2', 500), ran('2', 1_400))).to.deep.equal([]);
  });

  it('proves batches that are too large, or of several keys', () => {
    const check = (...entries: Entry[]) => checkBatches(new History(entries), { functionId: FN, maxSize: 2 });
    const sends = ['1', '2', '3'].map((id) => send(id, 0, { key: id === '3' ? 'other' : 'k' }));
    expect(check(...sends, start('r', 10, { sentIds: ['1', '2'] }))).to.deep.equal([]);
    expect(check(...sends, start('r', 10, { sentIds: ['1', '2', '2'] }))).to.have.length(1);
    expect(check(...sends, start('r', 10, { sentIds: ['1', '3'] }))).to.have.length(1);
  });

  it('proves runs that start between the response to a pause and the resumption', () => {
    const check = (...entries: Entry[]) => checkPauses(new History(entries), FN);
    const paused = [control('pause', 1_000, { completedMs: 2_000 }), control('resume', 5_000)];
    expect(check(...paused, start('r1', 1_900), start('r2', 5_005))).to.deep.equal([]);
    expect(check(...paused, start('r1', 4_000))).to.have.length(1);
    expect(check(...paused.slice(0, 1), start('r1', 9_000))).to.have.length(1);
    expect(check(control('pause', 1_000, { result: 'unknown' }), start('r1', 4_000))).to.deep.equal([]);
    // The runs had started before.
    expect(check(...paused, start('r1', 4_000), run('r1', '1', { startedMs: 1_990 }))).to.deep.equal([]);
    expect(check(...paused, start('r1', 4_000), run('r1', '1', { startedMs: 3_990 }))).to.have.length(1);
    expect(check(...paused, start('r1', 900), start('r1', 4_000, { step: 'b' }))).to.deep.equal([]);
  });

  it('proves runs that continue after the response to their cancellation', () => {
    const check = (...entries: Entry[]) => checkCancellations(new History(entries));
    const cancel = control('cancel', 1_000, { runId: 'r' });
    const cancelled = run('r', '1', { status: 'Cancelled' });
    expect(check(cancel, start('r', 900), start('r', 1_100), start('other', 5_000), cancelled)).to.deep.equal([]);
    expect(check(cancel, start('r', 2_000), cancelled)).to.have.length(1);
    expect(check(cancel, fault('stop-app', 500, 1_990, false), start('r', 2_000), cancelled)).to.deep.equal([]);
    expect(check(cancel, run('r', '1'))).to.have.length(1);
    expect(check({ ...cancel, result: 'unknown' }, run('r', '1'))).to.deep.equal([]);
  });
});
