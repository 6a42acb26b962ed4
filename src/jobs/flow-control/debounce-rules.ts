/** Rules of debounces: among the events of a function with `debounce`, the latest gets a run once no later one has come for the period. */
import type { Decision } from '../../model/flow-control/decision.ts';
import { runIdOf } from '../../model/runs/run.ts';
import type { DebounceResult } from '../../store/flow-control/debounces.ts';
import type { GroupRules } from './event-group-stage.ts';

export const DEBOUNCE_RULES: GroupRules<'debounce', DebounceResult> = {
  option: 'debounce',
  waitMs: ({ periodMs }) => periodMs,
  timeOf: ({ event }) => event.ts,
  onFormerRun: () => ({}),
  /** The decision about the event that was replaced, if any. */
  decisionsOn({ event: { env, internalId }, fn }, result, ids) {
    const about = (eventId: string): Decision => ({ env, eventId, functionId: fn.id, reason: 'debounced' });
    switch (result.outcome) {
      case 'waits':
        return [];
      case 'replaces':
        return [about(result.eventId)];
      case 'replaced':
        return [about(internalId)];
      case 'fired':
        if (result.eventId === internalId) return [];
        return [{ ...about(internalId), runId: runIdOf(ids, result.eventId, fn.id) }];
    }
  },
};
