/** The tables of docs/redis.md, one per room, between two markers each:
 *
 *      <!-- keys: runs -->
 *      …
 *      <!-- end -->
 *
 *  `node scripts/redis-page.ts` writes them from the key declarations (src/store/<room>/keys.ts). test/store/keyspace.test.ts fails when the
 *  page is stale. */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { KeyDeclaration } from '../src/store/redis/key-declaration.ts';
import { KEY_DECLARATIONS_BY_ROOM } from '../src/store/redis/keyspace.ts';

export const PAGE = resolve(import.meta.dirname, '../docs/redis.md');
const MARKED = /<!-- keys: (\w+) -->\n[\s\S]*?<!-- end -->/g;
const HEAD = ['| key | type | TTL | size | value | owner |', '| --- | --- | --- | --- | --- | --- |'];

export function withTables(page: string): string {
  const tables: Record<string, Record<string, KeyDeclaration>> = KEY_DECLARATIONS_BY_ROOM;
  return page.replace(MARKED, (_, room: string) => {
    const declarations = tables[room];
    if (!declarations) throw new Error(`docs/redis.md: there is no room ${room} in src/store/redis/keyspace.ts`);
    const rows = [...HEAD, ...Object.values(declarations).map(row)];
    return `<!-- keys: ${room} -->\n${rows.join('\n')}\n<!-- end -->`;
  });
}

function row({ pattern, type, ttl, size, description, owner }: KeyDeclaration): string {
  return `| \`${pattern}\` | ${type} | ${ttl} | ${size} | ${description} | \`${owner}\` |`;
}

if (import.meta.main) writeFileSync(PAGE, withTables(readFileSync(PAGE, 'utf8')));
