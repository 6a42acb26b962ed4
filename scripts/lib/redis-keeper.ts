/** Supervises the Redis of a script: terminates it, with a final save, on SIGTERM or when the script exits.
 *  Arguments: path of the program, argv[0], arguments. */
import { spawn } from 'node:child_process';

/** Time for the final save. The append-only file has all writes anyway. */
const SAVE_MS = 5_000;

const [file = '', argv0 = '', ...args] = process.argv.slice(2);
const redis = spawn(file, args, { argv0, stdio: ['ignore', 'inherit', 'inherit'] });
const end = () => {
  redis.kill('SIGTERM');
  // With a hanging disk, the save may never end.
  setTimeout(() => redis.kill('SIGKILL'), SAVE_MS).unref();
};

process.on('SIGTERM', end);
process.on('disconnect', end);
redis.on('error', (error) => console.error(error.message));
redis.on('close', (code) => process.exit(code ?? 1));
