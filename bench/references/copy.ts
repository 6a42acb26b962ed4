/** The reference of the archiver: the rows that it wrote, written by COPY alone into equal tables with equal indexes, from memory, in one transaction. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from, to } from 'pg-copy-streams';
import type { ArchiveTable, BedArchive } from '../bed-archive.ts';

/** @returns milliseconds for all rows of the tables */
export async function copyAgain(archive: BedArchive, tables: readonly ArchiveTable[]): Promise<number> {
  const { client } = archive;
  const names = (await Promise.all(tables.map((table) => archive.dayTables(table)))).flat();
  const copies: { name: string; rows: Buffer[] }[] = [];
  for (const leaf of names) {
    const name = `copy_of_${leaf}`;
    await client.query(`CREATE TABLE ${name} (LIKE ${leaf} INCLUDING ALL)`);
    copies.push({ name, rows: await rowsOf(client, leaf) });
  }
  await client.query('CHECKPOINT');
  const startedAt = performance.now();
  await client.query('BEGIN');
  for (const { name, rows } of copies) {
    await pipeline(Readable.from(rows), client.query(from(`COPY ${name} FROM STDIN (FORMAT binary)`)));
  }
  await client.query('COMMIT');
  const elapsedMs = performance.now() - startedAt;
  for (const { name } of copies) await client.query(`DROP TABLE ${name}`);
  return elapsedMs;
}

async function rowsOf(client: pg.Client, table: string): Promise<Buffer[]> {
  const rows: Buffer[] = [];
  for await (const chunk of client.query(to(`COPY ${table} TO STDOUT (FORMAT binary)`))) rows.push(chunk as Buffer);
  return rows;
}
