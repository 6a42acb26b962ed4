/** Compares what ran on an event at the other server with what would have run here. */
import type { Decided, DryEnvironment } from './dry-environment.ts';
import type { OtherEvent, OtherServer } from './other-server.ts';

export interface Forwarded extends OtherEvent {
  /** Internal ID here. */
  hereId: string;
  forwardedMs: number;
}

export interface Difference {
  function_id: string;
  where: 'there' | 'here';
  /** Why it would not run here. */
  reason: string | null;
}

export interface Compared {
  differences: Difference[];
  /** Would run here, and did not there; but their flow control may have skipped the event. */
  notCompared: string[];
  /** Really ran here. */
  ran: string[];
}

export async function compare(
  { internalId }: Forwarded,
  { wouldRun, ran, reasons }: Decided,
  sides: { there: OtherServer; here: DryEnvironment; apps: readonly string[]; onlyApp: string | undefined },
): Promise<Compared> {
  const { there, here, apps, onlyApp } = sides;
  const isAsked = (id: string) => onlyApp === undefined || id.startsWith(`${onlyApp}-`);
  const didRun = await there.functionsOf(internalId, apps);
  const differences = [...didRun]
    .filter((id) => !wouldRun.has(id) && isAsked(id))
    .map((id): Difference => ({ function_id: id, where: 'there', reason: reasons.get(id) ?? 'not_registered' }));
  const notCompared: string[] = [];
  for (const id of wouldRun) {
    if (didRun.has(id) || !isAsked(id)) continue;
    if (await here.isLimited(id)) notCompared.push(id);
    else differences.push({ function_id: id, where: 'here', reason: null });
  }
  return { differences, notCompared, ran: ran.filter(isAsked) };
}
