/** Whether payloads should be compressed: bytes and time of lz4 by Postgres, which compresses rows above 2 kB, and of zstd and deflate by Node, row by row. */
import { deflateRawSync, inflateRawSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type pg from 'pg';
import { archiveEvent, PAYLOAD_BYTES } from '../archive-events.ts';
import type { Measurement } from '../bench.ts';
import type { Compression } from '../results.ts';
import { median } from '../statistics.ts';

const SIZES = [PAYLOAD_BYTES, 1_000, 10_000, 100_000];
/** Bytes of all payloads of a size. */
const TOTAL_BYTES = 8_000_000;
const ROUNDS = 3;
const group = 'archive-bytes';
type Method = Compression['methods'][number];

export const compression: Measurement = {
  group,
  names: ['archived: compression of payloads'],
  measure: (bench) =>
    bench.withTestBed({ archive: true }, async ({ archive: { client } }) => {
      const found: Compression[] = [];
      for (const payload of SIZES) {
        const texts = Array.from({ length: Math.ceil(TOTAL_BYTES / payload) }, (_, n) => textOf(n, payload));
        bench.progress(`compressing ${texts.length} payloads of ${payload} bytes`);
        const methods = [
          await inPostgres(client, 'none', texts),
          await inPostgres(client, 'lz4', texts),
          inNode('zstd by row', texts, zstdCompressSync, zstdDecompressSync),
          inNode('deflate by row', texts, deflateRawSync, inflateRawSync),
        ];
        found.push({ payload, methods });
      }
      return { rows: [], costs: [], series: [], compression: found };
    }),
};

/** A payload of about this size: a list of orders, which differ. */
function textOf(n: number, bytes: number): string {
  const { name, data } = archiveEvent(n);
  if (bytes <= PAYLOAD_BYTES) return JSON.stringify({ name, data, ts: Date.now() });
  const orders: object[] = [];
  for (let left = bytes - 60; left > 0; left -= PAYLOAD_BYTES - 40) orders.push(archiveEvent(n * 7_919 + left).data);
  return JSON.stringify({ name, data: { orders }, ts: Date.now() });
}

/** Bytes of the column as it is stored; time per row of an INSERT and of a read, with what Postgres does besides. */
async function inPostgres(client: pg.Client, method: 'none' | 'lz4', texts: readonly string[]): Promise<Method> {
  const [column, storage] = method === 'lz4' ? ['text COMPRESSION lz4', 'EXTENDED'] : ['text', 'EXTERNAL'];
  // Uncompressed: Postgres moves a compressed text as it is.
  await client.query('CREATE TEMPORARY TABLE given (payload text)');
  await client.query('ALTER TABLE given ALTER payload SET STORAGE EXTERNAL');
  await client.query('INSERT INTO given SELECT unnest($1::text[])', [texts]);
  await client.query(`CREATE TEMPORARY TABLE stored (payload ${column})`);
  await client.query(`ALTER TABLE stored ALTER payload SET STORAGE ${storage}`);
  const [writes, reads]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    await client.query('TRUNCATE stored');
    writes.push(await timed(() => client.query('INSERT INTO stored SELECT payload FROM given')));
    // Reads the last characters, so that all of it is decompressed.
    reads.push(await timed(() => client.query('SELECT sum(length(right(payload, 5))) FROM stored')));
  }
  const { rows } = await client.query<{ bytes: number }>(
    'SELECT avg(pg_column_size(payload))::float8 AS bytes FROM stored',
  );
  await client.query('DROP TABLE given, stored');
  const each = (times: number[]) => (1_000 * median(times)) / texts.length;
  const name = method === 'lz4' ? 'lz4 by Postgres' : 'none';
  return { name, bytes: rows[0]?.bytes ?? 0, writeUs: each(writes), readUs: each(reads) };
}

function inNode(
  name: string,
  texts: readonly string[],
  compress: (text: string) => Buffer,
  decompress: (bytes: Buffer) => Buffer,
): Method {
  const [writes, reads]: [number[], number[]] = [[], []];
  let bytes = 0;
  for (let round = 0; round < ROUNDS; round++) {
    let packed: Buffer[] = [];
    const write = timedNow(() => {
      packed = texts.map(compress);
    });
    writes.push(write);
    reads.push(
      timedNow(() => {
        for (const one of packed) decompress(one).toString();
      }),
    );
    bytes = packed.reduce((sum, { length }) => sum + length, 0);
  }
  const each = (times: number[]) => (1_000 * median(times)) / texts.length;
  return { name, bytes: bytes / texts.length, writeUs: each(writes), readUs: each(reads) };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function timedNow(work: () => void): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}
