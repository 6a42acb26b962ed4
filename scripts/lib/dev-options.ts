/** Options of scripts/dev, from the command line and the environment. */
import { parseArgs } from 'node:util';
import { isFree } from './ports.ts';
import { Problem } from './problem.ts';

const DEFAULT_PORT = 8288;

export const HELP = `scripts/dev [--archive] [--cluster] [--no-example]

Starts Tidegate for development: Redis, web, worker and an example app whose functions run on
events. Saving a file restarts the programs that use it. Ctrl-C stops everything.

  --archive      a Postgres of its own, with data in .data/: events and runs move there after 36 s
                 (HOT_HOURS=0.01), and stay for RETENTION_DAYS
  --cluster      a Redis Cluster instead of one Redis: three primaries with a replica each
  --no-example   do not start the example app
  --help         show this help

Environment:
  PORT                port of the service (default ${DEFAULT_PORT}; 0 selects any free port)
  REDIS_URL           Redis 7 or newer to use (default: starts its own, with data in .data/)
  REDIS_CLUSTER_URLS  nodes of a Redis Cluster to use
  DATABASE_URL        Postgres 14 or newer for the archive (default: none)
  LOG_LEVEL           and all other settings of the service: docs/settings.md`;

export interface DevOptions {
  help: boolean;
  example: boolean;
  cluster: boolean;
  archive: boolean;
}

const OPTIONS = {
  help: { type: 'boolean', default: false },
  archive: { type: 'boolean', default: false },
  cluster: { type: 'boolean', default: false },
  'no-example': { type: 'boolean', default: false },
} as const;

/** @throws Problem that names an unknown option */
export function readOptions(args: string[]): DevOptions {
  try {
    const { help, archive, cluster, 'no-example': noExample } = parseArgs({ args, options: OPTIONS }).values;
    return { help, example: !noExample, cluster, archive };
  } catch (error) {
    const [reason] = (error as Error).message.split('. ');
    throw new Problem(`${reason}\n\n${HELP}`);
  }
}

/** @throws Problem if PORT is invalid or in use */
export async function readPort(given: string | undefined): Promise<number> {
  const port = Number(given || DEFAULT_PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Problem(`PORT: got ${JSON.stringify(given)}; expected a number from 0 to 65535.`);
  }
  if (port !== 0 && !(await isFree(port))) {
    throw new Problem(`Port ${port} is in use. Choose another one, for example: PORT=${port + 10} scripts/dev`);
  }
  return port;
}
