/** An app with a Postgres of its own. It serves functions on PORT, and ROLES says what else it does: `relay` sends what is in its outbox, and with `hangs` none of
 *  these requests ends. Orders come over IPC, and each is answered by one message. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { outbox, relay } from 'tidegate/postgres';
import { sinceBoot } from './count-calls.ts';
import { EVENTS, INSERT_BOOKING, INSERT_ORDER, STEPS } from './outbox-tables.ts';
import { eventOf } from './payloads.ts';

/** `commit`: orders at this distance, whose events are in the outbox, or, for `sends`, are sent after the commit. `started`: waits for the function of the order. `steps`: runs of this function, one after another. */
export type AppOrder =
  | { does: 'commit'; orders: number; everyMs: number; sends?: boolean }
  | { does: 'started'; order: string }
  | { does: 'steps'; of: 'transaction' | 'run'; runs: number };

/** To `commit`: from each commit to its function. To `started`: when it started, by `sinceBoot`. To `steps`: of each step. */
export interface AppAnswer {
  lagsMs?: number[];
  startedAt?: number;
  stepsMs?: number[];
}

/** What an app that hangs says when it has claimed the row of an order. */
export interface Claimed {
  order: string;
}

const { APP_DATABASE_URL, PORT, ROLES = '' } = process.env;
const [RELAYS, HANGS] = ['relay', 'hangs'].map((role) => ROLES.split(',').includes(role));
const PATH = '/api/service';

const pool = new pg.Pool({ connectionString: APP_DATABASE_URL, max: 8 });
const say = (message: object) => process.send?.(message);
const hanging: typeof fetch = async (_url, init) => {
  const [event] = JSON.parse(String(init?.body));
  say({ order: event.id } satisfies Claimed);
  return new Promise(() => {});
};
const client = new Tidegate({ id: 'bench-outbox', isDev: false, ...(HANGS && { fetch: hanging }) });

/** By order. */
const started = new Map<string, PromiseWithResolvers<number>>();
const startOf = (order: string) => {
  const start = started.get(order) ?? Promise.withResolvers<number>();
  started.set(order, start);
  return start;
};
const startedFunction = client.createFunction({ id: 'started', triggers: { event: EVENTS.paid } }, ({ event }) =>
  startOf(event.id as string).resolve(sinceBoot()),
);

/** By event: from the first step of its run to the end of the last. */
const ended = new Map<string, PromiseWithResolvers<number>>();
const stepFunctions = (['transaction', 'run'] as const).map((kind) => {
  const begunAt = new Map<string, number>();
  return client.createFunction({ id: kind, triggers: { event: EVENTS[kind] } }, async ({ event, step, runId }) => {
    const id = event.id as string;
    if (!begunAt.has(id)) begunAt.set(id, sinceBoot());
    for (let n = 0; n < STEPS; n++) {
      const values = [id, runId];
      if (kind === 'run') await step.run(`book-${n}`, async () => bookingOf(await pool.query(INSERT_BOOKING, values)));
      else await step.transaction(`book-${n}`, pool, async (tx) => bookingOf(await tx.query(INSERT_BOOKING, values)));
    }
    ended.get(id)?.resolve(sinceBoot() - (begunAt.get(id) as number));
  });
});

function bookingOf({ rows }: pg.QueryResult): string {
  return rows[0].number;
}

async function commit(orders: number, everyMs: number, sends: boolean): Promise<AppAnswer> {
  const connection = await pool.connect();
  const lags: Promise<number>[] = [];
  for (let n = 0; n < orders; n++) {
    const id = randomUUID();
    const { promise } = startOf(id);
    await connection.query('begin');
    await connection.query(INSERT_ORDER, [id]);
    const event = { ...eventOf(EVENTS.paid), id } as { name: string; id: string; data: object };
    if (!sends) await outbox(connection, client, event);
    await connection.query('commit');
    const committedAt = sinceBoot();
    if (sends) await client.send(event);
    lags.push(promise.then((startedAt) => startedAt - committedAt));
    await setTimeout(everyMs);
  }
  connection.release();
  return HANGS ? {} : { lagsMs: await Promise.all(lags) };
}

async function steps(kind: 'transaction' | 'run', runs: number): Promise<AppAnswer> {
  const stepsMs: number[] = [];
  for (let n = 0; n < runs; n++) {
    const id = randomUUID();
    const end = Promise.withResolvers<number>();
    ended.set(id, end);
    await client.send({ name: EVENTS[kind], id, data: {} });
    stepsMs.push((await end.promise) / STEPS);
    ended.delete(id);
  }
  return { stepsMs };
}

async function answer(order: AppOrder): Promise<AppAnswer> {
  if (order.does === 'commit') return commit(order.orders, order.everyMs, order.sends ?? false);
  if (order.does === 'steps') return steps(order.of, order.runs);
  return { startedAt: await startOf(order.order).promise };
}

const server = createServer((request, response) => void handler(request, response));
await once(server.listen(Number(PORT ?? 0), '127.0.0.1'), 'listening');
const { port } = server.address() as AddressInfo;
const functions = [startedFunction, ...stepFunctions];
const handler = serve({ client, functions, path: PATH, serveOrigin: `http://127.0.0.1:${port}` });
if (RELAYS) relay(client, pool);
process.on('message', async (order: AppOrder) => {
  const told = await answer(order);
  if (!HANGS) say(told);
});
process.once('disconnect', () => process.exit());
say({ port });
