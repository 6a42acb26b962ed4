/** `/v1/events/:id/decisions`: why each function that listens to an event did or did not run on it. */
import { z } from 'zod';
import { type ExplainedDecision, OUTCOMES } from '../../jobs/flow-control/explained-decisions.ts';
import { RESULTS } from '../../jobs/flow-control/expression-reader.ts';
import { DECISION_REASONS } from '../../model/flow-control/decision.ts';
import { apiObject, timeOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { listReply, namePosition, pageQuery } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { eventNotFound, eventParams } from '../views/event.ts';
import { present } from '../views/present.ts';

const readSchema = z.object({
  path: z.string().describe('Path of the field as in expressions, such as event.data.total'),
  value: z.unknown().describe('Value of the field; null if the field is missing, as in expressions'),
  shortened: z
    .boolean()
    .describe('true: the value is the beginning of a long text, or null for a large list or object'),
});

const expressionSchema = z.object({
  expression: z.string().describe('At most 500 characters'),
  result: z
    .enum(RESULTS)
    .describe(
      'false: the event does not meet the expression; failed: the expression cannot be evaluated on this event; refused: the expression is invalid',
    ),
  reads: z.array(readSchema).describe('Fields of the event that the expression reads; at most 10'),
});

export const eventDecisionSchema = apiObject('EventDecision', {
  function_id: z.string(),
  outcome: z
    .enum(OUTCOMES)
    .describe(
      'ran: the event started a run; skipped: it started no run; merged: the run of a batch or a debounce includes the event; pending: the event is ' +
        'being ingested, or waits in a lane; unknown: no stored data says',
    ),
  reason: z
    .enum([...DECISION_REASONS, 'not_registered'])
    .nullable()
    .describe(
      'For skipped and merged, and for pending in a lane. not_registered: the function did not listen to the event when it was received',
    ),
  run_ids: z
    .array(z.string())
    .describe('The runs that the event started; otherwise the run that includes the event or is the reason'),
  until: timeOrNull.describe('Time until which events are rate-limited'),
  expressions: z.array(expressionSchema).nullable().describe('Expressions of triggers that were not met'),
  changed_since: z
    .boolean()
    .describe('true: the function had these expressions when the event was received, and has others now'),
  keys_not_evaluated: z
    .array(z.object({ option: z.string(), expression: z.string() }))
    .describe("Keys of the function's flow control that cannot be evaluated on the event; their value counts as empty"),
});

const routes = routesOf({ tag: 'Events', scope: 'environment' });

export function eventDecisionRoutes({ acceptedEvents: events, explainedDecisions }: ApiParts): Route[] {
  return [
    routes.get('/v1/events/:id/decisions', {
      forApps: true,
      operationId: 'listEventDecisions',
      summary: 'List why functions did or did not run on an event',
      description:
        'One entry for each function that currently listens to the name of the event, or that has a run or a decision for it, by ID. For an ' +
        'invocation: the function that it invokes, and functions that ran.',
      params: eventParams,
      query: z.object(pageQuery(namePosition)),
      data: z.array(eventDecisionSchema),
      errors: ['not_found', 'archive_unavailable'],
      async handle({ env, params: { id }, query }) {
        const [found, record] = await Promise.all([events.read(env, id), events.record(env, id)]);
        if (!found || !record) throw eventNotFound(id);
        const { decisions, next } = await explainedDecisions.of(env, record, found.source, query);
        return listReply(decisions, { present: presentDecision, positionOf: ({ functionId }) => functionId, next });
      },
    }),
  ];
}

function presentDecision(decision: ExplainedDecision) {
  const { expressions, changedSince = false, keysNotEvaluated = [] } = decision;
  return present(eventDecisionSchema, decision, {
    expressions:
      expressions?.map(({ reads, ...expression }) => ({
        ...expression,
        reads: reads.map(({ path, value, shortened = false }) => ({ path, value: value ?? null, shortened })),
      })) ?? null,
    changed_since: changedSince,
    keys_not_evaluated: keysNotEvaluated,
  });
}
