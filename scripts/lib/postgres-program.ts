/** Finds or installs the programs of a Postgres server. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from './problem.ts';
import { installPackage } from './system-package.ts';

const NEEDED_MAJOR = 14;
/** Where Debian has the programs of each version. */
const DEBIAN = '/usr/lib/postgresql';
/** Without a cluster of its own, Debian's package starts no server, now or at boot. */
export const NO_SYSTEM_SERVER = {
  file: '/etc/postgresql-common/createcluster.d/tidegate.conf',
  text: 'create_main_cluster = false',
};
const PACKAGE = { name: 'Postgres', debian: 'postgresql', brew: ['postgresql@17'], debianConfig: NO_SYSTEM_SERVER };

export interface PostgresProgram {
  /** Folder of `initdb` and `postgres`. */
  bin: string;
  major: number;
  /** Postgres refuses to run as root; undefined: as whoever runs this. */
  user: { uid: number; gid: number } | undefined;
}

/** @throws Problem if Postgres is missing and cannot be installed, or is too old */
export function findPostgres(): PostgresProgram {
  const found = present() ?? (installPackage(PACKAGE) ? present() : undefined);
  if (!found || found.major < NEEDED_MAJOR) {
    throw new Problem(
      `Needs Postgres ${NEEDED_MAJOR} or newer; ${found ? `found ${found.major}` : 'found none, and could not install it'}.\n` +
        'Install it so that initdb is on the PATH, for example with: apt-get install postgresql',
    );
  }
  return { ...found, user: process.getuid?.() === 0 ? unprivilegedUser() : undefined };
}

function present(): { bin: string; major: number } | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [...versions.map((version) => join(DEBIAN, version, 'bin')), ...(process.env.PATH ?? '').split(':')];
  for (const bin of folders) {
    if (!existsSync(join(bin, 'initdb'))) continue;
    const { stdout } = spawnSync(join(bin, 'initdb'), ['--version'], { encoding: 'utf8' });
    const major = Number(/(\d+)(?:\.\d+)?/.exec(stdout ?? '')?.[1]);
    if (major > 0 && existsSync(join(bin, 'postgres'))) return { bin, major };
  }
  return undefined;
}

/** Debian's package makes the first one. */
function unprivilegedUser(): { uid: number; gid: number } {
  for (const name of ['postgres', 'nobody']) {
    const id = (flag: string) =>
      Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout.trim() || Number.NaN);
    const [uid, gid] = [id('-u'), id('-g')];
    if (uid > 0 && gid > 0) return { uid, gid };
  }
  throw new Problem('Postgres does not run as root, and there is neither a user postgres nor nobody');
}
