/** A TCP proxy in front of Redis that simulates a slow, silent or unreachable Redis. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** @returns milliseconds to delay these bytes from Redis */
export type Delay = (reply: Buffer) => number;

export interface RedisProxy {
  url: string;
  /** Delays the replies of all connections; they keep their order. */
  delay(delay: Delay): void;
  /** Breaks every connection in the middle of its next reply. */
  cutMidReply(): void;
  /** Breaks every connection and rejects new ones until `unblock`. */
  block(): void;
  unblock(): void;
  close(): Promise<void>;
}

interface Link {
  client: Socket;
  redis: Socket;
  cutNext: boolean;
}

/** How long an idle connection may outlive a cut. */
const CUT_MS = 500;

export async function startRedisProxy(redisUrl: string): Promise<RedisProxy> {
  const { hostname, port } = new URL(redisUrl);
  const links = new Set<Link>();
  let delayOf: Delay = () => 0;
  let isShut = false;

  const server = createServer((client) => {
    if (isShut) return client.destroy();
    const link = { client, redis: connect(Number(port), hostname), cutNext: false };
    links.add(link);
    join(link, (reply) => delayOf(reply));
    for (const socket of [link.client, link.redis]) {
      socket.setNoDelay(true);
      // Errors are expected; `close` follows them.
      socket.on('error', () => {});
      socket.on('close', () => {
        links.delete(link);
        destroy(link);
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    delay: (delay) => {
      delayOf = delay;
    },
    cutMidReply() {
      for (const link of links) {
        link.cutNext = true;
        setTimeout(() => link.cutNext && destroy(link), CUT_MS).unref();
      }
    },
    block() {
      isShut = true;
      for (const link of links) destroy(link);
    },
    unblock: () => {
      isShut = false;
    },
    async close() {
      server.close();
      for (const link of links) destroy(link);
      await once(server, 'close');
    },
  };
}

function join(link: Link, delayOf: Delay): void {
  const { client, redis } = link;
  client.on('data', (bytes) => redis.write(bytes));
  /** What is held back, oldest first: a reply that overtakes another is taken for the other's. */
  const held: { reply: Buffer; at: number }[] = [];
  const pass = () => {
    for (let first = held[0]; first; first = held[0]) {
      const waitMs = first.at - performance.now();
      if (waitMs > 0) return void setTimeout(pass, Math.ceil(waitMs));
      if (client.writable) client.write(first.reply);
      held.shift();
    }
  };
  redis.on('data', (reply) => {
    if (link.cutNext) return cut(link, Buffer.concat([...held.map(({ reply }) => reply), reply]));
    const delayMs = delayOf(reply);
    if (held.length === 0 && delayMs <= 0) return void client.write(reply);
    held.push({ reply, at: performance.now() + delayMs });
    if (held.length === 1) pass();
  });
}

function cut(link: Link, reply: Buffer): void {
  link.cutNext = false;
  link.client.write(reply.subarray(0, Math.ceil(reply.length / 2)), () => destroy(link));
}

function destroy({ client, redis }: Link): void {
  client.destroy();
  redis.destroy();
}
