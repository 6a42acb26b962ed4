/** Base of classes that store one kind of data in Redis: a connection, the keys of the installation, and further dependencies. */
import type { Redis, ScriptedRedis } from './connection/connection.ts';
import type { Keyspace } from './keyspace/keyspace.ts';

export abstract class Repository<Connection extends Redis = ScriptedRedis, Deps = void> {
  protected readonly redis: Connection;
  protected readonly keys: Keyspace;
  protected readonly deps: Deps;

  constructor(redis: Connection, keys: Keyspace, deps: Deps) {
    this.redis = redis;
    this.keys = keys;
    this.deps = deps;
  }
}
