/** Finds or installs a recent redis-server. */
import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';
import { Problem } from './problem.ts';
import { installPackage } from './system-package.ts';

const NEEDED_MAJOR = 7;

export interface RedisProgram {
  file: string;
  /** The program name to pass: Debian's single binary acts as a server only under the server's name. */
  argv0: string;
}

const SERVER: RedisProgram = { file: 'redis-server', argv0: 'redis-server' };
/** Debian's package redis-tools has the server's binary under this name. The package redis-server would also start a
 *  system service. */
const SERVER_OF_REDIS_TOOLS: RedisProgram = { file: 'redis-check-rdb', argv0: 'redis-server' };
const PACKAGE = { name: 'Redis', debian: 'redis-tools', brew: ['redis'] };

/** @param chosen a redis-server or valkey-server, to use another than the installed one
 *  @throws Problem if Redis is missing and cannot be installed, or is too old */
export function findRedis(chosen: string | undefined = process.env.REDIS_SERVER): RedisProgram {
  if (chosen) return program(chosen);
  const found = present() ?? (installPackage(PACKAGE) ? present() : undefined);
  if (!found || !isNewEnough(found.version)) throw new Problem(howToGetRedis(found?.version));
  return found;
}

function program(file: string): RedisProgram {
  const found = { file, argv0: basename(file) };
  const version = versionOf(found);
  if (!version)
    throw new Problem(`REDIS_SERVER: got ${JSON.stringify(file)}; expected a redis-server or valkey-server.`);
  if (!isNewEnough(version)) throw new Problem(howToGetRedis(version));
  return found;
}

export function howToGetRedis(found: string | undefined): string {
  return `Tidegate needs Redis ${NEEDED_MAJOR} or newer; ${found ? `found ${found}` : 'found none, and could not install it'}.
Put a newer redis-server on the PATH, or run Redis in Docker and set REDIS_URL:
  docker run -d -p 6379:6379 redis:7 redis-server --appendonly yes --maxmemory-policy noeviction
  REDIS_URL=redis://127.0.0.1:6379 scripts/dev`;
}

export function isNewEnough(version: string): boolean {
  return Number.parseInt(version, 10) >= NEEDED_MAJOR;
}

function present(): (RedisProgram & { version: string }) | undefined {
  for (const program of [SERVER, SERVER_OF_REDIS_TOOLS]) {
    const version = versionOf(program);
    if (version) return { ...program, version };
  }
  return undefined;
}

function versionOf({ file, argv0 }: RedisProgram): string | undefined {
  const { stdout } = spawnSync(file, ['--version'], { argv0, encoding: 'utf8' });
  return /\b(?:Redis|Valkey) server v=([\d.]+)/.exec(stdout ?? '')?.[1];
}
