/** The app in TypeScript. It reports every executed step to EXECUTIONS_URL, listens on PORT, prints `{"url": …}` as its first line, and
 *  exits when its stdin closes. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Tidegate } from 'tidegate';
import { connect } from 'tidegate/connect';
import { serve } from 'tidegate/node';
import { flowControlFunctions } from './flow-control.ts';
import { APP_ID, CANCELLED, LONG_SLEEP, LONG_WAIT, PAUSING, RETRIES, WAITING } from './limits.ts';
import { report } from './report.ts';

const PATH = '/api/service';
const client = new Tidegate({ id: APP_ID });

const plain = client.createFunction(
  { id: 'plain', retries: RETRIES, triggers: { event: 'chaos/plain' } },
  async (context) => {
    await report('plain', context);
    return 'done';
  },
);

const hook = client.createFunction(
  { id: 'hook', retries: RETRIES, triggers: { event: 'chaos/hook' } },
  async (context) => {
    await context.step.run('a', () => report('hook', context, 'a'));
  },
);

/** @param app one that serves, or one that connects */
const stepsOf = (app: Tidegate, name: string) =>
  app.createFunction({ id: 'steps', retries: RETRIES, triggers: { event: 'chaos/steps' } }, async (context) => {
    await context.step.run('a', () => report(name, context, 'a'));
    await context.step.sleep('nap', '300ms');
    await context.step.run('b', () => report(name, context, 'b', ['a']));
    await Promise.all([
      context.step.run('c1', () => report(name, context, 'c1', ['a', 'b'])),
      context.step.run('c2', () => report(name, context, 'c2', ['a', 'b'])),
    ]);
    await context.step.run('d', () => report(name, context, 'd', ['a', 'b', 'c1', 'c2']));
  });

const flaky = client.createFunction(
  { id: 'flaky', retries: RETRIES, triggers: { event: 'chaos/flaky' } },
  async (context) => {
    await context.step.run('a', () => report('flaky', context, 'a'));
    if (context.attempt === 0) throw new Error('the first attempt fails');
    await context.step.run('b', () => report('flaky', context, 'b', ['a']));
  },
);

/** Its steps are stored during one call. */
const chainOf = (app: Tidegate, name: string) =>
  app.createFunction({ id: 'chain', retries: RETRIES, triggers: { event: 'chaos/chain' } }, async (context) => {
    await context.step.run('a', () => report(name, context, 'a'));
    await context.step.run('b', () => report(name, context, 'b', ['a']));
    await context.step.run('c', () => report(name, context, 'c', ['a', 'b']));
  });

const buffered = client.createFunction(
  { id: 'buffered', retries: RETRIES, triggers: { event: 'chaos/chain' }, checkpoint: { buffer: 2 } },
  async (context) => {
    await context.step.run('a', () => report('buffered', context, 'a'));
    await context.step.run('b', () => report('buffered', context, 'b'));
    await context.step.run('c', () => report('buffered', context, 'c', ['a', 'b']));
    await context.step.run('d', () => report('buffered', context, 'd', ['a', 'b']));
  },
);

const wait = client.createFunction(
  { id: 'wait', retries: RETRIES, triggers: { event: WAITING.startedBy } },
  async (context) => {
    await context.step.run('a', () => report('wait', context, 'a'));
    const go = await context.step.waitForEvent('go', {
      event: WAITING.awaited,
      timeout: WAITING.timeoutMs,
      if: 'event.data.key == async.data.key',
    });
    await context.step.run('b', () => report('wait', context, 'b', ['a']));
    return { went: go !== null };
  },
);

const longWait = client.createFunction(
  { id: 'long-wait', retries: RETRIES, triggers: { event: LONG_WAIT } },
  async ({ step }) => {
    await step.waitForEvent('go', { event: WAITING.awaited, timeout: '1h', if: 'event.data.key == async.data.key' });
  },
);

const child = client.createFunction(
  { id: 'child', retries: RETRIES, triggers: { event: 'chaos/child' } },
  async (context) => {
    await context.step.run('a', () => report('child', context, 'a'));
    return 'of the child';
  },
);

const parent = client.createFunction(
  { id: 'parent', retries: RETRIES, triggers: { event: 'chaos/parent' } },
  async (context) => {
    await context.step.run('a', () => report('parent', context, 'a'));
    const returned = await context.step.invoke('child', { function: child, data: {} });
    await context.step.run('b', () => report('parent', context, 'b', ['a']));
    return returned;
  },
);

const bulk = client.createFunction(
  { id: 'bulk', retries: RETRIES, triggers: { event: 'chaos/bulk' } },
  async (context) => {
    await report('bulk', context);
  },
);

const sleeper = client.createFunction(
  { id: 'sleeper', retries: RETRIES, triggers: { event: 'chaos/sleeper' } },
  async ({ step }) => {
    await step.sleep('until it is cancelled', '1h');
  },
);

const longSleep = client.createFunction(
  { id: LONG_SLEEP.id, retries: RETRIES, triggers: { event: LONG_SLEEP.name } },
  async (context) => {
    await context.step.run('a', () => report(LONG_SLEEP.id, context, 'a'));
    await context.step.sleep('nap', LONG_SLEEP.sleepMs);
    await context.step.run('b', () => report(LONG_SLEEP.id, context, 'b', ['a']));
  },
);

const cancelled = client.createFunction(
  { id: CANCELLED.id, retries: RETRIES, triggers: { event: CANCELLED.name } },
  async (context) => {
    await context.step.run('a', () => report(CANCELLED.id, context, 'a'));
    await context.step.sleep('nap', CANCELLED.sleepMs);
    await context.step.run('b', () => report(CANCELLED.id, context, 'b', ['a']));
    await context.step.sleep('another nap', CANCELLED.sleepMs);
    await context.step.run('c', () => report(CANCELLED.id, context, 'c', ['a', 'b']));
  },
);

const pausing = client.createFunction(
  { id: PAUSING.id, retries: 0, onExhausted: 'pause', triggers: { event: PAUSING.name } },
  async (context) => {
    const { event, step } = context;
    await step.run('a', () => report(PAUSING.id, context, 'a'));
    await Promise.all([
      step.run('b', async () => {
        if (Date.now() < event.ts + PAUSING.brokenMs) throw new Error('nobody has mended it yet');
        await report(PAUSING.id, context, 'b', ['a']);
      }),
      step.run('c', () => report(PAUSING.id, context, 'c', ['a'])),
    ]);
    await step.run('d', () => report(PAUSING.id, context, 'd', ['a', 'b', 'c']));
  },
);

const functions = [
  plain,
  hook,
  stepsOf(client, 'steps'),
  flaky,
  chainOf(client, 'chain'),
  buffered,
  wait,
  longWait,
  child,
  parent,
  bulk,
  sleeper,
  longSleep,
  cancelled,
  pausing,
  ...flowControlFunctions(client),
];
const connected = new Tidegate({ id: `${APP_ID}-connected` });
const connection = await connect({
  client: connected,
  functions: [stepsOf(connected, 'connected-steps'), chainOf(connected, 'connected-chain')],
});
const server = createServer(serve({ client, functions, path: PATH }));
server.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}` }));
});
process.stdin.on('end', () => connection.close().then(() => process.exit(0))).resume();
