import { expect } from 'chai';
import { findRepeats } from '../../chaos/checks/repeats.ts';
import { Random } from '../../chaos/random.ts';
import { Timeline } from '../../chaos/timeline.ts';

describe('scripts/chaos', () => {
  it('picks the same items for the same seed and others for another', () => {
    const sequence = (seed: number) => {
      const random = new Random(seed);
      return Array.from({ length: 20 }, () => random.pick(['a', 'b', 'c', 'd']));
    };
    expect(sequence(7)).to.deep.equal(sequence(7));
    expect(sequence(7)).to.not.deep.equal(sequence(8));
  });

  const executed = (step: string, atMs: number, finished: string[] = []) => ({
    app: 'app',
    runId: 'run',
    step,
    finished,
    atMs,
  });

  it('excuses a repeated step only during a fault', () => {
    const timeline = new Timeline(() => {});
    timeline.entries.push({ fromMs: 10_000, untilMs: 10_100, what: 'kill-worker', excuses: true });
    timeline.entries.push({ fromMs: 50_000, untilMs: 50_100, what: 'terminate-worker', excuses: false });
    const excused = findRepeats([executed('a', 9_900), executed('a', 16_000)], timeline);
    expect([excused.excused, excused.unexcused.length]).to.deep.equal([1, 0]);
    const repeated = findRepeats([executed('a', 49_900), executed('a', 56_000)], timeline);
    expect([repeated.excused, repeated.unexcused.length]).to.deep.equal([0, 1]);
  });

  it('never excuses a repeated step whose result the app had received', () => {
    const timeline = new Timeline(() => {});
    timeline.entries.push({ fromMs: 0, untilMs: 100_000, what: 'kill-all', excuses: true });
    const { afterFinished } = findRepeats([executed('a', 1), executed('b', 2, ['a']), executed('a', 60_000)], timeline);
    expect(afterFinished).to.have.length(1);
  });
});
