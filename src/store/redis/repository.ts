/** What keeps things of one kind in Redis: a connection, and the keys of the installation. */
import type { Redis } from './connection.ts';
import type { Keyspace } from './keyspace.ts';
import type { ScriptedRedis } from './scripts.ts';

export abstract class Repository<Connection extends Redis = ScriptedRedis> {
  protected readonly redis: Connection;
  protected readonly keys: Keyspace;

  constructor(redis: Connection, keys: Keyspace) {
    this.redis = redis;
    this.keys = keys;
  }
}
