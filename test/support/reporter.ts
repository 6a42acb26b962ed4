/** Mocha's spec reporter. At the end it adds one plain line: `12 passed, 0 failed`. Sends scripts/test the totals, the failed tests, and how long each
 *  file took. */
import mocha from 'mocha';
import { ownCpuSeconds } from '../../scripts/lib/cpu-times.ts';
import type { Failed, Took } from '../../scripts/lib/mocha.ts';

const MESSAGE_LINES = 6;
const LINE_CHARS = 300;
const NOTHING: Took = { seconds: 0, cpuSeconds: 0 };

export default class SpecWithTotals extends mocha.reporters.Spec {
  constructor(runner: mocha.Runner, options: mocha.MochaOptions) {
    super(runner, options);
    const { EVENT_RUN_END, EVENT_SUITE_BEGIN, EVENT_SUITE_END, EVENT_TEST_FAIL } = mocha.Runner.constants;
    const starts = new Map<mocha.Suite, Took>();
    const took: Record<string, Took> = {};
    const failed: Failed[] = [];
    runner.on(EVENT_TEST_FAIL, (test, error: Error) => failed.push(failedTest(test, error)));
    runner.on(EVENT_SUITE_BEGIN, (suite) => starts.set(suite, now()));
    runner.on(EVENT_SUITE_END, (suite) => {
      const { file, parent } = suite;
      if (!file || !parent?.root) return;
      const [start, end, sum] = [starts.get(suite) ?? now(), now(), took[file] ?? NOTHING];
      took[file] = {
        seconds: sum.seconds + end.seconds - start.seconds,
        cpuSeconds: sum.cpuSeconds + end.cpuSeconds - start.cpuSeconds,
      };
    });
    // The spec reporter has added its listener earlier, so its summary comes first.
    runner.once(EVENT_RUN_END, () => {
      const { passes, failures } = this.stats;
      console.log(`${passes} passed, ${failures} failed`);
      process.send?.({ passes, failures, failed, took });
    });
  }
}

function now(): Took {
  return { seconds: performance.now() / 1_000, cpuSeconds: ownCpuSeconds() };
}

function failedTest(test: mocha.Runnable, { message }: Error): Failed {
  const lines = message.split('\n').slice(0, MESSAGE_LINES);
  return {
    title: test.fullTitle(),
    file: test.file ?? '',
    message: lines.map((line) => line.slice(0, LINE_CHARS)).join('\n'),
  };
}
