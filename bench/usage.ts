/** CPU time and memory of processes, from Linux's /proc. */
import { readFileSync } from 'node:fs';
import { listProcesses } from '../scripts/lib/processes.ts';

/** USER_HZ, which is 100 on every Linux. */
const TICKS_PER_SECOND = 100;

/** User and system time since the start of the process; 0 after its exit. */
export function cpuSeconds(pid: number): number {
  const [user, system] = times(pid);
  return user + system;
}

/** The same of a process with all of its descendants, also of those that have exited since it started. */
export function treeCpuSeconds(pid: number): number {
  const processes = listProcesses();
  const sum = (parent: number): number => {
    const children = processes.filter((process) => process.parent === parent);
    return times(parent).reduce((all, one) => all + one, 0) + children.reduce((all, child) => all + sum(child.pid), 0);
  };
  return sum(pid);
}

/** Seconds: user and system time, then those of its children that have exited. */
function times(pid: number): [number, number, number, number] {
  const stat = read(pid, 'stat');
  // Format: pid (program) state … The program's name may contain spaces. utime is field 14.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const seconds = (n: number) => Number(fields[n] ?? 0) / TICKS_PER_SECOND;
  return [seconds(11), seconds(12), seconds(13), seconds(14)];
}

/** 0 after the exit of the process. */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s*(\d+) kB/.exec(read(pid, 'status'))?.[1] ?? 0) * 1_024;
}

export function childrenOf(pid: number): number[] {
  return listProcesses()
    .filter(({ parent }) => parent === pid)
    .map((child) => child.pid);
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
