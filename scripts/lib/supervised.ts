/** Runs a program for a script: starts, stops and restarts it. When the script exits for any reason, the IPC channel of the
 *  program closes, and the program exits too. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type Print, printLines } from './log-lines.ts';

/** Time for a program to exit after SIGTERM. */
const GRACE_MS = 5_000;

export interface Program {
  entry: string;
  env: NodeJS.ProcessEnv;
  execArgv?: string[];
  print: Print;
  /** Called each time the program reports over IPC that it is ready. */
  onReady?: () => void;
}

export interface Supervised {
  start(): void;
  /** Calls during a restart cause one more. */
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
      // Its own session: Ctrl-C in the terminal reaches only the script, which stops programs in order.
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
      print(`exited unexpectedly (${signal ?? `exit code ${code}`}); save a file to restart it`);
    });
  }

  async function stop(): Promise<void> {
    const ending = child;
    child = undefined;
    if (!ending?.pid) return;
    const straggler = setTimeout(() => {
      print(`did not exit within ${GRACE_MS / 1_000} s; killing it`);
      killGroup(ending);
    }, GRACE_MS);
    // Unlike `exit`, it comes after the last lines.
    const closed = once(ending, 'close');
    ending.kill('SIGTERM');
    await closed;
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

/** Kills the program and its children: it leads a process group. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
