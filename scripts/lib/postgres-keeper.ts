/** A process between a script and its Postgres: stops Postgres on SIGTERM or when the script has exited.
 *  Argument: JSON of the program's file, its arguments, and the user that it runs as. */
import { spawn } from 'node:child_process';

/** Time for a checkpoint. What is committed is in the write-ahead log anyway. */
const STOP_MS = 10_000;

const { file, args, user } = JSON.parse(process.argv[2] ?? '{}') as {
  file: string;
  args: string[];
  user?: { uid: number; gid: number };
};
const postgres = spawn(file, args, { ...user, cwd: '/', stdio: ['ignore', 'inherit', 'inherit'] });
const end = () => {
  // "Fast": ends the sessions.
  postgres.kill('SIGINT');
  setTimeout(() => postgres.kill('SIGQUIT'), STOP_MS).unref();
};

process.send?.({ pid: postgres.pid });
process.on('SIGTERM', end);
process.on('disconnect', end);
postgres.on('error', (error) => console.error(error.message));
postgres.on('close', (code) => process.exit(code ?? 1));
