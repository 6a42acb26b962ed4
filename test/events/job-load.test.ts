import { expect } from 'chai';
import { JobLoad } from '../../src/jobs/ingestion/job-load.ts';

const WINDOW_MS = 200;

/** Answers for each window: whether its jobs wait for each other.
 *  @param windows share of its time in which the process ran code, and the number of its jobs, of `events` each */
function answers(windows: readonly { utilization: number; jobs: number; events?: number }[]): boolean[] {
  let utilization = 0;
  const load = new JobLoad(() => utilization);
  return windows.map((window, i) => {
    for (let job = 0; job < window.jobs; job++) load.add(i * WINDOW_MS + 1, window.events ?? 1);
    utilization = window.utilization;
    return load.isHigh((i + 1) * WINDOW_MS);
  });
}

describe('Jobs wait for each other', () => {
  it('when they come fast to a busy process', () => {
    expect(answers([{ utilization: 0.9, jobs: 100 }])).to.deep.equal([true]);
  });

  it('not while the process has time to spare, however fast one sender is', () => {
    expect(answers([{ utilization: 0.6, jobs: 100 }])).to.deep.equal([false]);
  });

  it('when they bring thousands of events a second, because others need the CPUs of the machine', () => {
    expect(answers([{ utilization: 0.3, jobs: 100, events: 10 }])).to.deep.equal([true]);
    expect(answers([{ utilization: 0.3, jobs: 100, events: 9 }])).to.deep.equal([false]);
  });

  it('not when few large ones bring them', () => {
    expect(answers([{ utilization: 0.3, jobs: 60, events: 100 }])).to.deep.equal([false]);
  });

  it('not when few come, however busy the process is', () => {
    expect(answers([{ utilization: 1, jobs: 20 }])).to.deep.equal([false]);
  });

  it('for as long as the process stays busy, which takes less once they wait', () => {
    const utilizations = [0.8, 0.9, 0.8, 0.6, 0.8];
    expect(answers(utilizations.map((utilization) => ({ utilization, jobs: 100 })))).to.deep.equal([
      false,
      true,
      true,
      false,
      false,
    ]);
  });
});
