/** The functions of features.ts, written with the official TypeScript SDK and hosted in this process. */
import { Inngest, openai, RetryAfterError, realtime, staticSchema } from 'inngest';
import { serve } from 'inngest/node';
import { startApp } from '../runs/steps/sdk-adapters.ts';
import type { HostProgram } from '../support/program.ts';
import { functionOf } from './features.ts';
import type { Loose } from './outside.ts';

const silent = { info() {}, warn() {}, error() {}, debug() {} };

/** @param connection address and keys, as options of the SDK's client
 *  @param streaming whether answers are streamed */
export async function startNpmFeatures(app: string, connection: object, streaming = false): Promise<HostProgram> {
  const client = new Inngest({ id: app, logger: silent, ...connection });
  const { url, close } = await startApp(serve({ client, functions: functionsOf(client, app), streaming }));
  return { url, output: () => '', stop: close };
}

function functionsOf(client: Inngest, app: string) {
  const on = (
    feature: string,
    handler: (args: Loose) => Promise<unknown>,
    options: object = {},
    trigger: object = {},
  ) =>
    client.createFunction(
      {
        id: functionOf(feature),
        retries: 0,
        triggers: [{ event: `${app}/${functionOf(feature)}`, ...trigger }],
        ...options,
      },
      handler,
    );

  const hold = async ({ event, events, step }: Loose) =>
    step.run('hold', async () => {
      const from = Date.now();
      await new Promise((resolve) => setTimeout(resolve, event.data.ms));
      return { from, to: Date.now(), events: events.length };
    });
  const numbers = realtime.channel({ name: app, topics: { numbers: { schema: staticSchema<{ n: number }>() } } });
  const done = async () => 'done';
  const key = 'event.data.n';

  return [
    on('concurrency', hold, { concurrency: { limit: 1, key } }),
    on('throttle', hold, { throttle: { limit: 1, period: '1m', key } }),
    on('rateLimit', hold, { rateLimit: { limit: 1, period: '1m', key } }),
    on('debounce', hold, { debounce: { period: '1m', key } }),
    on('batchEvents', hold, { batchEvents: { maxSize: 2, timeout: '60s' } }),
    on('priority', hold, { priority: { run: key } }),
    on('singleton', hold, { singleton: { mode: 'skip', key } }),
    on('idempotency', hold, { idempotency: key }),
    on('timeouts', hold, { timeouts: { finish: '1s' } }),
    on('checkpointing', hold, { checkpointing: true }),
    on('streaming responses', hold),
    client.createFunction({ id: 'cron', triggers: [{ cron: '* * * * *' }] }, done),
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
    on('step.ai.infer', ({ step }) =>
      step.ai.infer('ask', { model: openai({ model: 'gpt-4o', apiKey: 'none' }), body: { messages: [] } }),
    ),
    on('step.fetch', ({ event, step }) => step.fetch(event.data.url)),
    on('realtime', async ({ event }) => {
      await client.realtime.publish(numbers.numbers, { n: event.data.n });
    }),
    on('step.waitForSignal', ({ step }) => step.waitForSignal('wait', { signal: 'go', timeout: '1h' })),
  ];
}
