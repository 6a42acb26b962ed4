/** What the keys of an installation are called where it moves to. On one Redis the first partition and the installation have the same prefix; on a
 *  cluster each has a hash tag. Further partitions have the same tags everywhere. */
import { type Keyspace, PARTITION_KEY_WORDS } from '../redis/keyspace.ts';
import { fencedKeys } from './fence.ts';

/** Keys of running processes, and what the move itself writes. */
const LEFT_BEHIND = new Set(['lock', 'process', 'processes', 'partition-layout', 'disk-barrier', 'absent']);

/** A key, and what it is called on the target. */
export interface Rename {
  from: string;
  to: string;
}

export class KeyMap {
  readonly #source: Keyspace;
  readonly #target: Keyspace;
  readonly #partitionsByTag: ReadonlyMap<string, number>;
  /** Keys that stand in for others on the source. */
  readonly #fences: ReadonlySet<string>;
  readonly #originals: ReadonlyMap<string, string>;

  /** @param source of one Redis */
  constructor(source: Keyspace, target: Keyspace) {
    this.#source = source;
    this.#target = target;
    const tagged = source.all().slice(1);
    this.#partitionsByTag = new Map(tagged.map(({ prefix, number }) => [prefix, number]));
    const fenced = [...fencedKeys(source)];
    this.#fences = new Set(fenced.map(([key]) => key));
    this.#originals = new Map(fenced.map(([key, kept]) => [kept, key]));
  }

  /** @returns undefined: it stays behind */
  targetOf(key: string): string | undefined {
    if (this.#fences.has(key)) return undefined;
    return this.renamed(this.#originals.get(key) ?? key);
  }

  /** @returns undefined: it stays behind, or is no key of the installation */
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

  /** Whether the value names keys (runs/wait-location.ts). */
  namesKeys(key: string): boolean {
    const [, rest] = split(key);
    return rest.startsWith('run:') && rest.endsWith(':waits');
  }

  /** The value of a field of `waitsOfRun` with the keys as the target calls them. */
  renamedLocation(json: string): string {
    const location = JSON.parse(json) as unknown[];
    return JSON.stringify(location.map((part) => (typeof part === 'string' && part && this.renamed(part)) || part));
  }
}

/** What it is, for reports: the first word. */
export function kindOf(key: string): string {
  return wordOf(split(key)[1]);
}

function wordOf(rest: string): string {
  const end = rest.indexOf(':');
  return end === -1 ? rest : rest.slice(0, end);
}

/** A hash tag may have colons. */
function split(key: string): [prefix: string, rest: string] {
  const colon = key.indexOf(':', key.startsWith('{') ? key.indexOf('}') : 0);
  return [key.slice(0, colon), key.slice(colon + 1)];
}
