/** A process between a script and its Redis: ends Redis, which saves first, when the script says so or is gone.
 *  Arguments: the program's file, the name it is told, its own arguments. */
import { spawn } from 'node:child_process';

/** How long Redis may take to save. What it was given before is in its append-only file anyhow. */
const SAVE_MS = 5_000;

const [file = '', argv0 = '', ...args] = process.argv.slice(2);
const redis = spawn(file, args, { argv0, stdio: ['ignore', 'inherit', 'inherit'] });
const end = () => {
  redis.kill('SIGTERM');
  // A disk that hangs must not keep it for ever, with nobody left to end it.
  setTimeout(() => redis.kill('SIGKILL'), SAVE_MS).unref();
};

process.on('SIGTERM', end);
process.on('disconnect', end);
redis.on('error', (error) => console.error(error.message));
redis.on('close', (code) => process.exit(code ?? 1));
