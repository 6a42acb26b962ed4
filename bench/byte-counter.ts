/** A proxy that counts what a server sends to its clients, as it goes over the wire. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface ByteCounter {
  /** Instead of the server's. */
  origin: string;
  /** So far. */
  readonly bytes: number;
  close(): void;
}

/** @param origin of the server, such as `http://127.0.0.1:8288` */
export async function countBytes(origin: string): Promise<ByteCounter> {
  const { hostname, port } = new URL(origin);
  const sockets = new Set<Socket>();
  let bytes = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on('data', (chunk) => {
      bytes += chunk.length;
    });
    upstream.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get bytes() {
      return bytes;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
