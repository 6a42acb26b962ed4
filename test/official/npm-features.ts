/** The functions of features.ts, written with the official TypeScript SDK. */
import { functionOf } from './feature-names.ts';
import { endFunctions } from './npm-feature-ends.ts';
import type { NpmApp } from './npm-types.ts';
import type { Loose } from './outside.ts';

export function featureFunctions({ sdk, client, app, create }: NpmApp): Loose[] {
  const { openai, RetryAfterError } = sdk;
  const on = (
    feature: string,
    handler: (args: Loose) => Promise<unknown>,
    options: object = {},
    trigger: object = {},
  ) =>
    create(
      { id: functionOf(feature), retries: 0, ...options },
      [{ event: `${app}/${functionOf(feature)}`, ...trigger }],
      handler,
    );

  const hold = async ({ event, events, step }: Loose) =>
    step.run('hold', async () => {
      const from = Date.now();
      await new Promise((resolve) => setTimeout(resolve, event.data.ms));
      return { from, to: Date.now(), events: events.length };
    });
  const done = async () => 'done';
  const later = sdk.createDefer?.(client, { id: 'later' }, async ({ event }: Loose) => event.data);
  const key = 'event.data.n';

  return [
    ...endFunctions({ sdk, client, app, create }, on),
    ...(later
      ? [later, on('defer', async ({ defer }) => void defer('once', { function: later, data: { n: 7 } }))]
      : []),
    on('concurrency', hold, { concurrency: { limit: 1, key } }),
    on('throttle', hold, { throttle: { limit: 1, period: '1m', key } }),
    on('rateLimit', hold, { rateLimit: { limit: 1, period: '1m', key } }),
    on('debounce', hold, { debounce: { period: '1m', key } }),
    on('batchEvents', hold, { batchEvents: { maxSize: 2, timeout: '60s' } }),
    on('priority', hold, { priority: { run: key }, concurrency: 1 }),
    on('singleton', hold, { singleton: { mode: 'skip', key } }),
    on('idempotency', hold, { idempotency: key }),
    on('timeouts', hold, { timeouts: { finish: '1s' } }),
    on('streaming responses', hold),
    create({ id: 'cron' }, [{ cron: '* * * * *' }], done),
    on('`if` of triggers', done, {}, { if: 'event.data.n > 10' }),
    on('wildcard triggers', done, {}, { event: `${app}/wild/*` }),
    on('cancelOn', ({ step }) => step.sleep('nap', '1h'), {
      cancelOn: [{ event: `${app}/cancel`, if: 'async.data.n == event.data.n' }],
    }),
    on('step.sleepUntil', ({ event, step }) => step.sleepUntil('nap', event.data.until)),
    on(
      'RetryAfterError',
      async ({ attempt }) => {
        if (attempt === 0) throw new RetryAfterError('soon', 1_000);
        return attempt;
      },
      { retries: 1 },
    ),
    on('step.ai.infer', ({ event, step }) => {
      const model = openai({ model: 'a-model', apiKey: 'a-key', baseUrl: event.data.provider });
      return step.ai.infer('ask', { model, body: { messages: [{ role: 'user', content: 'hello' }] } });
    }),
    on('step.fetch', async ({ event, step }) => (await step.fetch(event.data.url)).status),
    on('step.waitForSignal', ({ event, step }) =>
      step.waitForSignal('wait', { signal: event.data.signal, timeout: '1h' }),
    ),
    on('realtime (publish and subscribe)', async ({ event }) => {
      const [topic, data] = [{ channel: app, topic: 'numbers' }, { n: event.data.n }];
      // Version 3 takes it all as one argument.
      await client.realtime.publish({ ...topic, data }, data);
    }),
    on('step.sendSignal', ({ event, step }) => step.sendSignal('send', { signal: event.data.signal, data: 7 })),
  ];
}
