import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { expect } from 'chai';
import type { Progress, SendCommand, Sent } from '../../bench/sender.ts';

const SENDER = resolve(import.meta.dirname, '../../bench/sender.ts');

describe('the open-loop sender', () => {
  let server: Server;
  let sender: ChildProcess;

  async function send(listener: RequestListener, order: Pick<SendCommand, 'connections'> & { perSecond: number }) {
    server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    sender = fork(SENDER, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    await once(sender, 'message');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/e/key`;
    const { perSecond, connections } = order;
    sender.send({ streams: [{ url, body: '{"name":"a"}', perSecond }], warmUpSeconds: 0, seconds: 1, connections });
  }

  const outcome = () =>
    new Promise<Sent>((resolve) => {
      sender.on('message', (message: Progress | Sent) => message.done && resolve(message));
    });

  afterEach(async () => {
    const exited = sender.exitCode === null ? once(sender, 'exit') : undefined;
    sender.kill('SIGKILL');
    await exited;
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  it('keeps sending without responses and measures latency from when a request is due', async () => {
    const held: (() => void)[] = [];
    const bodies: string[] = [];
    await send(
      (request, response) => {
        request.setEncoding('utf8').on('data', (text) => bodies.push(text));
        held.push(() => response.writeHead(200, { 'content-length': 2 }).end('{}'));
        // The last of them is due at the end of the second.
        if (held.length >= 20) for (const respond of held.splice(0)) respond();
      },
      { perSecond: 20, connections: 20 },
    );
    const { answered, p50Ms, p99Ms } = await outcome();
    expect(answered).to.equal(20);
    expect(new Set(bodies)).to.deep.equal(new Set(['{"name":"a"}']));
    expect(p99Ms).to.be.at.least(950);
    expect(p50Ms).to.be.at.least(450);
  });

  it('includes the time that requests wait for a connection', async () => {
    await send(
      (_request, response) => void setTimeout(() => response.writeHead(200, { 'content-length': 2 }).end('{}'), 20),
      { perSecond: 100, connections: 1 },
    );
    const { answered, p99Ms } = await outcome();
    expect(answered).to.equal(100);
    // One at a time takes two seconds for what is due in one.
    expect(p99Ms).to.be.at.least(900);
  });

  it('exits with code 1 on a response that refuses the request', async () => {
    await send((_request, response) => response.writeHead(503, { 'content-length': 0 }).end(), {
      perSecond: 10,
      connections: 1,
    });
    const [code] = await once(sender, 'exit');
    expect(code).to.equal(1);
  });
});
