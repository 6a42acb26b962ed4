import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { TidegateFunction } from 'tidegate';
import { testFunction } from 'tidegate/test';
import { functions } from '../../../examples/typescript/functions.ts';
import { useServers } from './servers.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

describe('The example shop', () => {
  const { startService } = useServers();
  let shop: ChildProcess | undefined;
  afterEach(() => shop?.kill('SIGKILL'));

  it('waits for the service, registers, runs its functions and stops on SIGTERM', async () => {
    const service = await startService({ status: 503 }, { body: { ok: true, modified: true } });
    const { child, line } = start({ SERVICE_DEV: service.url, PORT: '0' });
    shop = child;
    await line(/^Registered$/);
    const { url, functions } = JSON.parse(service.requests.at(-1)?.body ?? '');
    expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/api\/service$/);
    expect(functions.map(({ id }: { id: string }) => id)).to.deep.equal([
      'example-shop-send-receipt',
      'example-shop-reward-big-order',
      'example-shop-flaky-stock-sync',
      'example-shop-on-push',
      'example-shop-audit',
      'example-shop-fulfil-order',
      'example-shop-fulfil-order-failure',
    ]);

    const paid = { name: 'order/paid', data: { orderId: '7', customer: 'ada@example.com', total: 120 } };
    expect((await call(url, 'send-receipt', paid)).status).to.equal(200);
    expect((await call(url, 'reward-big-order', paid)).status).to.equal(200);
    expect((await call(url, 'audit', paid)).status).to.equal(200);
    const changed = { name: 'stock/changed', data: { sku: 'tea', quantity: 3 } };
    expect((await call(url, 'flaky-stock-sync', changed, 0)).status).to.equal(500);
    expect((await call(url, 'flaky-stock-sync', changed, 1)).status).to.equal(200);
    const commits = [{ id: '0123456789', message: 'Fix tea\n\nAt last' }];
    const push = { name: 'github/push', data: { repository: { full_name: 'ada/shop' }, commits } };
    expect((await call(url, 'on-push', push)).status).to.equal(200);
    await line(/ada\/shop: 0123456 Fix tea$/);

    child.kill('SIGTERM');
    expect(await once(child, 'exit')).to.deep.equal([0, null]);
  });
});

describe('An order of the example shop', () => {
  const fulfilOrder = functions.find(({ id }) => id === 'fulfil-order') as TidegateFunction;
  const event = { data: { orderId: '7', customer: 'Ada', lines: [{ sku: 'tea', quantity: 3 }] } };

  it('is fulfilled after its payment', async () => {
    const payment = { data: { orderId: '7', customer: 'Ada', total: 9 } };
    const { result, sent, steps } = await testFunction(fulfilOrder, {
      event,
      steps: { payment, 'book courier': null, pack: { number: 'P-7', pieces: 3 }, 'ask for a review': null },
    });
    expect(result).to.deep.equal({ orderId: '7', status: 'delivered', parcel: { number: 'P-7', pieces: 3 } });
    expect(sent).to.deep.equal([{ name: 'stock/changed', data: { sku: 'tea', quantity: -3 } }]);
    expect(steps.map(({ id }) => id).at(-1)).to.equal('ask for a review');
  });

  it('is cancelled without a payment', async () => {
    const { result } = await testFunction(fulfilOrder, { event });
    expect(result).to.deep.equal({ orderId: '7', status: 'never paid' });
  });
});

function start(env: Record<string, string>) {
  const child = spawn(process.execPath, ['examples/typescript/main.ts'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const seen: string[] = [];
  const lines = createInterface(child.stdout).on('line', (text) => seen.push(text));
  /** Waits for a line of output. */
  const line = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = () => seen.some((text) => pattern.test(text)) && resolve();
      look();
      lines.on('line', look);
      lines.on('close', () => reject(new Error(`The shop ended without saying ${pattern}`)));
    });
  return { child, line };
}

function call(url: string, functionId: string, event: object, attempt = 0): Promise<Response> {
  const body = JSON.stringify({ event: { ...event, id: '01E', ts: 1 }, ctx: { run_id: '01R', attempt } });
  return fetch(`${url}?fnId=example-shop-${functionId}&stepId=step`, { method: 'POST', body });
}
