/** Faults of the child processes of the web processes, which run transforms. They excuse nothing: no call depends on them. */
import { setTimeout } from 'node:timers/promises';
import { childrenOf, signal } from '../processes.ts';
import type { ChaosContext, Fault } from './fault.ts';

const CHILD = /transforms\/sandbox\/child/;

function childrenOfWebs({ service }: ChaosContext): number[] {
  return service.webs.flatMap(({ running, pid }) =>
    running ? childrenOf(pid).flatMap((child) => (CHILD.test(child.command) ? child.pid : [])) : [],
  );
}

export const TRANSFORM_FAULTS: readonly Fault[] = [
  {
    name: 'kill-transforms',
    weight: 2,
    excuses: false,
    ends: 0,
    run: async (context) => {
      for (const pid of childrenOfWebs(context)) signal(pid, 'SIGKILL');
    },
  },
  {
    name: 'stop-transforms',
    weight: 2,
    excuses: false,
    ends: 0,
    run: async (context) => {
      const stopped = childrenOfWebs(context);
      for (const pid of stopped) signal(pid, 'SIGSTOP');
      await setTimeout(context.stopMs);
      for (const pid of stopped) signal(pid, 'SIGCONT');
    },
  },
];
