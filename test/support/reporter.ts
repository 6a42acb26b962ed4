/** Mocha's spec reporter, and at its end one plain line to look for: `12 passed, 0 failed`; scripts/test, which
 *  may run several mochas, is told so too. */
import mocha from 'mocha';

export default class SpecWithTotals extends mocha.reporters.Spec {
  constructor(runner: mocha.Runner, options: mocha.MochaOptions) {
    super(runner, options);
    // The spec reporter's own listener was added before, so its summary comes first.
    runner.once(mocha.Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures } = this.stats;
      console.log(`${passes} passed, ${failures} failed`);
      process.send?.({ passes, failures });
    });
  }
}
