/** An app with a Postgres of its own. It writes orders with an event each, and books each order in a step, until it kills itself at the point DIES_AT.
 *  It listens on PORT, prints `{"url": …}` as its first line, and exits when its stdin closes. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { Tidegate } from 'tidegate';
import { serve } from 'tidegate/node';
import { outbox, relay } from 'tidegate/postgres';
import { dieAt, type Point } from './points.ts';

const { APP_ID = '', APP_DATABASE_URL, ORDER_EVENT = '', PORT, ORDERS, DIES_AT, DIES_AFTER } = process.env;
const PATH = '/api/service';
/** One in so many orders is rolled back. */
const ROLLED_BACK = 8;
const PAUSE_MS = 20;

const dies = dieAt(DIES_AT as Point | undefined, Number(DIES_AFTER ?? 0));
dies.atStatementsOf(pg.Client.prototype);

const pool = new pg.Pool({ connectionString: APP_DATABASE_URL, max: 8 });
pool.on('error', () => {});
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const client = new Tidegate({ id: APP_ID, fetch: dies.aroundSends(fetch), logger: silent });

const booked = client.createFunction(
  { id: 'booked', retries: 20, triggers: { event: ORDER_EVENT } },
  async ({ event, step, runId }) => {
    const booking = await step.transaction('book', pool, async (tx) => {
      const { rows } = await tx.query('insert into bookings (order_id, run_id) values ($1, $2) returning number', [
        event.data.order,
        runId,
      ]);
      return rows[0].number as string;
    });
    return { booking };
  },
);

async function order(): Promise<void> {
  const connection = await pool.connect();
  connection.on('error', () => {});
  let broken: Error | undefined;
  try {
    const id = randomUUID();
    await connection.query('begin');
    await connection.query('insert into orders (id) values ($1)', [id]);
    await outbox(connection, client, { name: ORDER_EVENT, id, data: { order: id } });
    await connection.query(Math.random() * ROLLED_BACK < 1 ? 'rollback' : 'commit');
  } catch (error) {
    broken = error as Error;
  } finally {
    connection.release(broken);
  }
}

const handler = serve({ client, functions: [booked], path: PATH });
const server = createServer((request, response) => {
  if (request.method === 'POST') response.on('finish', dies.answered);
  handler(request, response);
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(JSON.stringify({ url: `http://127.0.0.1:${PORT}${PATH}` })));
const sending = relay(client, pool);
process.stdin
  .on('end', async () => {
    await sending.close();
    process.exit(0);
  })
  .resume();

while (ORDERS === '1') {
  await order().catch(() => setTimeout(100));
  await setTimeout(PAUSE_MS);
}
