/** A proxy of the real Redis that imitates another version: it reports that version, and replies to WAITAOF (Redis 7.2) as configured. All
 *  other commands pass through unchanged. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface FakeRedis {
  url: string;
  /** Number of received WAITAOF commands. */
  asked(): number;
  /** Sets the reply of WAITAOF: 1, the file is on disk; 0, timeout. The connection blocks until the promise resolves, as with Redis. */
  reply(local: number | Promise<number>): void;
  close(): Promise<void>;
}

/** ioredis sends the command in one piece. */
const WAITAOF = /\*4\r\n\$7\r\nwaitaof\r\n\$1\r\n1\r\n\$1\r\n0\r\n\$(\d+)\r\n\d+\r\n/gi;
/** Sent to Redis instead of WAITAOF; its reply is replaced. */
const TOKEN = 'reply-of-waitaof';
const ECHO = `*2\r\n$4\r\nECHO\r\n$${TOKEN.length}\r\n${TOKEN}\r\n`;
const ECHOED = `$${TOKEN.length}\r\n${TOKEN}\r\n`;
const VERSION = /(?<=redis_version:)\d\.\d/;

/** @param version major and minor, one digit each */
export async function startFakeRedis(url: string, version: '7.0' | '7.2'): Promise<FakeRedis> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let asked = 0;
  let local: number | Promise<number> = 1;

  const server = createServer((client) => {
    const redis = connect(Number(port), hostname);
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    client.on('data', (bytes) => {
      const commands = bytes.toString('latin1').replace(WAITAOF, () => {
        asked++;
        return ECHO;
      });
      redis.write(commands, 'latin1');
    });
    let before = Promise.resolve();
    redis.on('data', (bytes) => {
      const replies = bytes.toString('latin1').replace(VERSION, version).split(ECHOED);
      before = before.then(async () => {
        for (const [index, part] of replies.entries()) {
          if (index > 0) client.write(`*2\r\n:${await local}\r\n:0\r\n`);
          if (client.writable) client.write(part, 'latin1');
        }
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    reply: (what) => {
      local = what;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
