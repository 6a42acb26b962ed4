/** Cancels the run of an event. */
import { setTimeout } from 'node:timers/promises';
import { CANCELLED, functionIdOf } from '../apps/limits.ts';
import type { Recorder } from '../history/recorder.ts';
import type { Service } from '../service.ts';

const POLL_MS = 200;
/** An event that has no run by then is not ingested yet, and its run is left alone. */
const POLLS = 50;

/** @param afterMs from when the run is there */
export async function cancelRunOf(
  eventId: string,
  afterMs: number,
  service: Service,
  recorder: Recorder,
): Promise<void> {
  const functionId = functionIdOf(CANCELLED.id);
  for (let poll = 0; poll < POLLS; poll++) {
    const [run] = (await service.get<{ run_id: string }[]>(`/v1/events/${eventId}/runs`)) ?? [];
    if (run) {
      await setTimeout(afterMs);
      const of = { what: 'cancel' as const, functionId, runId: run.run_id };
      await recorder.control(of, () => service.delete(`/v1/runs/${run.run_id}`));
      return;
    }
    await setTimeout(POLL_MS);
  }
}
