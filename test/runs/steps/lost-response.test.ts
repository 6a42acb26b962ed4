import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { type Service, startService } from '../../support/service.ts';
import { type App, type Loose, SDK_ADAPTERS, startApp } from './sdk-adapters.ts';
import { SOON } from './step-bed.ts';

describe('step.sendEvent', () => {
  for (const sdk of SDK_ADAPTERS) {
    it(`stores an event once when the response is lost and the step repeats, with ${sdk.name}`, async () => {
      const service = await startService({ env: SOON });
      const [lossy, close] = await losingFirstResponse(service);
      let app: App | undefined;
      try {
        const client = sdk.client({ url: lossy } as Service, 'lossy');
        const fn = client.createFunction({ id: 'f', triggers: [{ event: 'lossy/x' }] }, async ({ step }: Loose) => {
          const { ids } = await step.sendEvent('tell', { name: 'lossy/told', data: {} });
          return ids;
        });
        app = await startApp(sdk.serve(client, [fn]));
        const { body } = await service.post('/e/key', { name: 'lossy/x', data: {} });
        const { body: runs } = await service.waitFor(
          `/v1/events/${body.ids[0]}/runs`,
          ({ body }) => body.data?.[0]?.ended_at,
        );
        expect(runs.data[0].status, JSON.stringify(runs.data[0].error)).to.equal('Completed');
        const { body: told } = await service.waitFor(
          '/v1/events?name=lossy/told',
          ({ body }) => body.data?.[0]?.duplicates === 1,
        );
        expect(told.data.length).to.equal(1);
        expect(runs.data[0].output).to.deep.equal([told.data[0].internal_id]);
      } finally {
        await app?.close();
        await close();
        await service.stop();
      }
    });
  }
});

/** A proxy in front of the service that forwards events, and loses the first response to those of a step. */
async function losingFirstResponse(service: Service): Promise<[url: string, close: () => Promise<void>]> {
  let lost = false;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const headers = new Headers(
      Object.entries(request.headers).filter(([name]) => !['host', 'connection', 'content-length'].includes(name)) as [
        string,
        string,
      ][],
    );
    const serviceResponse = await fetch(service.url + request.url, {
      method: request.method as string,
      headers,
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    });
    const text = await serviceResponse.text();
    if (!lost && request.url?.startsWith('/e/')) {
      lost = true;
      request.socket.destroy();
      return;
    }
    response
      .writeHead(serviceResponse.status, {
        'content-type': serviceResponse.headers.get('content-type') ?? 'text/plain',
      })
      .end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return [
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  ];
}
