/** A store with an archive, without a service: on the real Redis and Postgres, with its own key prefix and schema. */
import { ulid } from 'ulid';
import { type Archive, createArchive } from '../../src/archive/archive.ts';
import { migrate } from '../../src/archive/migrate.ts';
import type { EventRow, RunRow } from '../../src/archive/rows.ts';
import { type ArchiveSettings, readConfig } from '../../src/config.ts';
import { createHistory, type History } from '../../src/history/history.ts';
import { createLog } from '../../src/log.ts';
import { type OwnStore, openStore } from './own-store.ts';
import { archiveSettings, dropSchema } from './postgres.ts';
import { freshPrefix } from './redis.ts';

export interface OwnArchive extends Archive {
  store: OwnStore;
  history: History;
  settings: ArchiveSettings;
  close(): Promise<void>;
}

const RETENTION_DAYS = 30;

/** @param settings src/config.ts */
export async function openArchive(settings: Record<string, string> = {}): Promise<OwnArchive> {
  const prefix = freshPrefix();
  const env = { ...archiveSettings(prefix), ...settings };
  const config = readConfig({ MODE: 'dev', KEY_PREFIX: prefix, ...env });
  const archiveConfig = config.archive as ArchiveSettings;
  await migrate(archiveConfig);
  const store = await openStore(prefix, env);
  const retentionOf = async (name: string) => (await store.environments.read(name))?.retentionDays ?? RETENTION_DAYS;
  const archive = createArchive(config, retentionOf, createLog('silent', 'test')) as Archive;
  return {
    ...archive,
    store,
    history: createHistory(store, archive),
    settings: archiveConfig,
    async close() {
      await archive.database.close();
      await store.close();
      await dropSchema(archiveConfig.schema);
    },
  };
}

/** An event as it is shipped. `data` and `id` of the sender are in its payload. */
export function eventRow({
  data = {},
  ...given
}: Partial<Omit<EventRow, 'payload'>> & { data?: unknown } = {}): EventRow {
  const at = given.at ?? Date.now();
  const { name = 'test/x', dedupId } = given;
  return {
    env: 'production',
    at,
    id: ulid(at),
    name,
    source: 'api',
    requestId: ulid(at),
    index: 0,
    duplicates: 0,
    decisions: undefined,
    ...given,
    dedupId,
    payload: JSON.stringify({ ...(dedupId !== undefined && { id: dedupId }), name, data, ts: at }),
  };
}

/** An ended run as it is shipped. */
export function runRow(given: Partial<RunRow> = {}): RunRow {
  const at = given.at ?? Date.now();
  const { status = 'Completed', functionId = 'app-fn', eventId = ulid(at), endedAt = at + 1_000 } = given;
  const fields = {
    f: functionId,
    e: eventId,
    r: ulid(at),
    s: status,
    a: '0',
    q: String(at),
    b: String(at),
    x: String(endedAt),
  };
  return {
    env: 'production',
    at,
    id: ulid(at),
    functionId,
    eventId,
    batch: undefined,
    status,
    endedAt,
    error: undefined,
    record: JSON.stringify(fields),
    output: status === 'Completed' ? '{"ok":true}' : undefined,
    memos: undefined,
    stack: undefined,
    history: undefined,
    metadata: undefined,
    logs: undefined,
    ...given,
  };
}
