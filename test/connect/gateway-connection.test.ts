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
const UNREAD_BYTES = 1_048_576;

function connectionOf(socket: WebSocket, deps: object): void {
  const record = { env: 'production', id: newId(), status: 'ready' } as Connection;
  new GatewayConnection(record, socket, {
    log: pino({ level: 'silent' }),
    ...deps,
  } as unknown as GatewayConnectionDeps);
}

describe('A connection of an app', () => {
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

  it('is not read once messages that wait for Redis have too many bytes, until Redis has them', async () => {
    const redis = Promise.withResolvers<boolean>();
    let stored = 0;
    const reply = () => {
      stored++;
      return redis.promise;
    };
    connectionOf(socket, { calls: { reply }, unansweredMaxBytes: 2 * REPLY_BYTES });
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

  it('is not read while its app reads no responses, and gets all of them once it reads', async () => {
    connectionOf(socket, {});
    let sent = 0;
    let answered = 0;
    app.on('message', () => {
      answered++;
    });
    app.pause();
    await until(
      () => {
        for (let n = 0; n < 5_000; n++) app.send(JSON_TEXT.frame(KIND.workerHeartbeat));
        sent += 5_000;
        return socket.isPaused || socket.bufferedAmount > UNREAD_BYTES;
      },
      { describe: 'responses wait for the app' },
    );
    expect(socket.isPaused).to.equal(true);
    app.resume();
    await until(() => answered === sent && !socket.isPaused, { describe: 'all heartbeats are answered' });
  });

  it('is stored once as paused, however often its app says so', async () => {
    const stored: string[] = [];
    connectionOf(socket, { onStatus: ({ record }: GatewayConnection) => stored.push(record.status) });
    for (let n = 0; n < 3; n++) app.send(JSON_TEXT.frame(KIND.workerPause));
    app.send(JSON_TEXT.frame(KIND.workerHeartbeat));
    await once(app, 'message');
    expect(stored).to.deep.equal(['paused']);
  });
});
