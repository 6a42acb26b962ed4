/** A process between a script and its Redis: stops Redis, which saves first, on SIGTERM or when the script has exited. It keeps any
 *  server that ends on SIGTERM.
 *  Arguments: the file of the program, its argv[0], its arguments. */
import { spawn } from 'node:child_process';

/** Time for Redis to save. Earlier writes are in its append-only file anyway. */
const SAVE_MS = 5_000;

const [file = '', argv0 = '', ...args] = process.argv.slice(2);
const redis = spawn(file, args, { argv0, stdio: ['ignore', 'inherit', 'inherit'] });
const end = () => {
  redis.kill('SIGTERM');
  // A hanging disk must not keep Redis running forever.
  setTimeout(() => redis.kill('SIGKILL'), SAVE_MS).unref();
};

process.on('SIGTERM', end);
process.on('disconnect', end);
redis.on('error', (error) => console.error(error.message));
redis.on('close', (code) => process.exit(code ?? 1));
