/** What docs/redis.md says of a key; test/store/keyspace.test.ts holds it to the code. */
export interface KeyDeclaration {
  /** Without KEY_PREFIX. Placeholders are in the order of the function's parameters. */
  pattern: string;
  type: 'string' | 'hash' | 'list' | 'set' | 'zset' | 'stream' | 'channel';
  /** File in src/store that describes the value. */
  owner: string;
  ttl: string;
  /** What bounds it. */
  size: string;
  description: string;
}
