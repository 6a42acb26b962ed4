/** A process between a script and its Redis: stops Redis, which saves first, on SIGTERM or when the script has exited. It keeps any
 *  server that ends on SIGTERM.
 *  Arguments: the file of the program, its argv[0], its arguments. */
import { spawn } from 'node:child_process';

/** Time for Redis to save. Earlier writes are in its append-only file anyway. */
const SAVE_MS = 5_000;

const [file = '', argv0 = '', ...args] = process.argv.slice(2);
// Before Redis starts: whoever finds it running may stop it at once.
process.on('SIGTERM', end);
process.on('disconnect', end);
const redis = spawn(file, args, { argv0, stdio: ['ignore', 'inherit', 'inherit'] });
redis.on('error', (error) => console.error(error.message));
redis.on('close', (code) => process.exit(code ?? 1));

function end(): void {
  redis.kill('SIGTERM');
  // A hanging disk must not keep Redis running forever.
  setTimeout(() => redis.kill('SIGKILL'), SAVE_MS).unref();
}
