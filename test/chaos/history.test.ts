import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Decision, Execution, StoredWait } from '../../chaos/history/entry.ts';
import { History } from '../../chaos/history/history.ts';
import { checkCompletion, FINDINGS } from '../../chaos/history/properties/completion.ts';
import { checkDeduplication } from '../../chaos/history/properties/deduplication.ts';
import { findRepeats } from '../../chaos/history/properties/repeats.ts';
import { checkReplays } from '../../chaos/history/properties/replays.ts';
import { checkTicks } from '../../chaos/history/properties/ticks.ts';
import { checkWaits } from '../../chaos/history/properties/waits.ts';
import { describe as shown } from '../../chaos/history/violation.ts';
import { event, FN, fault, run, send, start } from './entries.ts';

describe('The history of scripts/chaos', () => {
  it('is the same after it is written and read, and a violation shows the entries that prove it', () => {
    const dir = mkdtempSync(join(tmpdir(), 'history-'));
    const entries = [send('1', 0), start('r', 5), fault('kill-worker', 3, 4), event('1'), run('r', '1')];
    new History(entries).write(join(dir, 'history.jsonl'));
    expect(History.read(join(dir, 'history.jsonl')).entries).to.deep.equal(entries);
    rmSync(dir, { recursive: true });
    const text = shown({ what: 'twice', proof: [send('1', 0)] });
    expect(text).to.contain('twice\n').and.to.contain('"invokedMs":0');
  });

  describe('proves broken deduplication', () => {
    const check = (...entries: ConstructorParameters<typeof History>[0]) => checkDeduplication(new History(entries));

    it('when one ID is acknowledged as two events', () => {
      const other = send('1', 100, { eventIds: ['another'] });
      expect(check(send('1', 0), other)).to.have.length(1);
      expect(check(send('1', 0), send('1', 100), send('2', 200))).to.deep.equal([]);
    });

    it('when an event is stored twice though only the second response arrived', () => {
      const lost = send('1', 0, { result: 'unknown', eventIds: [] });
      const second = event('1', { eventId: 'another' });
      expect(check(lost, send('1', 100), event('1'), second)).to.have.length(1);
      expect(check(lost, send('1', 100), event('1'))).to.deep.equal([]);
    });

    it('when a function runs twice for one ID, but not for a re-run or a repeated call', () => {
      const [first, second] = [start('r1', 10, { sentIds: ['1'] }), start('r2', 20, { sentIds: ['1'] })];
      expect(check(first, second)).to.have.length(1);
      expect(check(first, start('r1', 20, { sentIds: ['1'] }))).to.deep.equal([]);
      expect(check(first, second, run('r2', '1', { retryOf: 'r1' }))).to.deep.equal([]);
      expect(check(first, start('r2', 20, { sentIds: ['1'], functionId: 'other' }))).to.deep.equal([]);
    });

    it('in any history with one wrong ID, and in none without', () => {
      const resends = fc.array(fc.tuple(fc.nat(9), fc.nat(10_000)), { minLength: 1, maxLength: 50 });
      fc.assert(
        fc.property(resends, fc.nat(), (times, n) => {
          const sends = times.map(([id, atMs]) => send(String(id), atMs));
          expect(check(...sends)).to.deep.equal([]);
          const wrong = sends[n % sends.length] as (typeof sends)[number];
          expect(check(...sends, { ...wrong, eventIds: ['another'] })).to.have.length(1);
        }),
      );
    });
  });

  describe('proves incomplete work', () => {
    const expectations = {
      functionsOf: (name: string) => (name === 'a/b' ? [{ functionId: FN, skips: ['rate_limited'] }] : []),
      mayEnd: (_: string, status: string) => status === 'Cancelled',
    };
    const found = (...entries: ConstructorParameters<typeof History>[0]) => {
      const findings = checkCompletion(new History(entries), expectations);
      return FINDINGS.filter((kind) => findings[kind].length > 0);
    };

    it('when an acknowledged event is lost, has no run or two, or a run is stuck or failed', () => {
      expect(found(send('1', 0), event('1'), run('r', '1'))).to.deep.equal([]);
      expect(found(send('1', 0), run('r', '1'))).to.deep.equal(['lost']);
      expect(found(send('1', 0), event('1'))).to.deep.equal(['missing']);
      expect(found(send('1', 0), event('1'), run('r1', '1'), run('r2', '1'))).to.deep.equal(['doubled']);
      expect(found(send('1', 0), event('1'), run('r', '1', { status: 'Running' }))).to.deep.equal(['stuck']);
      expect(found(send('1', 0), event('1'), run('r', '1', { status: 'Failed' }))).to.deep.equal(['failed']);
      expect(found(send('1', 0), event('1'), run('r', '1', { status: 'Cancelled' }))).to.deep.equal([]);
    });

    it('when flow control skips an event for a reason that does not apply to the function', () => {
      const skipped = (reason: string, outcome = 'skipped'): Decision[] => [
        { functionId: FN, outcome, reason, runIds: [] },
      ];
      expect(found(send('1', 0), event('1', { decisions: skipped('rate_limited') }))).to.deep.equal([]);
      expect(found(send('1', 0), event('1', { decisions: skipped('singleton') }))).to.deep.equal(['missing']);
      expect(found(send('1', 0), event('1', { decisions: skipped('rate_limited', 'pending') }))).to.deep.equal([
        'missing',
      ]);
    });

    it('when a run is stuck that no acknowledged event started', () => {
      expect(found(run('r', '1', { status: 'Queued' }))).to.deep.equal(['stuck']);
    });

    it('but not for what was never acknowledged', () => {
      expect(found(send('1', 0, { result: 'unknown', eventIds: [] }))).to.deep.equal([]);
    });
  });

  describe('proves repeated steps', () => {
    const TIMES = { callTimeoutMs: 15_000, stalledAfterMs: 5_000, isBuffered: () => false };
    const step = (name: string, atMs: number, finished: string[] = []) => start('r', atMs, { step: name, finished });

    it('that no fault at the time of the first excuses', () => {
      const faults = [fault('kill-worker', 10_000, 10_100), fault('terminate-worker', 50_000, 50_100, false)];
      const excused = findRepeats(new History([...faults, step('a', 9_900), step('a', 16_000)]), TIMES);
      expect([excused.excused, excused.unexcused.length]).to.deep.equal([1, 0]);
      const repeated = findRepeats(new History([...faults, step('a', 49_900), step('a', 56_000)]), TIMES);
      expect([repeated.excused, repeated.unexcused.length]).to.deep.equal([0, 1]);
    });

    it('whose results the app had received, whatever failed', () => {
      const all = [fault('kill-all', 0, 100_000), step('a', 1), step('b', 2, ['a']), step('a', 60_000)];
      expect(findRepeats(new History(all), TIMES).afterFinished).to.have.length(1);
    });

    it('whose results the app had before it was killed: only those without a response run again', () => {
      const found = (again: Execution) => {
        const entries = [fault('kill-app', 9_960, 10_500), step('a', 9_900), step('b', 9_950, ['a']), again];
        const { excused, afterFinished, unexcused } = findRepeats(new History(entries), TIMES);
        return [excused, afterFinished.length, unexcused.length];
      };
      expect(found(step('b', 11_000, ['a']))).to.deep.equal([1, 0, 0]);
      expect(found(step('a', 11_000))).to.deep.equal([0, 1, 0]);
    });

    it('of a call that a worker lost: only with a buffer does the call go on', () => {
      const found = (isBuffered: boolean, process: number) => {
        const again = [
          { ...step('a', 25_000), process: 2 },
          { ...step('b', 45_000), process },
        ];
        const entries = [
          fault('kill-worker', 10_000, 10_100),
          step('a', 9_800),
          step('b', 9_900),
          step('c', 10_000, ['a', 'b']),
        ];
        return findRepeats(new History([...entries, ...again]), { ...TIMES, isBuffered: () => isBuffered })
          .afterFinished;
      };
      expect(found(true, 2)).to.deep.equal([]);
      expect(found(true, 3)).to.have.length(1);
      expect(found(false, 2)).to.have.length(1);
    });
  });

  describe('proves broken waits', () => {
    const WAIT = { functionId: FN, startedBy: 'a/wait', awaited: 'a/go', timeoutMs: 6_000 };
    const of = (wait: Partial<StoredWait>) => {
      const waits = [{ step: 'go', sinceMs: 100, untilMs: 6_100, eventId: null, timedOut: false, ...wait }];
      return run('r', 'w', { waits });
    };
    const started = send('w', 0, { name: 'a/wait', key: 'k' });
    const go = (invokedMs: number, more = {}) => send('g', invokedMs, { name: 'a/go', key: 'k', ...more });
    const check = (...entries: ConstructorParameters<typeof History>[0]) =>
      checkWaits(new History([started, ...entries]), WAIT);

    it('that time out though their event was acknowledged', () => {
      expect(check(go(1_000), of({ timedOut: true }))).to.have.length(1);
      expect(check(go(1_000), of({ eventId: 'event g' }))).to.deep.equal([]);
      expect(check(of({ timedOut: true }))).to.deep.equal([]);
    });

    it('unless the event came before the wait, after it, or while a fault held it up', () => {
      expect(check(go(50), of({ timedOut: true }))).to.deep.equal([]);
      expect(check(go(6_000), of({ timedOut: true }))).to.deep.equal([]);
      expect(check(fault('kill-worker', 1_000, 1_100), go(1_000), of({ timedOut: true }))).to.deep.equal([]);
      expect(check(fault('clock-ahead', 1_000, 3_000, false), go(500), of({ timedOut: true }))).to.deep.equal([]);
    });

    it('that end with an event of another key', () => {
      expect(check(go(1_000, { key: 'other' }), of({ eventId: 'event g' }))).to.have.length(1);
    });

    it('that time out too soon', () => {
      const [before, after] = [start('r', 100, { step: 'a' }), start('r', 3_000, { step: 'b' })];
      expect(check(before, after, of({ timedOut: true }))).to.have.length(1);
      expect(check(before, start('r', 6_200, { step: 'b' }), of({ timedOut: true }))).to.deep.equal([]);
    });
  });

  describe('proves broken schedules', () => {
    const EVERY = { functionId: FN, everyMs: 2_000, gapMs: 10_000 };
    const tick = (tickMs: number, atMs = tickMs + 50, run = `r${tickMs}`) => start(run, atMs, { tickMs });
    const check = (...entries: ConstructorParameters<typeof History>[0]) => checkTicks(new History(entries), EVERY);

    it('when a tick has two runs, or one before its time', () => {
      expect(check(tick(2_000), tick(4_000))).to.deep.equal([]);
      expect(check(tick(2_000), tick(2_000, 2_100, 'other'))).to.have.length(1);
      expect(check(tick(2_000, 1_000))).to.have.length(1);
      expect(check(fault('clock-ahead', 500, 3_000, false), tick(2_000, 1_000))).to.deep.equal([]);
    });

    it('when a tick is skipped though nothing was down', () => {
      expect(check(tick(2_000), tick(6_000), tick(8_000))).to.have.length(1);
      expect(check(tick(2_000), tick(14_000), tick(16_000))).to.deep.equal([]);
      expect(check(tick(2_000), tick(4_000, 9_000), tick(6_000, 9_100))).to.deep.equal([]);
    });

    it('never for ticks that all run, however late', () => {
      const delays = fc.array(fc.nat(30_000), { minLength: 1, maxLength: 30 });
      fc.assert(
        fc.property(delays, (lateMs) => {
          expect(check(...lateMs.map((ms, n) => tick(2_000 * n, 2_000 * n + ms)))).to.deep.equal([]);
        }),
      );
    });
  });

  it('proves a replay that starts two runs for an event, miscounts them, or does not end', () => {
    const replay = (started: number, status = 'done') => ({ kind: 'replay', replayId: 'p', status, started }) as const;
    const again = (runId: string, id: string) => run(runId, id, { replayId: 'p', retryOf: 'r' });
    const check = (...entries: ConstructorParameters<typeof History>[0]) => checkReplays(new History(entries));
    expect(check(replay(2), again('r1', '1'), again('r2', '2'))).to.deep.equal([]);
    expect(check(replay(2), again('r1', '1'), again('r2', '1'))).to.have.length(1);
    expect(check(replay(1), again('r1', '1'), again('r2', '2'))).to.have.length(1);
    expect(check(replay(1, 'running'), again('r1', '1'))).to.have.length(1);
  });
});
