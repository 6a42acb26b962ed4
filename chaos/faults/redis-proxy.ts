/** A TCP proxy in front of Redis: it makes a healthy Redis look slow, silent or gone. One in-process server, any number of connections. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** @returns how long these bytes of Redis's are held back, in milliseconds */
export type Delay = (reply: Buffer) => number;

export interface RedisProxy {
  url: string;
  /** From now on, for the replies of every connection; they keep their order. */
  delay(delay: Delay): void;
  /** Breaks every connection: each passes on half of the next reply first. */
  cutInMidReply(): void;
  /** Breaks every connection now, and refuses new ones until `open`. */
  shut(): void;
  open(): void;
  close(): Promise<void>;
}

interface Link {
  client: Socket;
  redis: Socket;
  cutNext: boolean;
}

/** How long a connection on which nothing is replied may outlive a cut. */
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
      // Errors are what this proxy is for; `close` follows them.
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
    cutInMidReply() {
      for (const link of links) {
        link.cutNext = true;
        setTimeout(() => link.cutNext && destroy(link), CUT_MS).unref();
      }
    },
    shut() {
      isShut = true;
      for (const link of links) destroy(link);
    },
    open: () => {
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
