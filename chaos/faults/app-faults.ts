/** Faults of apps. */
import { setTimeout } from 'node:timers/promises';
import { signal } from '../processes.ts';
import { CALL_TIMEOUT_SECONDS } from '../service.ts';
import type { ChaosContext, Fault } from './fault.ts';

/** Two in a row are shorter than the timeout of a call, and than what is left of a lease. */
const STOPPED_MOST_MS = 3_000;
/** Calls over HTTP and over connections are given up meanwhile. */
const HANGS_MS = 1_000 * (CALL_TIMEOUT_SECONDS + 1);
/** A run of an event that was just sent is in its second step by then, unless other faults hold it up. */
const IN_SECOND_STEP_WITHIN_MS = 5_000;
/** From the start of a step that takes a millisecond: the app dies before its result is sent, on its way, or after. */
const DIES_WITHIN_MS = 10;

async function stop({ apps, random }: ChaosContext, ms: number): Promise<void> {
  const { pid } = random.pick(apps);
  signal(pid, 'SIGSTOP');
  await setTimeout(ms);
  signal(pid, 'SIGCONT');
}

/** Kills an app in the midst of a call that has stored a step.
 *  @param fn without the prefix of its app */
async function kill({ apps, executions, random, sender }: ChaosContext, fn: string): Promise<void> {
  const app = random.pick(apps);
  const afterMs = random.between(0, DIES_WITHIN_MS);
  const isInSecondStep = executions.started(app.idPrefix + fn, 'b', IN_SECOND_STEP_WITHIN_MS);
  sender.send('chaos/chain');
  await isInSecondStep;
  await setTimeout(afterMs);
  await app.killAndRestart();
}

export const APP_FAULTS: readonly Fault[] = [
  {
    name: 'stop-app',
    weight: 2,
    // Calls wait for their app; none times out, so none is repeated.
    excuses: false,
    ends: 0,
    run: (context) => stop(context, Math.min(context.stopMs, STOPPED_MOST_MS)),
  },
  {
    name: 'hang-app',
    weight: 1,
    excuses: true,
    ends: 0,
    run: (context) => stop(context, HANGS_MS),
  },
  {
    name: 'kill-app',
    weight: 2,
    excuses: true,
    ends: 0,
    run: (context) => kill(context, 'chain'),
  },
  {
    name: 'kill-connected-app',
    weight: 2,
    excuses: true,
    ends: 0,
    run: (context) => kill(context, 'connected-chain'),
  },
];
