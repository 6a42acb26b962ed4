/** COPY into a table of the archive, skipping existing rows. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PartitionedTable } from './archived-days.ts';
import type { CopyBuffer } from './copy-buffer.ts';
import { type Client, fromUuid } from './database.ts';
import { copyFrom } from './packages.ts';

export async function copy(client: Client, table: string, columns: string, buffer: CopyBuffer): Promise<void> {
  const stream = client.query(copyFrom(`COPY ${table} (${columns}) FROM STDIN (FORMAT binary)`));
  await pipeline(Readable.from([buffer.finish()]), stream);
}

/** @returns IDs of the added rows */
export async function addMissing(
  client: Client,
  parent: PartitionedTable,
  table: string,
  columns: string,
  buffer: CopyBuffer,
  onConflict = 'DO NOTHING',
): Promise<Set<string>> {
  const staging = `staging_${table}`;
  await client.query(`CREATE TEMPORARY TABLE ${staging} (LIKE ${parent}) ON COMMIT DROP`);
  await copy(client, staging, columns, buffer);
  // An inserted row has no earlier version.
  const { rows } = await client.query<{ id: string; added: boolean }>(
    `INSERT INTO ${table} AS present (${columns}) SELECT ${columns} FROM ${staging} ORDER BY id
     ON CONFLICT (id) ${onConflict} RETURNING id, xmax = 0 AS added`,
  );
  return new Set(rows.flatMap(({ id, added }) => (added ? [fromUuid(id)] : [])));
}
