/** The Postgres that scripts/dev uses: one that the environment names, its own, or none. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findPostgres, type PostgresProgram } from './postgres-program.ts';
import { startPostgres } from './postgres-server.ts';
import { Problem } from './problem.ts';

/** 36 s: soon enough to see it happen. */
const HOT_HOURS = '0.01';

export interface PostgresInUse {
  /** For web and worker. */
  env: Record<string, string>;
  stop?(): Promise<void>;
}

/** Web and worker create the tables themselves.
 *  @param archive whether to start its own
 *  @throws Problem that says what is missing */
export async function devPostgres(
  root: string,
  archive: boolean,
  environment: Record<string, string | undefined>,
): Promise<PostgresInUse> {
  if (!archive) return { env: {} };
  if (environment.DATABASE_URL) throw new Problem('DATABASE_URL names a Postgres; unset it to use --archive.');
  const program = findPostgres();
  const postgres = await startPostgres(program, folderFor(program, root));
  return {
    env: { DATABASE_URL: postgres.url, HOT_HOURS: environment.HOT_HOURS ?? HOT_HOURS },
    stop: () => postgres.stop(),
  };
}

/** Postgres does not run as root, and another user may not reach a clone that belongs to root. */
function folderFor({ user }: PostgresProgram, root: string): string {
  const inClone = join(root, '.data', 'postgres');
  mkdirSync(inClone, { recursive: true });
  if (!user || spawnSync('test', ['-x', inClone], user).status === 0) return inClone;
  const name = createHash('sha256').update(root).digest('hex').slice(0, 12);
  const elsewhere = join('/var/tmp', `tidegate-dev-${name}`, 'postgres');
  mkdirSync(elsewhere, { recursive: true });
  return elsewhere;
}
