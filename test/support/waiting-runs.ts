/** Runs that sleep or wait, of apps that are deployed meanwhile. */
import type { RunStateKind } from '../../src/model/runs/run-state.ts';
import type { Service } from './service.ts';
import { until } from './until.ts';

/** @returns the ID of the event */
export async function sendTo(service: Service, name: string, data: object = {}): Promise<string> {
  return (await service.post('/e/key', { name, data })).body.ids[0];
}

/** Starts a run by an event.
 *  @returns the run once it is in this state */
export async function startUntil(service: Service, kind: RunStateKind, name: string, data: object = {}) {
  const eventId = await sendTo(service, name, data);
  const isThere = async () => {
    const [started] = (await service.get(`/v1/events/${eventId}/runs`)).body.data;
    const run = started && (await service.get(`/v1/runs/${started.run_id}`)).body.data;
    return run?.state.kind === kind && run;
  };
  return until(isThere, { describe: `a run on ${name} is ${kind}` });
}

/** By version. */
export function statesOf(versions: readonly { version: string; state: string }[]): Record<string, string> {
  return Object.fromEntries(versions.map(({ version, state }) => [version, state]));
}
