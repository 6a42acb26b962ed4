/** Child processes of this run, and signals to them. */
import { spawnSync } from 'node:child_process';

interface ChildProcessInfo {
  pid: number;
  /** Its program and arguments. */
  command: string;
}

export function childrenOf(parent: number): ChildProcessInfo[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, of, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(of) === parent && command !== undefined ? [{ pid: Number(pid), command }] : [];
  });
}

/** A process that has exited gets none. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
