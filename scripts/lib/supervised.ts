/** A program of ours that a script keeps running: started, ended in order, started anew. When the script is gone,
 *  however it went, the program sees its IPC channel close and ends too. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type Print, printLines } from './log-lines.ts';

/** How long a program may take to end after SIGTERM. */
const GRACE_MS = 5_000;

export interface Program {
  entry: string;
  env: NodeJS.ProcessEnv;
  execArgv?: string[];
  print: Print;
  /** Called each time the program says, over IPC, that it is ready. */
  onReady?: () => void;
}

export interface Supervised {
  start(): void;
  /** Calls while one restart is under way make one more. */
  restart(): Promise<void>;
  stop(): Promise<void>;
  kill(): void;
}

export function supervise({ entry, env, execArgv = [], print, onReady }: Program): Supervised {
  let child: ChildProcess | undefined;
  let restarting: Promise<void> | undefined;
  let again = false;

  function start(): void {
    const started = fork(entry, {
      env,
      execArgv,
      // A session of its own: Ctrl-C at the terminal reaches the script alone, and the order of ending is the script's.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    child = started;
    if (started.stdout) printLines(started.stdout, print);
    if (started.stderr) printLines(started.stderr, print);
    started.on('message', (message: { ready?: boolean }) => message.ready && onReady?.());
    started.on('exit', (code, signal) => {
      if (child !== started) return;
      child = undefined;
      print(`ended unexpectedly (${signal ?? `exit code ${code}`}); it starts again when a file changes`);
    });
  }

  async function stop(): Promise<void> {
    const ending = child;
    child = undefined;
    if (!ending?.pid) return;
    const straggler = setTimeout(() => {
      print(`did not end within ${GRACE_MS / 1_000} seconds and is killed`);
      killGroup(ending);
    }, GRACE_MS);
    const exited = once(ending, 'exit');
    ending.kill('SIGTERM');
    await exited;
    clearTimeout(straggler);
  }

  async function restart(): Promise<void> {
    again = true;
    restarting ??= (async () => {
      while (again) {
        again = false;
        await stop();
        start();
      }
      restarting = undefined;
    })();
    await restarting;
  }

  return { start, stop, restart, kill: () => child && killGroup(child) };
}

/** The program and what it started: it leads a process group. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
