/** A separate connection to Postgres, for work before the pool is used: migrations, and the checks of a release. */
import type pg from 'pg';
import type { ArchiveSettings } from '../config.ts';
import { connectionOf } from './database.ts';
import { postgres } from './packages.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/** @throws an error of Postgres, TLS or DNS; isConnectionError (database.ts) says whether Postgres is down */
export async function withOwnConnection<T>(
  { url, tlsVerify }: Pick<ArchiveSettings, 'url' | 'tlsVerify'>,
  settings: pg.ClientConfig,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new (postgres().Client)({
    ...connectionOf(url, tlsVerify),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...settings,
  });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
