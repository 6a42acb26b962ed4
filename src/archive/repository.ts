/** What keeps things of one kind in Postgres: the database, and what it depends on beside it. */
import type { Database } from './database.ts';

export abstract class Repository<Deps = void> {
  protected readonly database: Database;
  protected readonly deps: Deps;

  constructor(database: Database, deps: Deps) {
    this.database = database;
    this.deps = deps;
  }
}
