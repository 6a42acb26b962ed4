import { expect } from 'chai';
import { BATCH_RULES } from '../../src/jobs/flow-control/event-group-stage.ts';
import type { RunProposal } from '../../src/jobs/flow-control/run-proposal.ts';
import { pendingInvocation } from '../../src/jobs/runs/operations/invocation.ts';
import { pendingSignal } from '../../src/jobs/runs/operations/signal.ts';
import { pendingSleep } from '../../src/jobs/runs/operations/sleep.ts';
import { pendingWait } from '../../src/jobs/runs/operations/wait.ts';
import type { Op } from '../../src/model/runs/operation.ts';
import { MAX_WAIT_MS } from '../../src/model/values/time.ts';

const NOW = Date.parse('2026-07-01T12:00:00Z');
const HOUR_MS = 3_600_000;

const op = (opts: Op['opts']): Op => ({ op: 'any', id: 'a', name: 'nap', displayName: 'nap', opts });
const STARTS = { pendingWait, pendingSignal, pendingInvocation };

describe('The time at which a step ends', () => {
  const until = (step: object) => ('until' in step ? step.until : (step as { error?: { name: string } }).error?.name);
  const afterMs = (ms: number) => new Date(NOW + ms).toISOString();

  it('is a duration after the response, or a date, for a sleep', () => {
    expect(until(pendingSleep(op({ duration: '1h' }), NOW))).to.equal(NOW + HOUR_MS);
    expect(until(pendingSleep(op({ duration: afterMs(-1) }), NOW))).to.equal(NOW - 1);
    expect(until(pendingSleep(op({ duration: afterMs(MAX_WAIT_MS) }), NOW))).to.equal(NOW + MAX_WAIT_MS);
    expect(until(pendingSleep(op({ duration: afterMs(MAX_WAIT_MS + 1) }), NOW))).to.equal('SleepTooLong');
    expect(until(pendingSleep(op({ duration: 'soon' }), NOW))).to.equal('InvalidSleep');
  });

  for (const [name, start] of Object.entries(STARTS)) {
    it(`is its timeout after the response for ${name}`, () => {
      const ends = (timeout: string) => until(start(op({ event: 'x', signal: 'x', function_id: 'f', timeout }), NOW));
      expect(ends('1h')).to.equal(NOW + HOUR_MS);
      expect(ends(afterMs(MAX_WAIT_MS))).to.equal(NOW + MAX_WAIT_MS);
      expect(ends(afterMs(MAX_WAIT_MS + 1))).to.equal('TimeoutTooLong');
      expect(ends('soon')).to.equal('InvalidTimeout');
    });
  }
});

describe('An event of a function with batchEvents', () => {
  it('runs alone if its ts is beyond the timeout', () => {
    const alone = (dueAt: number) =>
      BATCH_RULES.runsAlone?.({ dueAt } as RunProposal, { maxSize: 2, timeoutMs: HOUR_MS }, NOW, {} as never);
    expect([alone(NOW), alone(NOW + HOUR_MS), alone(NOW + HOUR_MS + 1)]).to.deep.equal([false, false, true]);
  });
});
