/** The app in TypeScript. It reports every executed step to EXECUTIONS_URL, listens on PORT, prints `{"url": …}` as its first line, and
 *  exits when its stdin closes. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { LONG_WAIT } from './long-wait.ts';
import { OVER_LIMIT } from './over-limit.ts';

const PATH = '/api/service';
const CONCURRENCY = 2;
/** Of a call with a limit. */
const HELD_MS = 20;
const client = new Tidegate({ id: 'chaos-typescript' });

/** @param finished steps whose results the service sent with this call */
async function report(runId: string, step: string, finished: string[] = []): Promise<void> {
  const body = JSON.stringify({ app: 'typescript', runId, step, finished });
  await fetch(process.env.EXECUTIONS_URL as string, { method: 'POST', body });
}

const plain = client.createFunction({ id: 'plain', triggers: { event: 'chaos/plain' } }, async ({ runId }) => {
  await report(runId, '(call)');
  return 'done';
});

let limitedCalls = 0;
const limited = client.createFunction(
  { id: 'limited', triggers: { event: 'chaos/limited' }, concurrency: CONCURRENCY },
  async ({ runId }) => {
    limitedCalls++;
    try {
      await report(runId, limitedCalls > CONCURRENCY ? OVER_LIMIT : '(call)');
      await setTimeout(HELD_MS);
    } finally {
      limitedCalls--;
    }
  },
);

const hook = client.createFunction({ id: 'hook', triggers: { event: 'chaos/hook' } }, async ({ runId, step }) => {
  await step.run('a', () => report(runId, 'a'));
});

const steps = client.createFunction({ id: 'steps', triggers: { event: 'chaos/steps' } }, async ({ runId, step }) => {
  await step.run('a', () => report(runId, 'a'));
  await step.sleep('nap', '300ms');
  await step.run('b', () => report(runId, 'b', ['a']));
  await Promise.all([
    step.run('c1', () => report(runId, 'c1', ['a', 'b'])),
    step.run('c2', () => report(runId, 'c2', ['a', 'b'])),
  ]);
  await step.run('d', () => report(runId, 'd', ['a', 'b', 'c1', 'c2']));
});

const flaky = client.createFunction(
  { id: 'flaky', triggers: { event: 'chaos/flaky' } },
  async ({ runId, step, attempt }) => {
    await step.run('a', () => report(runId, 'a'));
    if (attempt === 0) throw new Error('the first attempt fails');
    await step.run('b', () => report(runId, 'b', ['a']));
  },
);

const wait = client.createFunction({ id: 'wait', triggers: { event: 'chaos/wait' } }, async ({ runId, step }) => {
  await step.run('a', () => report(runId, 'a'));
  const go = await step.waitForEvent('go', {
    event: 'chaos/go',
    timeout: '6s',
    if: 'event.data.key == async.data.key',
  });
  await step.run('b', () => report(runId, 'b', ['a']));
  return { went: go !== null };
});

const longWait = client.createFunction({ id: 'long-wait', triggers: { event: LONG_WAIT } }, async ({ step }) => {
  await step.waitForEvent('go', { event: 'chaos/go', timeout: '1h', if: 'event.data.key == async.data.key' });
});

const child = client.createFunction({ id: 'child', triggers: { event: 'chaos/child' } }, async ({ runId, step }) => {
  await step.run('a', () => report(runId, 'a'));
  return 'of the child';
});

const parent = client.createFunction({ id: 'parent', triggers: { event: 'chaos/parent' } }, async ({ runId, step }) => {
  await step.run('a', () => report(runId, 'a'));
  const returned = await step.invoke('child', { function: child, data: {} });
  await step.run('b', () => report(runId, 'b', ['a']));
  return returned;
});

const bulk = client.createFunction({ id: 'bulk', triggers: { event: 'chaos/bulk' } }, async ({ runId }) => {
  await report(runId, '(call)');
});

const sleeper = client.createFunction({ id: 'sleeper', triggers: { event: 'chaos/sleeper' } }, async ({ step }) => {
  await step.sleep('until it is cancelled', '1h');
});

const functions = [plain, limited, hook, steps, flaky, wait, longWait, child, parent, bulk, sleeper];
const server = createServer(serve({ client, functions, path: PATH }));
server.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}` }));
});
process.stdin.on('end', () => process.exit(0)).resume();
