/** Documentation of a key in docs/redis.md; test/store/keyspace.test.ts compares it with the code. */
export interface KeyDeclaration {
  /** Without KEY_PREFIX. Placeholders are in the order of the function's parameters. */
  pattern: string;
  type: 'string' | 'hash' | 'list' | 'set' | 'zset' | 'stream' | 'channel';
  /** File in src/store that describes the value. */
  owner: string;
  ttl: string;
  /** What limits the size. */
  size: string;
  description: string;
}
