/** Matches events with functions: returns the runs to start, and decisions about functions without one. False expressions need no
 *  decision: the event and the function's triggers at that time explain them (flow-control/explained-decisions.ts). */

import { recordOf, triggerEventOf } from '../../model/events/event.ts';
import type { TriggerExpression, TriggerTable } from '../../model/events/triggers.ts';
import type { Decision } from '../../model/flow-control/decision.ts';
import type { PartitionedIds } from '../../model/partitions/partitioned-ids.ts';
import { runIdOf } from '../../model/runs/run.ts';
import type { Stored } from '../../store/events/events.ts';
import type { RunProposal } from '../flow-control/run-proposal.ts';
import type { ExpressionEvaluator } from '../functions/expression-evaluator.ts';

export interface Matches {
  proposals: RunProposal[];
  decisions: Decision[];
}

export interface MatchingDeps {
  ids: PartitionedIds;
  evaluator: ExpressionEvaluator;
}

/** @param tables by environment */
export async function matchEvents(
  events: readonly Pick<Stored, 'event' | 'present'>[],
  tables: ReadonlyMap<string, TriggerTable>,
  { ids, evaluator }: MatchingDeps,
): Promise<Matches> {
  const proposals: RunProposal[] = [];
  const decisions: Decision[] = [];
  evaluator.startTurn();
  for (const { event, present } of events) {
    const table = tables.get(event.env);
    if (!table) continue;
    const { env, internalId, name, ts, receivedAt, source } = event;
    const repeated = present && { repeated: true };
    let stopped: Set<string> | undefined;
    const read = () => triggerEventOf(recordOf(event), source);
    const isMet = ({ fn, source, expression }: TriggerExpression, read: unknown) => {
      const result = evaluator.evaluate({ env, functionId: fn.id, source, expression }, { event: read }, receivedAt);
      if (result === 'too_costly') {
        stopped ??= new Set();
        stopped.add(fn.id);
      }
      return result === 'met';
    };
    for (const fn of table.match(name, read, isMet, source)) {
      if (fn) {
        proposals.push({ id: runIdOf(ids, internalId, fn.id), fn, event, dueAt: ts, cause: 'event', ...repeated });
        stopped?.delete(fn.id);
      }
      if (evaluator.shouldYield) await evaluator.yieldTurn();
    }
    if (table.hasPaused) {
      for (const fn of table.matchPaused(name, read, isMet, source)) {
        if (fn) {
          decisions.push({ env, eventId: internalId, functionId: fn.id, reason: 'paused' });
          stopped?.delete(fn.id);
        }
        if (evaluator.shouldYield) await evaluator.yieldTurn();
      }
    }
    for (const functionId of stopped ?? [])
      decisions.push({ env, eventId: internalId, functionId, reason: 'not_evaluated' });
  }
  await evaluator.reportSkipped();
  return { proposals, decisions };
}
