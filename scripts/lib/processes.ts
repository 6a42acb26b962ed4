/** Lists the visible processes of this machine. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface Process {
  pid: number;
  parent: number;
  group: number;
  command: string;
}

/** All running processes, without zombies. */
export function listProcesses(): Process[] {
  // Small Linux images have no ps; other systems have no /proc.
  return existsSync('/proc/self/stat') ? fromProc() : fromPs();
}

/** Running children of this process. Reads only these where Linux lists them. */
export function listChildren(): Process[] {
  const threads = '/proc/self/task';
  // A kernel may be built without this list.
  if (!existsSync(`${threads}/${process.pid}/children`)) {
    return listProcesses().filter(({ parent }) => parent === process.pid);
  }
  const ids = readdirSync(threads).flatMap((thread) => read(`self/task/${thread}`, 'children').split(' '));
  return ids.filter(Boolean).flatMap((id) => processOf(Number(id)));
}

/** Processes that started with the variable set to the value. Works on Linux only. */
export function withVariable(name: string, value: string): Process[] {
  const entry = `${name}=${value}`;
  return listProcesses().filter(({ pid }) => read(pid, 'environ').split('\0').includes(entry));
}

function fromProc(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((id) => processOf(Number(id)));
}

/** @returns empty: it has ended */
function processOf(pid: number): Process[] {
  // pid (program) state parent group …: the program's name may itself hold spaces and parentheses.
  const stat = read(pid, 'stat');
  const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (!parent || !group || state === 'Z') return [];
  const command = read(pid, 'cmdline').split('\0').join(' ').trim() || stat;
  return [{ pid, parent: Number(parent), group: Number(group), command }];
}

function read(folder: number | string, file: string): string {
  try {
    return readFileSync(`/proc/${folder}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function fromPs(): Process[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,args='], { encoding: 'utf8' });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, group, state, command = ''] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (!pid || state?.startsWith('Z')) return [];
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), command }];
  });
}
