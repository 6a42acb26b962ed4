/** Compares an installation with its copy: every key by type, number of elements and whether it has a TTL, and a sample of keys by
 *  content. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Composed } from '../../model/values/composed.ts';
import { addTo } from '../../model/values/counting.ts';
import { type Command, inPipelines, type Redis } from '../redis/connection/connection.ts';
import { type KeyMap, kindOf, type Rename } from './key-map.ts';

/** Approximate number of keys compared by content. */
const SAMPLE = 20_000;
/** Keys with more elements are not compared by content. */
const SAMPLE_MAX_ELEMENTS = 5_000;

const SOON_MS = 10_000;

const LENGTHS: Record<string, string> = {
  string: 'strlen',
  hash: 'hlen',
  list: 'llen',
  set: 'scard',
  zset: 'zcard',
  stream: 'xlen',
};

const CONTENTS: Record<string, string[]> = {
  string: ['get'],
  hash: ['hgetall'],
  list: ['lrange', '0', '-1'],
  set: ['smembers'],
  zset: ['zrange', '0', '-1', 'WITHSCORES'],
  stream: ['xrange', '-', '+'],
};

interface ComparisonDeps {
  source: Redis;
  target: Redis;
  map: KeyMap;
  /** Approximate number of keys. */
  total: number;
}

export class Comparison extends Composed<ComparisonDeps> {
  /** Number of equal keys, by kind. */
  readonly same = new Map<string, number>();
  /** Number of keys compared by content. */
  sampled = 0;
  readonly #every = Math.max(1, Math.floor(this.deps.total / SAMPLE));

  /** @returns the keys that differ */
  async differing(found: readonly string[]): Promise<string[]> {
    const renames = found.flatMap((from) => {
      const to = this.deps.map.targetOf(from);
      return to === undefined ? [] : [{ from, to }];
    });
    const [wanted, present] = await Promise.all([
      shapesOf(
        this.deps.source,
        renames.map(({ from }) => from),
      ),
      shapesOf(
        this.deps.target,
        renames.map(({ to }) => to),
      ),
    ]);
    const differing: string[] = [];
    const alike: (Rename & Shape)[] = [];
    for (const [i, rename] of renames.entries()) {
      const [source, target] = [wanted[i] as Shape, present[i] as Shape];
      if (source.type === 'none' || (target.type === 'none' && expiresSoon(source))) continue;
      if (isSameShape(source, target)) alike.push({ ...rename, ...source });
      else differing.push(rename.from);
    }
    const sample = alike.filter(({ from, length }) => {
      return length <= SAMPLE_MAX_ELEMENTS && crc32(from) % this.#every === 0;
    });
    const others = new Set(await this.#differingContents(sample));
    differing.push(...others);
    for (const { from } of alike) {
      if (others.has(from)) continue;
      const kind = kindOf(from);
      addTo(this.same, kind);
    }
    return differing;
  }

  async #differingContents(sample: readonly (Rename & Shape)[]): Promise<string[]> {
    const differing: string[] = [];
    for (const copied of sample) {
      const [source, target] = await Promise.all([
        contentOf(this.deps.source, copied.from, copied.type),
        contentOf(this.deps.target, copied.to, copied.type),
      ]);
      this.sampled++;
      const wanted = this.deps.map.namesKeys(copied.from) ? source.map((text) => this.#rewritten(text)) : source;
      const hasExpired = expiresSoon(copied) && (source.length === 0 || target.length === 0);
      if (!hasExpired && digest(copied.type, wanted) !== digest(copied.type, target)) differing.push(copied.from);
    }
    return differing;
  }

  #rewritten(value: Buffer): Buffer {
    const text = value.toString();
    return text.startsWith('[') ? Buffer.from(this.deps.map.renamedLocation(text)) : value;
  }
}

interface Shape {
  type: string;
  length: number;
  /** PTTL reply; negative: no TTL. */
  ttlMs: number;
}

function isSameShape(a: Shape, b: Shape): boolean {
  return a.type === b.type && a.length === b.length && a.ttlMs >= 0 === b.ttlMs >= 0;
}

/** True for keys whose copy may expire first. */
function expiresSoon({ ttlMs }: Shape): boolean {
  return ttlMs >= 0 && ttlMs < SOON_MS;
}

async function shapesOf(redis: Redis, keys: readonly string[]): Promise<Shape[]> {
  const both = await inPipelines<string | number>(
    redis,
    keys.flatMap((key): Command[] => [
      ['type', key],
      ['pttl', key],
    ]),
  );
  const types = keys.map((_, i) => both[2 * i] as string);
  const lengths = await inPipelines<number>(
    redis,
    keys.map((key, i) => [LENGTHS[types[i] as string] ?? 'exists', key]),
  );
  return keys.map((_, i) => ({
    type: types[i] as string,
    length: lengths[i] as number,
    ttlMs: both[2 * i + 1] as number,
  }));
}

/** All elements, as a flat list. */
async function contentOf(redis: Redis, key: string, type: string): Promise<Buffer[]> {
  const [command = 'get', ...args] = CONTENTS[type] ?? [];
  const content: unknown = await redis.callBuffer(command, key, ...args);
  const flat = isHash(content)
    ? Object.entries(content).flatMap(([field, value]) => [Buffer.from(field), value])
    : content;
  return [flat].flat(4).filter((part): part is Buffer => Buffer.isBuffer(part));
}

/** The client returns hashes as objects. */
function isHash(content: unknown): content is Record<string, Buffer> {
  return typeof content === 'object' && content !== null && !Array.isArray(content) && !Buffer.isBuffer(content);
}

/** Sorts the elements of sets and hashes, which have no order. */
function digest(type: string, content: readonly Buffer[]): string {
  const texts = content.map((part) => part.toString('base64'));
  const ordered = type === 'hash' ? pairs(content) : type === 'set' ? texts.sort() : texts;
  return createHash('sha256').update(JSON.stringify(ordered)).digest('hex');
}

function pairs(content: readonly Buffer[]): string[] {
  const found: string[] = [];
  for (let i = 0; i < content.length; i += 2) {
    found.push(`${content[i]?.toString('base64')} ${content[i + 1]?.toString('base64')}`);
  }
  return found.sort();
}
