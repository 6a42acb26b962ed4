/** Senders that each start a run, wait for its end, and start the next. The app of the engine tells when a run has ended, over a connection
 *  to this process: so the end of a run is the last line of its function for every engine, whatever the engine does after it.
 *  It receives a SendOrder over IPC and answers with a SendReport. */

import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { Connection, requestOf } from '../connection.ts';
import { quantile } from '../statistics.ts';
import { RUN } from './functions.ts';

export interface SendOrder {
  url: string;
  /** In which RUN stands for the number of the run. */
  body: string;
  senders: number;
  /** Time in which runs are started. */
  seconds: number;
}

export interface SendReport {
  runs: number;
  /** From the first start to the last end. */
  seconds: number;
  /** From the start of a run to its end. */
  p50Ms: number;
  p99Ms: number;
}

/** A run that has not ended by then never will. */
const OVERDUE_MS = 60_000;

/** What to do at the end of each run, by its number. */
const ends = new Map<number, () => void>();
let lastRun = 0;

const server = createServer((socket) => {
  let rest = '';
  socket.setEncoding('latin1').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    // An engine may run the last line of a function twice.
    for (const line of lines) ends.get(Number(line))?.();
  });
  socket.on('error', () => {});
});
server.listen(0, '127.0.0.1', () => process.send?.({ ready: true, port: (server.address() as AddressInfo).port }));
process.on('message', (order: SendOrder) => void send(order).then((report) => process.send?.(report)));
process.once('disconnect', () => process.exit());

async function send({ url, body, senders, seconds }: SendOrder): Promise<SendReport> {
  const { hostname, port } = new URL(url);
  const connections = await Promise.all(Array.from({ length: senders }, () => Connection.open(hostname, Number(port))));
  const durations: number[] = [];
  const startedAt = performance.now();
  let endedAt = startedAt;
  const overdue = setTimeout(
    () => {
      throw new Error(`${ends.size} runs have not ended after ${OVERDUE_MS / 1_000} s`);
    },
    1_000 * seconds + OVERDUE_MS,
  );

  async function work(connection: Connection): Promise<void> {
    while (performance.now() < startedAt + 1_000 * seconds) {
      const run = ++lastRun;
      const at = performance.now();
      const ended = new Promise<void>((resolve) => {
        ends.set(run, () => {
          ends.delete(run);
          endedAt = performance.now();
          durations.push(endedAt - at);
          resolve();
        });
      });
      await connection.post(requestOf({ url, body: body.replace(RUN, String(run)) }));
      await ended;
    }
  }

  await Promise.all(connections.map(work));
  clearTimeout(overdue);
  for (const connection of connections) connection.close();
  return {
    runs: durations.length,
    seconds: (endedAt - startedAt) / 1_000,
    p50Ms: quantile(durations, 0.5),
    p99Ms: quantile(durations, 0.99),
  };
}
