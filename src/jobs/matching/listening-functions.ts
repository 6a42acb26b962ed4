/** The functions that an event would trigger if it were sent now. No event is sent. */
import { type Event, toEnvelope } from '../../model/events/event.ts';
import { newId } from '../../model/ids.ts';
import type { FunctionTables } from '../functions/function-tables.ts';
import { type MatchingDeps, matchEvents } from './event-matcher.ts';

export const MATCH_OUTCOMES = ['runs', 'paused', 'not_evaluated'] as const;

export interface ListeningFunction {
  functionId: string;
  outcome: (typeof MATCH_OUTCOMES)[number];
}

/** Sorted by ID. Functions whose expression is false are left out; flow control is ignored. */
export async function listeningFunctions(
  event: Event,
  env: string,
  deps: MatchingDeps & { functionTables: FunctionTables },
): Promise<ListeningFunction[]> {
  const receivedAt = Date.now();
  const id = newId(receivedAt);
  const envelope = toEnvelope(event, { internalId: id, env, receivedAt, source: 'api', requestId: id, index: 0 });
  const tables = new Map([[env, await deps.functionTables.of(env)]]);
  const { proposals, decisions } = await matchEvents([{ event: envelope }], tables, deps);
  const running = proposals.map(({ fn }): ListeningFunction => ({ functionId: fn.id, outcome: 'runs' }));
  const others = decisions.map(({ functionId, reason }): ListeningFunction => {
    return { functionId, outcome: reason === 'paused' ? 'paused' : 'not_evaluated' };
  });
  return [...running, ...others].sort((a, b) => (a.functionId < b.functionId ? -1 : 1));
}
