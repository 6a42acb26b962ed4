import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { WebSocket, WebSocketServer } from 'ws';
import { GatewayConnection, type GatewayConnectionDeps } from '../../src/api/connect/gateway-connection.ts';
import { JSON_TEXT } from '../../src/functions/connect/formats.ts';
import { KIND, Reply } from '../../src/functions/connect/messages.ts';
import type { Connection } from '../../src/model/apps/connection.ts';
import { newId } from '../../src/model/ids.ts';
import { until } from '../support/until.ts';

const REPLY_BYTES = 400;

describe('A connection whose messages wait for Redis', () => {
  let server: WebSocketServer;
  let app: WebSocket;
  let socket: WebSocket;
  beforeEach(async () => {
    server = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => JSON_TEXT.subprotocol });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    app = new WebSocket(`ws://127.0.0.1:${port}`, [JSON_TEXT.subprotocol]);
    [[socket]] = (await Promise.all([once(server, 'connection'), once(app, 'open')])) as [[WebSocket], unknown];
  });
  afterEach(async () => {
    app.terminate();
    server.close();
    await once(server, 'close');
  });

  it('is not read once they have too many bytes, until Redis has them', async () => {
    const redis = Promise.withResolvers<boolean>();
    let stored = 0;
    const reply = () => {
      stored++;
      return redis.promise;
    };
    new GatewayConnection({ env: 'production', id: newId() } as Connection, socket, {
      calls: { reply },
      log: pino({ level: 'silent' }),
      unconfirmedMaxBytes: 2 * REPLY_BYTES,
    } as unknown as GatewayConnectionDeps);
    const send = () => {
      const body = Buffer.alloc(REPLY_BYTES, '1');
      app.send(JSON_TEXT.frame(KIND.workerReply, Reply, { requestId: newId(), status: 1, body }));
    };

    send();
    await until(() => stored === 1, { describe: 'the first reply is read' });
    expect(socket.isPaused).to.equal(false);
    send();
    await until(() => socket.isPaused, { describe: 'the connection is not read' });
    send();
    redis.resolve(true);
    await until(() => stored === 3, { describe: 'the third reply is read' });
    expect(socket.isPaused).to.equal(false);
  });
});
