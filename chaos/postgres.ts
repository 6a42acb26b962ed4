/** The Postgres that faults hit: on every start with the same port and data. It syncs every commit, so SIGKILL must lose nothing. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort, LOOPBACK } from '../scripts/lib/ports.ts';
import { findPostgres } from '../scripts/lib/postgres-program.ts';
import { type OwnPostgres, startPostgres } from '../scripts/lib/postgres-server.ts';
import { childrenOf, signal } from './processes.ts';

const SCHEMA = 'tidegate';

export class PostgresServer {
  readonly url: string;
  readonly #port: number;
  // Its own: that of Redis may be a small disk.
  readonly #dir = mkdtempSync(join(tmpdir(), 'tidegate-chaos-postgres-'));
  readonly #program = findPostgres();
  #server: OwnPostgres | undefined;

  private constructor(port: number) {
    this.#port = port;
    this.url = `postgres://tidegate@${LOOPBACK}:${port}/postgres`;
  }

  static async start(): Promise<PostgresServer> {
    const server = new PostgresServer(await freePort());
    await server.start();
    return server;
  }

  /** Resolves when it accepts connections. */
  async start(): Promise<void> {
    this.#server ??= await startPostgres(this.#program, this.#dir, { port: this.#port });
  }

  /** Ends the sessions and exits. */
  async stop(): Promise<void> {
    await this.#server?.stop();
    this.#server = undefined;
  }

  /** Kills all of its processes, as a power failure does. */
  async kill(): Promise<void> {
    this.#signal('SIGKILL');
    await this.stop();
  }

  /** It keeps its connections, accepts new ones, and says nothing. */
  pause(): void {
    this.#signal('SIGSTOP');
  }

  resume(): void {
    this.#signal('SIGCONT');
  }

  /** A client that finds the tables of the service. Its user ends it. */
  async connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url, options: `-c search_path=${SCHEMA}` });
    client.on('error', () => {});
    await client.connect();
    return client;
  }

  async close(): Promise<void> {
    this.resume();
    await this.stop();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  #signal(name: NodeJS.Signals): void {
    const first = this.#server?.pid();
    if (first === undefined) return;
    // Stopped, it neither starts others nor makes good for those that end.
    signal(first, name === 'SIGKILL' ? 'SIGSTOP' : name);
    for (const { pid } of childrenOf(first)) signal(pid, name);
    signal(first, name);
  }
}
