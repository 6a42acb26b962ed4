/** An app with invalid responses. The event names the behavior for the first attempt of its run; later attempts succeed. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import { hashedKey } from '../../src/functions/signing.ts';
import { SECRETS } from '../service.ts';

export const HOSTILE_FUNCTION = 'hostile-hostile';

const SDK = { 'x-service-sdk': 'chaos:v1.0.0' };
const CHUNK = Buffer.alloc(1_048_576, 'x');
const MANY = 100;
const MISBEHAVED_ATTEMPTS = 1;

type Behavior = (response: ServerResponse, request: IncomingMessage) => void | Promise<void>;

export const BEHAVIORS: Record<string, Behavior> = {
  hang: () => {},
  'half a response': (response) => {
    response.writeHead(206, { ...SDK, 'content-length': '1000' });
    response.write('[{"id": "');
    void setTimeout(50).then(() => response.destroy());
  },
  redirect: (response) => void response.writeHead(307, { ...SDK, location: 'http://127.0.0.1:1/' }).end(),
  '100 MB': async (response) => {
    response.writeHead(200, { ...SDK, 'content-type': 'application/json' });
    // The service stops reading long before the end.
    await pipeline(Array<Buffer>(MANY).fill(CHUNK), response).catch(() => {});
  },
  garbage: (response) => void response.writeHead(206, SDK).end(Buffer.from([0xff, 0x00, 0x7b, 0x5b])),
  'no HTTP': (_, { socket }) => void socket.end('what?\r\n\r\n'),
  reset: (_, { socket }) => void socket.resetAndDestroy(),
};

export interface HostileApp {
  register(serviceUrl: string): Promise<void>;
  close(): Promise<void>;
}

export async function startHostileApp(): Promise<HostileApp> {
  const server = createServer(async (request, response) => {
    const { event, ctx } = (await json(request)) as { event: { data: { behavior: string } }; ctx: { attempt: number } };
    const behave = ctx.attempt < MISBEHAVED_ATTEMPTS && BEHAVIORS[event.data.behavior];
    if (behave) await behave(response, request);
    else response.writeHead(200, { ...SDK, 'content-type': 'application/json' }).end('"well"');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    async register(serviceUrl) {
      const runtime = { type: 'http', url: `${url}?fnId=${HOSTILE_FUNCTION}&stepId=step` };
      const steps = { step: { id: 'step', name: 'step', runtime } };
      const functions = [{ id: HOSTILE_FUNCTION, name: 'hostile', triggers: [{ event: 'chaos/hostile' }], steps }];
      const response = await fetch(`${serviceUrl}/fn/register`, {
        method: 'POST',
        headers: { ...SDK, authorization: `Bearer ${hashedKey(SECRETS.SIGNING_KEY)}` },
        body: JSON.stringify({
          url,
          deployType: 'ping',
          appName: 'hostile',
          sdk: SDK['x-service-sdk'],
          v: '0.1',
          functions,
        }),
      });
      if (!response.ok) throw new Error(`The hostile app could not register: ${await response.text()}`);
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
