/** The reference of the archiver: what moving the same rows takes at least. Reads them from Redis, writes them by COPY into equal tables with equal indexes,
 *  and removes them once that is committed; as many at a time as the archiver, but without its indexes, conversions and checks. Receives the names of
 *  the tables over IPC and replies with milliseconds. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { from, to } from 'pg-copy-streams';

const { REDIS_URL = '', DATABASE_URL = '', DATABASE_SCHEMA = '' } = process.env;
const ROWS_AT_ONCE = 1_000;
const PORTIONS_AT_ONCE = 2;
const HEADER = Buffer.from('5047434f50590aff0d0a000000000000000000', 'hex');
const TRAILER = Buffer.from('ffff', 'hex');

/** Rows that are moved together: one hash, with a field for each row. */
interface Portion {
  key: string;
  table: string;
}

const redis = new Redis(REDIS_URL);
const pool = new pg.Pool({
  connectionString: DATABASE_URL,
  options: `-c search_path=${DATABASE_SCHEMA}`,
  max: PORTIONS_AT_ONCE,
});

/** @returns portions of all tables, as many events as runs in turn */
async function load(tables: readonly string[]): Promise<Portion[]> {
  const portions: Portion[] = [];
  for (const name of tables) {
    const table = `moved_${name}`;
    await pool.query(`CREATE TABLE ${table} (LIKE ${name} INCLUDING ALL)`);
    const rows = await rowsOf(name);
    for (let first = 0; first < rows.length; first += ROWS_AT_ONCE) {
      const key = `bare:${name}:${first}`;
      await redis.hset(key, new Map(rows.slice(first, first + ROWS_AT_ONCE).map((row, n) => [String(n), row])));
      portions.push({ key, table });
    }
  }
  return portions;
}

/** In the binary format of COPY: https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9.4 */
async function rowsOf(table: string): Promise<Buffer[]> {
  const client = await pool.connect();
  const chunks: Buffer[] = [];
  for await (const chunk of client.query(to(`COPY ${table} TO STDOUT (FORMAT binary)`))) chunks.push(chunk as Buffer);
  client.release();
  const all = Buffer.concat(chunks);
  const rows: Buffer[] = [];
  for (let start = HEADER.length; all.readInt16BE(start) >= 0; ) {
    const end = endOfRow(all, start);
    rows.push(all.subarray(start, end));
    start = end;
  }
  return rows;
}

function endOfRow(all: Buffer, start: number): number {
  let at = start + 2;
  for (let column = all.readInt16BE(start); column > 0; column--) at += 4 + Math.max(0, all.readInt32BE(at));
  return at;
}

async function move({ key, table }: Portion): Promise<void> {
  const rows = await redis.hvalsBuffer(key);
  const client = await pool.connect();
  await client.query('BEGIN');
  const copy = client.query(from(`COPY ${table} FROM STDIN (FORMAT binary)`));
  await pipeline(Readable.from([Buffer.concat([HEADER, ...rows, TRAILER])]), copy);
  await client.query('COMMIT');
  client.release();
  await redis.unlink(key);
}

process.on('message', async (tables: string[]) => {
  const portions = await load(tables);
  await pool.query('CHECKPOINT');
  const startedAt = performance.now();
  const work = async () => {
    for (let next = portions.shift(); next; next = portions.shift()) await move(next);
  };
  await Promise.all(Array.from({ length: PORTIONS_AT_ONCE }, work));
  const elapsedMs = performance.now() - startedAt;
  for (const name of tables) await pool.query(`DROP TABLE moved_${name}`);
  process.send?.(elapsedMs);
});
await redis.ping();
process.send?.({ ready: true });
process.once('disconnect', () => process.exit());
