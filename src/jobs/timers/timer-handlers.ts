/** Handlers of due timers. A handler may run late or twice for the same timer, so it checks what is due. */
import type { TimerJob } from '../queues/queues.ts';

type JobOf<Kind extends TimerJob['kind']> = Extract<TimerJob, { kind: Kind }>;

/** Keyed by kind. `dueAt`: the time that the timer was set to, Unix milliseconds; `executions`: number of executions of its job, including this
 *  one. */
export type TimerHandlers = {
  [Kind in TimerJob['kind']]: (timer: JobOf<Kind>, dueAt: number, executions: number) => Promise<void>;
};

type Handler = (timer: TimerJob, dueAt: number, executions: number) => Promise<void>;

export async function handleTimer(
  timer: TimerJob,
  dueAt: number,
  executions: number,
  handlers: TimerHandlers,
): Promise<void> {
  const handle = handlers[timer.kind] as Handler | undefined;
  // A later version may have set it.
  if (!handle) throw new Error(`no handler for a timer of the kind ${timer.kind}`);
  await handle(timer, dueAt, executions);
}
