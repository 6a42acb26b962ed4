/** What scripts/dev is told, on the command line and by the environment. */
import { parseArgs } from 'node:util';
import { isFree } from './ports.ts';
import { Problem } from './problem.ts';

const DEFAULT_PORT = 8288;

export const HELP = `scripts/dev [--no-example]

Runs Tidegate on this machine for development: Redis, web, worker and an example app whose
functions run on events. What changed is started anew when a file is saved. Ctrl-C ends it all.

  --no-example   without the example app
  --help         this text

Environment:
  PORT        where the service listens; default ${DEFAULT_PORT}. 0: any free port
  REDIS_URL   a Redis >= 7 to use; default: one of its own, with its data under .data/
  LOG_LEVEL   and the service's other settings: see .env.example`;

export interface DevOptions {
  help: boolean;
  example: boolean;
}

/** @throws Problem naming the option that is not known */
export function readOptions(args: string[]): DevOptions {
  try {
    const { values } = parseArgs({ args, options: { help: { type: 'boolean' }, 'no-example': { type: 'boolean' } } });
    return { help: values.help ?? false, example: !values['no-example'] };
  } catch (error) {
    const [reason] = (error as Error).message.split('. ');
    throw new Problem(`${reason}\n\n${HELP}`);
  }
}

/** @throws Problem when PORT is no port, or taken */
export async function readPort(given: string | undefined): Promise<number> {
  const port = Number(given || DEFAULT_PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Problem(`PORT: got ${JSON.stringify(given)}; it takes a number from 0 to 65535.`);
  }
  if (port !== 0 && !(await isFree(port))) {
    throw new Problem(`Port ${port} is taken. Say where else to listen, for example: PORT=${port + 10} scripts/dev`);
  }
  return port;
}
