/** Finds a redis-server that is new enough, or installs one. */
import { spawnSync } from 'node:child_process';
import { Problem } from './problem.ts';

const NEEDED_MAJOR = 7;

export interface RedisProgram {
  file: string;
  /** What the program is told its name is: Debian's one binary is a server only under the server's name. */
  argv0: string;
}

const SERVER: RedisProgram = { file: 'redis-server', argv0: 'redis-server' };
/** Debian's package redis-tools has the server's binary under this name, without the system service that the package
 *  redis-server brings, and starts, with it. */
const SERVER_OF_REDIS_TOOLS: RedisProgram = { file: 'redis-check-rdb', argv0: 'redis-server' };

/** @throws Problem when there is none and none can be installed, or it is too old */
export function findRedis(): RedisProgram {
  const found = present() ?? (install() ? present() : undefined);
  if (!found || !isNewEnough(found.version)) throw new Problem(howToGetRedis(found?.version));
  return found;
}

export function howToGetRedis(found: string | undefined): string {
  return `Redis ${NEEDED_MAJOR} or newer is needed; ${found ? `here is ${found}` : 'here is none, and it could not be installed'}.
Put a newer redis-server on the PATH, or run it with Docker and say where it is:
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
  return /\bRedis server v=([\d.]+)/.exec(stdout ?? '')?.[1];
}

function install(): boolean {
  if (runs('apt-get', ['--version'])) {
    const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
    if (asRoot.length > 0 && !runs('sudo', ['-n', 'true'])) return false;
    const apt = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get'];
    return told([...apt, 'update']) && told([...apt, 'install', '-y', '--no-install-recommends', 'redis-tools']);
  }
  return runs('brew', ['--version']) && told(['brew', 'install', 'redis']);
}

function runs(file: string, args: string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0;
}

/** Runs a command that changes the machine, and says so first. Its output goes to stderr, as all that is not a result. */
function told([file = '', ...args]: string[]): boolean {
  console.error(`Installing Redis: ${file} ${args.join(' ')}`);
  return spawnSync(file, args, { stdio: ['ignore', 2, 2] }).status === 0;
}
