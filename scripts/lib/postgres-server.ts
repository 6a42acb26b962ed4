/** Starts a Postgres for a script, on a free loopback port, with a folder of its own. */
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { freePort, LOOPBACK } from './ports.ts';
import type { PostgresProgram } from './postgres-program.ts';
import { Problem } from './problem.ts';

const KEEPER = join(import.meta.dirname, `postgres-keeper${extname(import.meta.filename)}`);
const USER = 'tidegate';
const LAST_LINES = 8;
const PROBE_MS = 50;

export interface OwnPostgres {
  url: string;
  port: number;
  /** The server's own process ID. */
  pid(): number | undefined;
  /** Rolls back what is in progress, and exits. */
  stop(): Promise<void>;
}

export interface PostgresOptions {
  port?: number;
  /** Survives neither a crash of the machine nor of Postgres: for tests of something else. */
  unsafe?: boolean;
  settings?: Record<string, string>;
}

/** @param dir for the data; a new cluster is made in it if there is none
 *  @throws Problem with Postgres's own message if it does not start */
export async function startPostgres(
  { bin, user }: PostgresProgram,
  dir: string,
  { port: wanted, unsafe = false, settings = {} }: PostgresOptions = {},
): Promise<OwnPostgres> {
  const data = join(dir, 'data');
  if (user) chownSync(dir, user.uid, user.gid);
  if (!existsSync(join(data, 'PG_VERSION'))) initialize(bin, data, user);
  const port = wanted ?? (await freePort());
  const given = {
    port: String(port),
    listen_addresses: LOOPBACK,
    unix_socket_directories: '',
    max_connections: '200',
    log_min_messages: 'warning',
    ...(unsafe && { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' }),
    ...settings,
  };
  const options = Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const keeper = fork(KEEPER, [JSON.stringify({ file: join(bin, 'postgres'), args: ['-D', data, ...options], user })], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const ended = outputUntilEnd(keeper);
  let pid: number | undefined;
  keeper.on('message', (message: { pid: number }) => {
    pid = message.pid;
  });
  const url = `postgres://${USER}@${LOOPBACK}:${port}/postgres`;
  const early = await Promise.race([answers(url).then(() => undefined), ended]);
  if (early !== undefined) throw new Problem(`Postgres did not start in ${data}:\n${early}`);
  return {
    url,
    port,
    pid: () => pid,
    async stop() {
      keeper.kill('SIGTERM');
      await ended;
    },
  };
}

function initialize(bin: string, data: string, user: PostgresProgram['user']): void {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  if (user) chownSync(data, user.uid, user.gid);
  const args = ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  const { status, stderr } = spawnSync(join(bin, 'initdb'), args, { ...user, cwd: data, encoding: 'utf8' });
  if (status !== 0) throw new Problem(`initdb failed in ${data}:\n${stderr}`);
}

/** Resolves when it accepts connections. */
async function answers(url: string): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await setTimeout(PROBE_MS);
    }
  }
}

async function outputUntilEnd(child: ChildProcess): Promise<string> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-10_000);
    });
  }
  await once(child, 'close');
  return output.trim().split('\n').slice(-LAST_LINES).join('\n');
}
