/** An app whose runs have every kind of row that the timeline of a run draws. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NonRetriableError, Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import type { Service } from '../support/service.ts';

/** The signal that the run waits for. */
export function signalOf(order: string): string {
  return `packed-${order}`;
}

export interface TimelineApp {
  /** Starts a run. @returns its ID */
  start(functionId: 'checkout' | 'refused' | 'plain' | 'sleeper', data?: object): Promise<string>;
  close(): Promise<void>;
}

export async function startTimelineApp(service: Service): Promise<TimelineApp> {
  const client = new Tidegate({ id: 'shop', isDev: true, baseUrl: service.url });
  const tries = new Map<string, number>();
  const nth = (name: string) => {
    tries.set(name, (tries.get(name) ?? 0) + 1);
    return tries.get(name) as number;
  };
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/ai')) {
      response
        .writeHead(nth(request.url) === 1 ? 503 : 200, { 'content-type': 'application/json' })
        .end('{"spam":false}');
    } else handler(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const on = (id: string) => ({ id, triggers: { event: `shop/${id}` } });

  const ship = client.createFunction(on('ship'), ({ step }) => step.run('pack', () => 'packed'));
  const checkout = client.createFunction(on('checkout'), async ({ step, event, runId }) => {
    const { order } = event.data as { order: string };
    await step.run('reserve', () => {
      if (nth(`reserve ${runId}`) === 1) throw new Error('the warehouse is closed');
      return { reserved: 3 };
    });
    await Promise.all([
      step.run('charge card', () => {
        if (nth(`charge ${runId}`) < 3) throw new TypeError('the bank did not answer');
        return { charged: 12 };
      }),
      step.run('write invoice', () => ({ number: 7 })),
      step.infer('check for fraud', { url: `${url}/ai/${runId}`, format: 'openai-chat', body: {} }),
    ]);
    await step.sendEvent('tell others', [
      { name: 'shop/told', data: {} },
      { name: 'shop/told', data: {} },
    ]);
    await step.invoke('ship it', { function: ship });
    await step.waitForEvent('approval', {
      event: 'shop/approved',
      timeout: '1h',
      if: 'async.data.order == event.data.order',
    });
    await step.waitForEvent('in vain', { event: 'shop/never', timeout: '50ms' });
    await step.waitForSignal('packing', { signal: signalOf(order), timeout: '1h' });
    return 'done';
  });
  const refused = client.createFunction(on('refused'), async ({ step }) => {
    await step.run('look up', () => 1);
    await step.run('refund', () => {
      throw new NonRetriableError('the card was refused');
    });
  });
  const plain = client.createFunction({ ...on('plain'), retries: 1 }, ({ runId }) => {
    if (nth(`plain ${runId}`) === 1) throw new Error('not yet');
    return 'plain';
  });
  const sleeper = client.createFunction(on('sleeper'), ({ step }) => step.sleep('for long', '1h'));
  const handler = serve({ client, functions: [ship, checkout, refused, plain, sleeper] });
  const registered = await fetch(`${url}/api/tidegate`, { method: 'PUT' });
  if (!registered.ok) throw new Error(`not registered: ${await registered.text()}`);

  return {
    start: (functionId, data = {}) => start(service, `shop/${functionId}`, data),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Sends the event. @returns the ID of the one run that it starts */
export async function start(service: Service, name: string, data: object): Promise<string> {
  const { body } = await service.post('/e/key', { name, data });
  const path = `/v1/events/${body.ids[0]}/runs`;
  return (await service.waitFor(path, ({ body }) => body.data?.length === 1)).body.data[0].run_id;
}
