/** Compares the runs of an event at the other server with the runs that would have started here, and the results of runs that did start here. */
import type { Decided, DryEnvironment } from './dry-environment.ts';
import type { OtherEvent, OtherServer } from './other-server.ts';
import { differenceOf, hasEnded } from './outcomes.ts';

export interface Forwarded extends OtherEvent {
  /** Internal ID here. */
  hereId: string;
  forwardedMs: number;
}

export interface Difference {
  function_id: string;
  /** Where the function ran, or would run. */
  where: 'there' | 'here' | 'both';
  /** For `there`, why it would not run here; for `both`, what differs: `status` or `output`. */
  reason: string | null;
  /** Only for `both`. */
  runs?: Record<'there' | 'here', { run_id: string; status: string }>;
}

export interface Compared {
  differences: Difference[];
  /** Would run here, and did not there; but their flow control may have skipped the event. */
  notCompared: string[];
  /** Ran at both; but one of the runs, or both, has not ended. */
  unfinished: string[];
  /** Ran here although they should not have. */
  ran: string[];
}

export async function compare(
  { internalId, hereId }: Forwarded,
  { wouldRun, ran, reasons }: Decided,
  sides: { there: OtherServer; here: DryEnvironment; apps: readonly string[]; onlyApp: string | undefined },
): Promise<Compared> {
  const { there, here, apps, onlyApp } = sides;
  const isAsked = (id: string) => onlyApp === undefined || id.startsWith(`${onlyApp}-`);
  const ranThere = await there.outcomesOf(internalId, apps);
  const differences = [...ranThere.keys()]
    .filter((id) => !wouldRun.has(id) && isAsked(id))
    .map((id): Difference => ({ function_id: id, where: 'there', reason: reasons.get(id) ?? 'not_registered' }));
  const notCompared: string[] = [];
  for (const id of wouldRun) {
    if (ranThere.has(id) || !isAsked(id)) continue;
    if (await here.isLimited(id)) notCompared.push(id);
    else differences.push({ function_id: id, where: 'here', reason: null });
  }
  const unfinished: string[] = [];
  const called = ran.filter((id) => here.calls(id) && ranThere.has(id) && isAsked(id));
  const ranHere = called.length > 0 ? await here.outcomesOf(hereId) : new Map();
  for (const id of called) {
    const [a, b] = [ranThere.get(id), ranHere.get(id)];
    if (!hasEnded(a) || !hasEnded(b)) {
      unfinished.push(id);
      continue;
    }
    const reason = differenceOf(a, b);
    const runs = { there: { run_id: a.runId, status: a.status }, here: { run_id: b.runId, status: b.status } };
    if (reason !== undefined) differences.push({ function_id: id, where: 'both', reason, runs });
  }
  return { differences, notCompared, unfinished, ran: ran.filter((id) => isAsked(id) && !here.calls(id)) };
}
