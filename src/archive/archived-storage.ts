/** Archived storage of an environment. */
import { type ArchivedKind, INSTALLATION } from './archived-days.ts';
import { Repository, sqlFile } from './database.ts';
import { TABLES_OF } from './day-removal.ts';
import type { Numbers } from './numbers.ts';

const BY_DAY = sqlFile('storage-of-environment');
const TABLES = Object.entries(TABLES_OF).flatMap(([kind, tables]) => tables.map((table) => ({ kind, table })));

export interface ArchivedDayUse {
  kind: ArchivedKind;
  /** Start of the day, Unix milliseconds. */
  day: number;
  rows: number;
  /** Size of payloads, before compression. */
  bytes: number;
  /** Disk use with indexes: the environment's share of the tables that environments with the same retention share. */
  diskBytes: number;
}

export class ArchivedStorage extends Repository<{ numbers: Numbers }> {
  /** Oldest day first. */
  async of(env: string): Promise<ArchivedDayUse[]> {
    const envId = await this.deps.numbers.environment(env);
    return envId === undefined ? [] : this.#read(envId);
  }

  /** Storage that belongs to no environment: webhook requests, audit entries. */
  ofInstallation(): Promise<ArchivedDayUse[]> {
    return this.#read(INSTALLATION);
  }

  async #read(envId: number): Promise<ArchivedDayUse[]> {
    const rows = await this.database.query<Omit<ArchivedDayUse, 'diskBytes'> & { disk_bytes: number }>(BY_DAY, [
      envId,
      TABLES.map(({ kind }) => kind),
      TABLES.map(({ table }) => table),
    ]);
    return rows.map(({ disk_bytes, ...day }) => ({ ...day, diskBytes: disk_bytes }));
  }
}
