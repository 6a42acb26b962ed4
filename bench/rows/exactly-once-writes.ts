/** What a transaction with an order and its event costs, beside transactions with a plain insert. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { Tidegate } from 'tidegate';
import { outbox } from 'tidegate/postgres';
import { sinceBoot } from '../count-calls.ts';
import { type AppTables, EVENTS, INSERT_INDEXED, INSERT_ORDER, INSERT_PLAIN } from '../outbox-tables.ts';
import { eventOf } from '../payloads.ts';
import type { Row } from '../row.ts';
import { median, medians } from '../statistics.ts';
import type { TestBed } from '../test-bed.ts';

export const GROUP = 'exactly-once';
export const PREFIX = 'exactly once:';
export const WRITE = `${PREFIX} a transaction with an order and its event`;
export const MAX_TIMES = 1.3;
const PLAIN = 'a plain insert of the event, no index but the key';
const INDEXED = "a plain insert, with the outbox's indexes";
const CONNECTIONS = [1, 8] as const;
const shop = new Tidegate({ id: 'bench' });

type Transaction = (client: pg.PoolClient, event: OrderEvent) => Promise<unknown>;
interface OrderEvent {
  name: string;
  id: string;
  data: object;
}

/** Microseconds of a transaction, with something that listens as a relay does, and nothing that sends. */
export async function writes({ bench }: TestBed, tables: AppTables): Promise<Row[]> {
  const { rounds, seconds } = bench.options;
  const kinds: Record<'own' | 'plain' | 'indexed', Transaction> = {
    own: (client, event) => outbox(client, shop, event),
    plain: (client, event) => client.query(INSERT_PLAIN, [JSON.stringify(event)]),
    indexed: (client, event) => client.query(INSERT_INDEXED, [JSON.stringify(event)]),
  };
  const listener = await tables.pool.connect();
  await listener.query('listen tidegate_outbox');
  const rows: Row[] = [];
  for (const connections of CONNECTIONS) {
    const timed = (kind: keyof typeof kinds) => () => microseconds(tables, connections, seconds, kinds[kind]);
    const reached =
      connections === 1
        ? await inTurns(tables, rounds * seconds, kinds)
        : await medians(rounds, { own: timed('own'), plain: timed('plain'), indexed: timed('indexed') });
    const references = [
      { what: PLAIN, value: reached.plain },
      { what: INDEXED, value: reached.indexed },
    ];
    const work = `${WRITE}, ${connections === 1 ? 'one connection' : `${connections} connections`}`;
    const targets = connections === 1 ? [{ times: MAX_TIMES, of: PLAIN }] : [];
    rows.push({ group: GROUP, work, value: reached.own, unit: 'µs', references, targets });
  }
  listener.release(true);
  return rows;
}

/** One of each after the other on the same connection, until the time is over for each. @returns medians */
async function inTurns<Kind extends string>(
  tables: AppTables,
  seconds: number,
  kinds: Record<Kind, Transaction>,
): Promise<Record<Kind, number>> {
  await tables.empty();
  const names = Object.keys(kinds) as Kind[];
  const all = new Map<Kind, number[]>(names.map((name) => [name, []]));
  const client = await tables.pool.connect();
  const endAt = sinceBoot() + names.length * seconds * 1_000;
  while (sinceBoot() < endAt) {
    for (const name of names) {
      const startedAt = sinceBoot();
      await transact(client, kinds[name]);
      all.get(name)?.push(1_000 * (sinceBoot() - startedAt));
    }
  }
  client.release();
  return Object.fromEntries(names.map((name) => [name, median(all.get(name) as number[])])) as Record<Kind, number>;
}

async function transact(client: pg.PoolClient, write: Transaction): Promise<void> {
  const id = randomUUID();
  await client.query('begin');
  await client.query(INSERT_ORDER, [id]);
  await write(client, { ...eventOf(EVENTS.paid), id } as OrderEvent);
  await client.query('commit');
}

/** Until the time is over, on so many connections at once. */
async function microseconds(
  tables: AppTables,
  connections: number,
  seconds: number,
  write: Transaction,
): Promise<number> {
  await tables.empty();
  const startedAt = sinceBoot();
  let count = 0;
  const work = async () => {
    const client = await tables.pool.connect();
    for (; sinceBoot() - startedAt < seconds * 1_000; count++) await transact(client, write);
    client.release();
  };
  await Promise.all(Array.from({ length: connections }, work));
  return (1_000 * (sinceBoot() - startedAt)) / count;
}
