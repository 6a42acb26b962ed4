/** The functions of scenarios.ts with the official TypeScript SDK. */
import { setTimeout } from 'node:timers/promises';
import type { NpmApp } from './npm-types.ts';
import type { Loose } from './outside.ts';

export function scenarioFunctions({ sdk, client, app, create }: NpmApp): Loose[] {
  const { NonRetriableError } = sdk;
  const named = (name: string) => `${app}/${name}`;
  const on = (id: string, handler: (args: Loose) => Promise<unknown>, options: object = {}) =>
    create({ id, ...options }, [{ event: named(id) }], handler);

  const receipt = on('receipt', async ({ event }) => ({ got: event.data }));
  return [
    receipt,
    on('chain', async ({ event, step }) => {
      const doubled = await step.run('double', () => event.data.n * 2);
      await step.sleep('nap', '100ms');
      return { result: await step.run('add', () => doubled + 1) };
    }),
    on('branches', async ({ step }) => {
      const [one, two] = await Promise.all([step.run('one', () => 1), step.run('two', () => 2)]);
      return { sum: await step.run('sum', () => one + two) };
    }),
    on(
      'stumbles',
      async ({ attempt }) => {
        if (attempt < 2) throw new Error(`attempt ${attempt} fails`);
        return { attempt };
      },
      { retries: 3 },
    ),
    on(
      'flaky',
      async ({ step, attempt }) => ({
        attempt: await step.run('flaky', () => {
          if (attempt < 2) throw new Error(`attempt ${attempt} fails`);
          return attempt;
        }),
      }),
      { retries: 3 },
    ),
    on(
      'caught',
      async ({ step }) => {
        const broken = () => Promise.reject(new Error('broken'));
        return step.run('fail', broken).catch((error: Error) => ({ caught: error.message }));
      },
      { retries: 0 },
    ),
    on('sends', ({ event, step }) => step.sendEvent('send', { name: named('receipt'), data: event.data })),
    on('relays', () => client.send([1, 2].map((n) => ({ name: named('receipt'), data: { n } })))),
    on('slow', async ({ event }) => {
      await setTimeout(event.data.n * 1_000);
      return { slept: event.data.n };
    }),
    on('waits', async ({ step }) => {
      const met = 'event.data.n == async.data.n';
      const answer = await step.waitForEvent('wait', { event: named('answer'), timeout: '1m', if: met });
      return { answer: answer?.data };
    }),
    on('waits-in-vain', async ({ step }) => ({
      answer: await step.waitForEvent('wait', { event: named('never'), timeout: '1s' }),
    })),
    on('invokes', async ({ event, step }) => ({
      invoked: await step.invoke('invoke', { function: receipt, data: event.data }),
    })),
    on('bulky', async ({ step }) => {
      let length = 0;
      for (const id of ['a', 'b', 'c']) length += (await step.run(id, () => id.repeat(2_000_000))).length;
      return { length };
    }),
    on(
      'hopeless',
      async () => {
        throw new NonRetriableError('hopeless indeed');
      },
      {
        onFailure: ({ error, event }: Loose) =>
          client.send({ name: named('handled'), data: { message: error.message, data: event.data.event.data } }),
      },
    ),
  ];
}
