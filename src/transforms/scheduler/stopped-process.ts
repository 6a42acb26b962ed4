import { readFileSync } from 'node:fs';

/** `T` and `t` in proc(5): stopped by a signal, or by a debugger. */
const STOPPED = /^\d+ \(.*\) [Tt] /s;

/** Whether something outside has stopped the process (SIGSTOP). Code in an isolate cannot. Always false where there is no /proc. */
export function isStopped(pid: number | undefined): boolean {
  try {
    return STOPPED.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
