/** Faults of apps. */
import { setTimeout } from 'node:timers/promises';
import { signal } from '../processes.ts';
import type { Fault } from './fault.ts';

/** Two in a row are shorter than the timeout of a call. */
const STOPPED_MOST_MS = 5_000;

export const APP_FAULTS: readonly Fault[] = [
  {
    name: 'stop-app',
    weight: 2,
    // Calls wait for their app; none times out, so none is repeated.
    excuses: false,
    ends: 0,
    run: async ({ apps, random, stopMs }) => {
      const { pid } = random.pick(apps);
      signal(pid, 'SIGSTOP');
      await setTimeout(Math.min(stopMs, STOPPED_MOST_MS));
      signal(pid, 'SIGCONT');
    },
  },
];
