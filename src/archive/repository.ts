/** Base of classes that store one kind of data in Postgres: the database and further dependencies. */
import type { Database } from './database.ts';

export abstract class Repository<Deps = void> {
  protected readonly database: Database;
  protected readonly deps: Deps;

  constructor(database: Database, deps: Deps) {
    this.database = database;
    this.deps = deps;
  }
}
