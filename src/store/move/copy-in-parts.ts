/** Copies a key of any type in parts: used for a large key, whose dump would block both servers and fill this process's memory, and for
 *  dumps that the target cannot read. Values are copied byte for byte. */

import { chunksOf } from '../../model/values/chunks.ts';
import { inPipelines, type Redis } from '../redis/connection/connection.ts';
import type { Rename } from './key-map.ts';

/** Members, fields or entries per command; each may have a megabyte. */
const AT_ONCE = 100;
const SCANNED_AT_ONCE = 100;

type Part = (string | Buffer)[];

export async function copyInParts(source: Redis, target: Redis, { from, to }: Rename): Promise<void> {
  const [type, ttl] = await Promise.all([source.type(from), source.pttl(from)]);
  await target.unlink(to);
  if (type === 'none' || ttl === -2) return;
  for await (const command of COPIES[type as keyof typeof COPIES](source, from)) {
    const [name, ...args] = command as [string, ...Part];
    await inPipelines(target, [[name, to, ...args]]);
  }
  if (ttl >= 0) await target.pexpire(to, Math.max(ttl, 1));
}

/** Commands, without their key. */
const COPIES = {
  async *string(source: Redis, key: string): AsyncGenerator<Part> {
    const value = await source.getBuffer(key);
    if (value) yield ['set', value];
  },

  async *hash(source: Redis, key: string): AsyncGenerator<Part> {
    for await (const part of scanned((cursor) => source.hscanBuffer(key, cursor, 'COUNT', SCANNED_AT_ONCE))) {
      yield ['hset', ...part];
    }
  },

  async *set(source: Redis, key: string): AsyncGenerator<Part> {
    for await (const part of scanned((cursor) => source.sscanBuffer(key, cursor, 'COUNT', SCANNED_AT_ONCE))) {
      yield ['sadd', ...part];
    }
  },

  async *zset(source: Redis, key: string): AsyncGenerator<Part> {
    for await (const part of scanned((cursor) => source.zscanBuffer(key, cursor, 'COUNT', SCANNED_AT_ONCE))) {
      // Commands take the score before the member; replies have the opposite order.
      yield ['zadd', ...part.map((_, i) => part[i % 2 === 0 ? i + 1 : i - 1] as Buffer)];
    }
  },

  async *list(source: Redis, key: string): AsyncGenerator<Part> {
    for (let start = 0; ; start += AT_ONCE) {
      const part = await source.lrangeBuffer(key, start, start + AT_ONCE - 1);
      if (part.length > 0) yield ['rpush', ...part];
      if (part.length < AT_ONCE) return;
    }
  },

  async *stream(source: Redis, key: string): AsyncGenerator<Part> {
    const empty = (await source.xlen(key)) === 0;
    for (let after = '-'; !empty; ) {
      const entries = await source.xrangeBuffer(key, after, '+', 'COUNT', AT_ONCE);
      for (const [id, fields] of entries) yield ['xadd', id, ...fields];
      if (entries.length < AT_ONCE) return;
      after = `(${(entries.at(-1) as [Buffer, Buffer[]])[0]}`;
    }
  },
};

async function* scanned(
  read: (cursor: string) => Promise<[cursor: Buffer, elements: Buffer[]]>,
): AsyncGenerator<Buffer[]> {
  let cursor = '0';
  do {
    const [next, elements] = await read(cursor);
    cursor = String(next);
    yield* chunksOf(elements, 2 * AT_ONCE);
  } while (cursor !== '0');
}
