/** Hooks for all tests (.mocharc.json): each suite must clean up, mocha must exit by itself, and a failed test shows the output of the
 *  service's processes. */
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Suite } from 'mocha';
import { end } from './at-end.ts';
import { type Leftovers, watchLeftovers } from './leftovers.ts';
import { running } from './service.ts';

/** Time for mocha to exit after its last test: longer than a wait that nobody awaits any more (until.ts). */
const END_MS = 45_000;

/** Services in the process of the tests run src/; their processes for transforms start with half of the CPU time from bundles. */
const BUNDLES = process.env.TEST_BUNDLES;
const PROGRAM = 'sandbox/program.ts';
if (BUNDLES) {
  const bundled = pathToFileURL(join(BUNDLES, 'transforms/program.js')).href;
  registerHooks({ resolve: (id, context, next) => next(id.endsWith(PROGRAM) ? bundled : id, context) });
}

let leftovers: Leftovers;

export const mochaHooks = {
  async beforeAll(this: Mocha.Context) {
    endWithParent();
    leftovers = await watchLeftovers();
    for (const suite of rootOf(this).suites) {
      // Added last, so that it runs after the suite's own hooks.
      suite.afterAll('leaves nothing behind', () => leftovers.check());
    }
  },

  afterEach(this: Mocha.Context) {
    const error = this.currentTest?.state === 'failed' ? this.currentTest.err : undefined;
    if (!error) return;
    for (const service of running) error.stack += `\n\nOutput of the service:\n${service.output()}`;
  },

  async afterAll() {
    await end();
    await leftovers.close();
    endOrSayWhyNot();
  },
};

/** When scripts/test is killed, its Redis stops too. */
function endWithParent(): void {
  process.once('disconnect', () => process.exit(1));
  process.channel?.unref();
}

function rootOf({ test }: Mocha.Context): Suite {
  let suite = test?.parent as Suite;
  while (suite.parent) suite = suite.parent;
  return suite;
}

/** The timer does not keep the process alive; it fires only if something else does. */
function endOrSayWhyNot(): void {
  const timer = setTimeout(() => {
    console.error(`mocha did not end by itself; what keeps it: ${process.getActiveResourcesInfo().join(', ')}`);
    // Mocha has set its exit code in an earlier listener.
    process.on('exit', () => {
      process.exitCode = 1;
    });
    process.exit();
  }, END_MS);
  timer.unref();
}
