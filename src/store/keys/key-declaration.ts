/** One declaration makes a key: its name in code and scripts, and its row in docs/redis.md. */

type Type = 'string' | 'hash' | 'list' | 'set' | 'zset' | 'stream' | 'channel';

interface About {
  /** File in src/store that describes the value. */
  owner: string;
  ttl: string;
  /** The bound on the key's size. */
  size: string;
}

export interface KeyDeclaration<Pattern extends string = string> extends About {
  /** The key without KEY_PREFIX. */
  pattern: Pattern;
  type: Type;
  description: string;
}

function declare<Of extends Type>(type: Of) {
  return <Pattern extends string, More extends About>(pattern: Pattern, description: string, more: More) => ({
    pattern,
    type,
    description,
    ...more,
  });
}

export const string = declare('string');
export const hash = declare('hash');
export const list = declare('list');
export const set = declare('set');
export const zset = declare('zset');
export const stream = declare('stream');
export const channel = declare('channel');

type Placeholders<Pattern extends string> = Pattern extends `${string}<${string}>${infer Rest}`
  ? [id: string | number, ...Placeholders<Rest>]
  : [];
type Key<Pattern extends string> = string extends Pattern
  ? never
  : Placeholders<Pattern> extends []
    ? string
    : (...ids: Placeholders<Pattern>) => string;

/** The name of each key; where its pattern has placeholders, a function of them in their order. */
export type KeysOf<Declarations> = {
  readonly [Name in keyof Declarations]: Declarations[Name] extends KeyDeclaration<infer Pattern>
    ? Key<Pattern>
    : never;
};

export function keysOf<Declarations extends Record<string, KeyDeclaration>>(
  prefix: string,
  declarations: Declarations,
): KeysOf<Declarations> {
  const keys = Object.entries(declarations).map(([name, { pattern }]) => [name, keyOf(prefix, pattern)]);
  return Object.fromEntries(keys) as KeysOf<Declarations>;
}

/** Names are made for each command, so there is no loop over their texts. */
function keyOf(prefix: string, pattern: string): unknown {
  const [first, ...texts] = pattern.split(/<[^<>]+>/);
  const [b, c, d, e] = texts;
  const a = `${prefix}:${first}`;
  const byPlaceholders = [
    a,
    (w: string) => `${a}${w}${b}`,
    (w: string, x: string) => `${a}${w}${b}${x}${c}`,
    (w: string, x: string, y: string) => `${a}${w}${b}${x}${c}${y}${d}`,
    (w: string, x: string, y: string, z: string) => `${a}${w}${b}${x}${c}${y}${d}${z}${e}`,
  ];
  if (texts.length >= byPlaceholders.length) throw new Error(`${pattern} has too many placeholders`);
  return byPlaceholders[texts.length];
}
