/** Follows a run to its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient, Json } from './api-client.ts';
import { CliError, EXIT } from './exit-codes.ts';
import { at } from './list-options.ts';
import type { Output } from './output.ts';
import { entryLine, shownEntries } from './runs.ts';

const FIRST_PAUSE_MS = 200;
const LAST_PAUSE_MS = 2_000;
const ENDED = ['Completed', 'Failed', 'Cancelled'];

export interface WatchOptions {
  /** Prints what happens: for people only. */
  output: Output;
  timeoutMs: number | undefined;
  signal: AbortSignal;
}

/** @returns the ended run
 *  @throws CliError if it does not end in time */
export async function watchRun(api: ApiClient, id: string, { output, timeoutMs, signal }: WatchOptions): Promise<Json> {
  const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
  const shown = new Set<string>();
  const show = (key: string, line: string) => {
    if (!shown.has(key)) output.note(line);
    shown.add(key);
  };
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, LAST_PAUSE_MS)) {
    const { data: run } = await api.get(at`/v1/runs/${id}`);
    for (const entry of shownEntries(run.history)) {
      show(`${entry.kind}/${entry.step_id}/${entry.attempt}/${entry.status}`, entryLine(output, entry));
    }
    show(run.status, `run ${id}  ${run.status}`);
    if (ENDED.includes(run.status)) return run;
    const left = deadline - Date.now();
    if (left <= 0) {
      throw new CliError(`The run ${id} is still ${run.status} after ${(timeoutMs ?? 0) / 1_000} s`, {
        exitCode: EXIT.timedOut,
        hint: `It goes on: tidegate runs watch ${id}`,
      });
    }
    await sleep(Math.min(pause, left), undefined, { signal });
  }
}
