/** Functions of features.ts about calls, errors and the ends of runs, written with the official TypeScript SDK. */
import { setTimeout as pause } from 'node:timers/promises';
import { functionOf } from './feature-names.ts';
import type { NpmApp } from './npm-types.ts';
import type { Loose } from './outside.ts';

type On = (feature: string, handler: (args: Loose) => Promise<unknown>, options?: object, trigger?: object) => Loose;

/** How long the long step waits for the last of the short ones. */
const LONG_MS = 10_000;

export function endFunctions({ sdk, app, create }: NpmApp, on: On): Loose[] {
  /** By run. */
  const calls = new Map<string, number>();
  const orders = new Map<string, string[]>();
  const noted = new Map<string, number[]>();
  const unknown = sdk.referenceFunction({ appId: app, functionId: 'unknown' });
  const messageOf = (error: Error) => error.message;
  // Version 3 has no deferred functions, and no groups.
  const hasGroups = sdk.createDefer !== undefined;

  return [
    on(
      'checkpointing',
      async ({ runId, step }) => {
        calls.set(runId, (calls.get(runId) ?? 0) + 1);
        for (const id of ['a', 'b', 'c']) await step.run(id, () => id);
        return { calls: calls.get(runId) };
      },
      { checkpointing: true },
    ),
    on(
      'checkpointing with a maximum run time',
      async ({ runId, step }) => {
        calls.set(runId, (calls.get(runId) ?? 0) + 1);
        const ran = noted.get(runId) ?? Array(8).fill(0);
        noted.set(runId, ran);
        for (const [n] of ran.entries()) {
          await step.run(`${n}`, () => {
            ran[n]++;
            return pause(60);
          });
        }
        return { ran, calls: calls.get(runId) };
      },
      { checkpointing: { bufferedSteps: 3, maxInterval: 100, maxRuntime: 200 } },
    ),
    on('output of a failed run', async () => {
      throw new Error('broken');
    }),
    on('causes of errors', async ({ step }) => {
      const fail = () => Promise.reject(new Error('the error', { cause: new Error('the cause') }));
      return step.run('fail', fail).catch(({ cause }: Loose) => messageOf(cause));
    }),
    on('step.invoke of an unknown function', ({ step }) =>
      step.invoke('invoke', { function: unknown }).catch(messageOf),
    ),
    on(
      'missing fields in expressions',
      async () => 'done',
      {},
      {
        if: 'event.data.missing == null && event.data.missing != "x"',
      },
    ),
    on(
      'events on the end of runs',
      async ({ event }) => event.data.run_id,
      {},
      {
        event: 'inngest/function.finished',
        if: `event.data.function_id == "${app}-wildcard-triggers"`,
      },
    ),
    create({ id: functionOf('functions without triggers') }, [], async () => 'done'),
    ...(hasGroups
      ? [
          on('race mode', async ({ runId, step, group }) => {
            const order = orders.get(runId) ?? [];
            orders.set(runId, order);
            const put = (id: string) => step.run(id, () => void order.push(id));
            const long = async () => {
              for (const end = Date.now() + LONG_MS; Date.now() < end && !order.includes('two'); ) await pause(20);
              order.push('long');
            };
            const branch = async () => {
              await put('one');
              await put('two');
            };
            await group.parallel({ mode: 'race' }, () => Promise.all([branch(), step.run('long', long)]));
            return { order };
          }),
        ]
      : []),
  ];
}
