/** An open-loop sender: it sends requests when they are due, whether or not earlier ones were answered, as real senders do. Latency
 *  starts when a request is due, so a stall counts against every request that was due meanwhile.
 *  It receives a SendCommand over IPC, reports progress every 100 ms, and the result at the end. */
import { setTimeout } from 'node:timers/promises';
import { Connection, type PostRequest, requestOf } from './connection.ts';
import { quantile } from './statistics.ts';

export interface RequestStream extends PostRequest {
  perSecond: number;
}

export interface SendCommand {
  streams: RequestStream[];
  /** Requests due in this time are not part of the latencies. */
  warmUpSeconds: number;
  seconds: number;
  connections: number;
}

export interface Sent {
  done: true;
  answered: number;
  p50Ms: number;
  p99Ms: number;
  /** The longest delay that this process itself caused by sending late. */
  latestMs: number;
}

export interface Progress {
  done: false;
  answered: number;
}

interface Due {
  request: Buffer;
  at: number;
}

const PROGRESS_MS = 100;

process.on('message', (order: SendCommand) => void send(order));
process.once('disconnect', () => process.exit());
process.send?.({ ready: true });

async function send({ streams, warmUpSeconds, seconds, connections }: SendCommand): Promise<void> {
  const { hostname, port } = new URL((streams[0] as RequestStream).url);
  const all = Array.from({ length: connections }, () => Connection.open(hostname, Number(port)));
  const idle = await Promise.all(all);
  const opened = [...idle];
  const latencies: number[] = [];
  const waiting: Due[] = [];
  const total = streams.map(({ perSecond }) => Math.floor(perSecond * (warmUpSeconds + seconds)));
  const sum = total.reduce((all, one) => all + one, 0);
  let [answered, latestMs] = [0, 0];
  const end = Promise.withResolvers<void>();
  const startedAt = performance.now();

  /** Sends due requests one after another. */
  async function work(connection: Connection): Promise<void> {
    for (let due = waiting.shift(); due; due = waiting.shift()) {
      const { at } = due;
      await connection.post(due.request);
      const now = performance.now();
      if (at - startedAt >= 1_000 * warmUpSeconds) latencies.push(now - at);
      if (++answered === sum) end.resolve();
    }
    idle.push(connection);
  }

  const telling = setInterval(() => process.send?.({ done: false, answered } satisfies Progress), PROGRESS_MS);
  const schedules = streams.map((stream, i) => ({
    request: requestOf(stream),
    every: 1_000 / stream.perSecond,
    left: total[i] ?? 0,
    at: startedAt,
  }));
  while (schedules.some(({ left }) => left > 0)) {
    const now = performance.now();
    for (const schedule of schedules) {
      for (; schedule.left > 0 && schedule.at <= now; schedule.left--) {
        waiting.push({ request: schedule.request, at: schedule.at });
        latestMs = Math.max(latestMs, now - schedule.at);
        schedule.at += schedule.every;
      }
    }
    // Use connections in turn, so that none reaches the service's keep-alive timeout.
    while (idle.length > 0 && waiting.length > 0) work(idle.shift() as Connection).catch(end.reject);
    await setTimeout(1);
  }
  await end.promise;
  clearInterval(telling);
  for (const connection of opened) connection.close();
  process.send?.({
    done: true,
    answered,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    latestMs,
  } satisfies Sent);
}
