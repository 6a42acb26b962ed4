/** Packages for Postgres, which are loaded on first use: a process without an archive saves 20 MB. */
import { createRequire } from 'node:module';
import type pg from 'pg';
import type copyStreams from 'pg-copy-streams';

const load = createRequire(import.meta.url);

export function postgres(): typeof pg {
  return load('pg') as typeof pg;
}

export function copyFrom(statement: string): ReturnType<typeof copyStreams.from> {
  return (load('pg-copy-streams') as typeof copyStreams).from(statement);
}
