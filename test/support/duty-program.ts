/** A process that has the lease of a duty until it is killed: node test/support/duty-program.ts <key prefix> <lease in milliseconds> */
import { DutyRunner } from '../../src/duties/runner.ts';
import { createLog } from '../../src/log.ts';
import { NOOP_RECORDER } from '../../src/metrics/recorder.ts';
import { leasedDuty } from './leased-duty.ts';
import { openStore } from './own-store.ts';

const [prefix, leaseMs] = process.argv.slice(2);
const { locks } = await openStore(prefix);
new DutyRunner({ locks, recorder: NOOP_RECORDER, log: createLog('silent', 'test') }).start(
  [leasedDuty(Number(leaseMs))],
  {
    async round() {
      process.send?.('in progress');
      await new Promise(() => {});
    },
  },
);
