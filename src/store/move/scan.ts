/** Scans all keys of an installation on one server, in batches. A key may be returned twice. */
import type { Redis } from '../redis/connection/connection.ts';

const SCAN_COUNT = 1_000;

export async function* scan(server: Redis, keyPrefix: string): AsyncGenerator<string[]> {
  // Prefixes of the installation's and the partitions' keys, with or without a hash tag.
  const starts = [`${keyPrefix}:`, `{${keyPrefix}:`, `{${keyPrefix}}`];
  let cursor = '0';
  do {
    const [next, found] = await server.scan(cursor, 'MATCH', `*${keyPrefix}[:}]*`, 'COUNT', SCAN_COUNT);
    cursor = next;
    const keys = found.filter((key) => starts.some((start) => key.startsWith(start)));
    if (keys.length > 0) yield keys;
  } while (cursor !== '0');
}
