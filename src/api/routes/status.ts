/** `/v1/status`: whether the service works, and how much needs attention. The route is cheap enough for every open page to request it every few
 *  seconds. */
import { z } from 'zod';
import { sum } from '../../model/values/sum.ts';
import { HOUR_MS, MINUTE_MS } from '../../model/values/time.ts';
import { apiObject } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { countHeldEvents, countOpenIssues } from '../rest/attention-counts.ts';
import { type Route, routesOf } from '../rest/route.ts';

export const statusSchema = apiObject('Status', {
  workers_alive: z.int().describe('0: events are accepted but not processed'),
  accepts_events: z.boolean().describe('false: events are rejected with 429 or 503 and `Retry-After`'),
  runs_failed_last_hour: z.int().describe('Failed runs of the environment'),
  held_events: z.int().describe('Events of webhooks that wait for an environment'),
  held_registrations: z.int().describe('Registrations of apps of the environment that wait for a confirmation'),
  open_errors: z.int().describe('Open error groups of the environment'),
  open_webhook_issues: z.int().describe('Issues of webhooks that no user has acknowledged'),
});

const routes = routesOf({ tag: 'Overview', scope: 'environment' });

export function statusRoutes(parts: ApiParts): Route[] {
  const { processes, metrics, heldRegistrations, errorGroups, backpressure } = parts;
  return [
    routes.get('/v1/status', {
      operationId: 'getStatus',
      summary: 'Get what needs attention',
      description:
        'Workers are those of the whole installation, all else is of the environment: held events and issues are those of its webhooks, in a branch those of the webhooks that all branches share, if the principal may read them. 503 `unavailable`: Redis is unavailable.',
      data: statusSchema,
      async handle({ env, accessTo }) {
        const nowMs = Date.now();
        const [alive, points, held, registrations, errors, issues] = await Promise.all([
          processes.alive(),
          metrics.steps(env, nowMs - HOUR_MS, nowMs, MINUTE_MS),
          countHeldEvents(env, accessTo, parts, nowMs),
          heldRegistrations.all(env, nowMs),
          errorGroups.positions(env, { states: ['open'] }),
          countOpenIssues(env, accessTo, parts, nowMs),
        ]);
        return {
          data: {
            workers_alive: alive.filter(({ kind }) => kind === 'worker').length,
            accepts_events: !backpressure.full,
            runs_failed_last_hour: sum(points, ({ counts }) => counts.runsFailed),
            held_events: held,
            held_registrations: registrations.length,
            open_errors: errors.length,
            open_webhook_issues: issues,
          },
        };
      },
    }),
  ];
}
