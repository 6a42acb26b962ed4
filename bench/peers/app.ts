/** What the apps of all engines share: they tell the sender which runs have ended, and the benchmark where they listen. */
import { once } from 'node:events';
import type { Server } from 'node:net';
import { createConnection } from 'node:net';

const LOOPBACK = '127.0.0.1';

/** @returns the last line of a function: tells the sender that the run of this number has ended */
export async function connectToSender(): Promise<(n: number) => void> {
  const socket = createConnection(Number(process.env.SENDER_PORT), LOOPBACK).setNoDelay(true);
  await once(socket, 'connect');
  return (n) => socket.write(`${n}\n`);
}

/** Listens on PORT, reports that the app is ready, and exits with the benchmark. */
export function listen(server: Server): void {
  const port = Number(process.env.PORT);
  server.listen(port, LOOPBACK, () => process.send?.({ ready: true, port }));
  process.once('disconnect', () => process.exit());
}
