/** Maps key names of the source to those of the target. On a single Redis, the first partition and the installation share a prefix; on a
 *  cluster each has a hash tag. Further partitions have the same tags everywhere. */
import { type Keyspace, PARTITION_KEY_WORDS } from '../redis/keyspace/keyspace.ts';
import { fencedKeys } from './fence.ts';

/** Keys of running processes, and keys that the move itself writes. */
const LEFT_BEHIND = new Set([
  'lock',
  'process',
  'processes',
  'live-workers',
  'partition-layout',
  'disk-barrier',
  'absent',
]);

/** A key and its name on the target. */
export interface Rename {
  from: string;
  to: string;
}

export class KeyMap {
  readonly #source: Keyspace;
  readonly #target: Keyspace;
  readonly #partitionsByTag: ReadonlyMap<string, number>;
  /** Keys that fence.ts replaced on the source. */
  readonly #fences: ReadonlySet<string>;
  readonly #originals: ReadonlyMap<string, string>;

  /** @param source keyspace of a single Redis */
  constructor(source: Keyspace, target: Keyspace) {
    this.#source = source;
    this.#target = target;
    const tagged = source.all().slice(1);
    this.#partitionsByTag = new Map(tagged.map(({ prefix, number }) => [prefix, number]));
    const fenced = [...fencedKeys(source)];
    this.#fences = new Set(fenced.map(([key]) => key));
    this.#originals = new Map(fenced.map(([key, kept]) => [kept, key]));
  }

  /** @returns undefined for a key that is not moved */
  targetOf(key: string): string | undefined {
    if (this.#fences.has(key)) return undefined;
    return this.renamed(this.#originals.get(key) ?? key);
  }

  /** @returns undefined for a key that is not moved or not part of the installation */
  renamed(key: string): string | undefined {
    const [prefix, rest] = split(key);
    const word = wordOf(rest);
    if (LEFT_BEHIND.has(word)) return undefined;
    const number = this.#partitionsByTag.get(prefix);
    if (number !== undefined) return `${this.#target.partition(number).prefix}:${rest}`;
    if (prefix !== this.#source.prefix) return undefined;
    const { prefix: renamed } = PARTITION_KEY_WORDS.has(word) ? this.#target.partition(0) : this.#target;
    return `${renamed}:${rest}`;
  }

  /** Whether the key's value contains key names (runs/wait-location.ts). */
  namesKeys(key: string): boolean {
    const [, rest] = split(key);
    return rest.startsWith('run:') && rest.endsWith(':waits');
  }

  /** A field value of `waitsOfRun`, with key names mapped. */
  renamedLocation(json: string): string {
    const location = JSON.parse(json) as unknown[];
    return JSON.stringify(location.map((part) => (typeof part === 'string' && part && this.renamed(part)) || part));
  }
}

/** Kind of a key for reports: its first word. */
export function kindOf(key: string): string {
  return wordOf(split(key)[1]);
}

function wordOf(rest: string): string {
  const end = rest.indexOf(':');
  return end === -1 ? rest : rest.slice(0, end);
}

/** Hash tags may contain colons. */
function split(key: string): [prefix: string, rest: string] {
  const colon = key.indexOf(':', key.startsWith('{') ? key.indexOf('}') : 0);
  return [key.slice(0, colon), key.slice(colon + 1)];
}
