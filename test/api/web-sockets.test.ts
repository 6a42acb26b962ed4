import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import type { Context } from '../../src/api/http/router.ts';
import { WebSockets } from '../../src/api/http/web-sockets.ts';
import { ServiceError } from '../../src/errors.ts';

describe('The WebSockets of a process', () => {
  it('belong to one environment for at most half, checked at once or when it becomes known, and are free again when they close', async () => {
    const webSockets = new WebSockets(4);
    const accept = webSockets.endpoint({ maxMessageBytes: 100 });
    const codes: string[] = [];
    const server = createServer();
    webSockets.attach(server, async (req, res) => {
      const [, owner, how] = (req.url ?? '').split('/');
      try {
        const ctx = { req, res } as unknown as Context;
        if (how === 'at-once') (await accept(ctx, owner)).send('open');
        else {
          const socket = await accept(ctx);
          webSockets.countFor(owner as string, socket);
          socket.send('open');
        }
      } catch (error) {
        codes.push(error instanceof ServiceError ? error.code : String(error));
        req.socket.destroy();
      }
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const open = async (path: string) => {
      const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`);
      client.on('error', () => undefined);
      const event = await new Promise((resolve) => {
        client.once('message', () => resolve('open')).once('close', () => resolve('refused'));
      });
      return { client, event };
    };
    const one = await open('a/at-once');
    const two = await open('a/later');
    expect([one.event, two.event]).to.deep.equal(['open', 'open']);
    for (const how of ['at-once', 'later']) expect((await open(`a/${how}`)).event, how).to.equal('refused');
    expect(codes).to.deep.equal(['too_many_connections', 'too_many_connections']);
    expect((await open('b/at-once')).event).to.equal('open');
    one.client.close();
    await once(one.client, 'close');
    expect((await open('a/at-once')).event).to.equal('open');
    webSockets.close();
    server.closeAllConnections();
    server.close();
  });
});
