/** docs/redis.md: the text is written by hand; the tables, one per room, are generated between two markers each:
 *
 *      <!-- keys: runs -->
 *      …
 *      <!-- end -->
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { KeyDeclaration } from '../../src/store/keys/key-declaration.ts';
import { KEY_DECLARATIONS_BY_ROOM } from '../../src/store/redis/keyspace/keyspace.ts';

export const PAGE = resolve(import.meta.dirname, '../../docs/redis.md');
const MARKED = /<!-- keys: ([\w-]+) -->\n[\s\S]*?<!-- end -->/g;
const HEAD = ['| key | type, TTL | value |', '| --- | --- | --- |'];
/** Sizes that the value implies. */
const PLAIN_SIZE =
  /^1 (field|entry) per [^,;(]+$|^1 (JSON object|event|request|byte|encrypted value)$|^\d+ bytes$|^empty/;
const NO_SIZE = ['a number', 'a name', 'never stored', 'BullMQ', 'the limit'];

export function redisPage(): string {
  const tables: Record<string, Record<string, KeyDeclaration>> = KEY_DECLARATIONS_BY_ROOM;
  const page = readFileSync(PAGE, 'utf8');
  const absent = Object.keys(tables).filter((room) => !page.includes(`<!-- keys: ${room} -->`));
  if (absent.length > 0) throw new Error(`docs/redis.md has no table of: ${absent.join(', ')}`);
  return page.replace(MARKED, (_, room: string) => {
    const declarations = tables[room];
    if (!declarations)
      throw new Error(`docs/redis.md: there is no room ${room} in src/store/redis/keyspace/keyspace.ts`);
    const rows = [...HEAD, ...Object.values(declarations).map(row)];
    return `<!-- keys: ${room} -->\n${rows.join('\n')}\n<!-- end -->`;
  });
}

function row({ pattern, type, ttl, size, description }: KeyDeclaration): string {
  const bound = PLAIN_SIZE.test(size) || NO_SIZE.includes(size) ? '' : ` *${size}*`;
  const life = ttl === '–' || ttl === 'none' ? type : `${type}, ${ttl.replace(/^none; /, '')}`;
  return `| \`${pattern}\` | ${life} | ${description}${bound} |`;
}
