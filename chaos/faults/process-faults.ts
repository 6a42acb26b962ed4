/** Faults of the service's own processes. */
import { setTimeout } from 'node:timers/promises';
import type { ServiceProcess } from '../service-process.ts';
import { anyOf, type ChaosContext, type Fault } from './fault.ts';

/** Kills the process and restarts it in the background. */
export async function crash(target: ServiceProcess): Promise<void> {
  await target.kill();
  void target.start();
}

async function replace(target: ServiceProcess): Promise<void> {
  await target.terminate();
  await target.start();
}

async function pauseProcess(context: ChaosContext, target: ServiceProcess): Promise<void> {
  target.signal('SIGSTOP');
  await setTimeout(context.stopMs);
  target.signal('SIGCONT');
}

async function stepProcessClock(context: ChaosContext, ms: number): Promise<void> {
  const target = anyOf(context.service.all, context.random);
  target.stepClock(ms);
  await setTimeout(context.random.between(1_000, 3_000));
  target.stepClock(0);
}

export const PROCESS_FAULTS: readonly Fault[] = [
  {
    name: 'kill-web',
    weight: 4,
    excuses: true,
    ends: 1,
    run: ({ service, random }) => crash(anyOf(service.webs, random)),
  },
  {
    name: 'kill-worker',
    weight: 8,
    excuses: true,
    ends: 1,
    run: ({ service, random }) => crash(anyOf(service.workers, random)),
  },
  {
    name: 'kill-all',
    weight: 1,
    excuses: true,
    ends: 4,
    run: async ({ service }) => void (await Promise.all(service.all.map(crash))),
  },
  {
    name: 'terminate-web',
    weight: 3,
    excuses: false,
    ends: 1,
    run: ({ service, random }) => replace(anyOf(service.webs, random)),
  },
  {
    name: 'terminate-worker',
    weight: 3,
    excuses: false,
    ends: 1,
    run: ({ service, random }) => replace(anyOf(service.workers, random)),
  },
  {
    name: 'rolling-deploy',
    weight: 1,
    excuses: false,
    ends: 4,
    run: async ({ service, sender }) => {
      // Wait until earlier faults are repaired.
      while (service.ready.length < service.webs.length) await setTimeout(50);
      sender.isDeploying = true;
      for (const target of [...service.webs, ...service.workers]) {
        await replace(target);
        while (service.ready.length < service.webs.length) await setTimeout(50);
      }
      sender.isDeploying = false;
    },
  },
  {
    name: 'stop-worker',
    weight: 2,
    excuses: true,
    ends: 0,
    run: (context) => pauseProcess(context, anyOf(context.service.workers, context.random)),
  },
  {
    name: 'stop-web',
    weight: 1,
    excuses: true,
    ends: 0,
    run: (context) => pauseProcess(context, anyOf(context.service.webs, context.random)),
  },
  { name: 'clock-ahead', weight: 1, excuses: false, ends: 0, run: (context) => stepProcessClock(context, 10_000) },
  { name: 'clock-behind', weight: 1, excuses: false, ends: 0, run: (context) => stepProcessClock(context, -10_000) },
];
