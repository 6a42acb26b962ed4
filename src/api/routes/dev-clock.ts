/** `/v1/dev/clock`: the clock of dev mode, which tests move. */
import { z } from 'zod';
import { invalidField, ServiceError } from '../../errors.ts';
import { type ClockMoves, DAYS_MAX, REACHED } from '../../jobs/dev-clock/clock-moves.ts';
import { DAY_MS, durationMs, iso } from '../../model/values/time.ts';
import { apiObject } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { type Route, routesOf } from '../rest/route.ts';

const routes = routesOf({ tag: 'Installation', scope: 'installation' });

const now = z.iso.datetime().describe('The time of the service');
const offset = z.int().describe('Milliseconds by which it is ahead of the machine');

export function devClockRoutes(parts: ApiParts): Route[] {
  return [
    routes.get('/v1/dev/clock', {
      operationId: 'getDevClock',
      summary: 'Get the time of the service in dev mode',
      description: 'Refused in production, and on a Redis Cluster.',
      data: apiObject('DevClock', { now, offset_ms: offset }),
      errors: ['dev_mode_only', 'clock_on_cluster'],
      async handle() {
        const { offsetMs } = movesOf(parts);
        return { data: { now: iso(Date.now()), offset_ms: offsetMs } };
      },
    }),
    routes.post('/v1/dev/clock', {
      operationId: 'moveDevClock',
      summary: 'Move the clock of the service in dev mode',
      description: `Time passes, up to the target: what is due happens in its order, with the functions that it calls, before the response. Give \`advance\` or \`to\`; ${DAYS_MAX} days at most. Refused in production, and on a Redis Cluster.`,
      // In dev mode, the audit log would only repeat the tests.
      audited: false,
      body: z.object({
        advance: z.string().optional().describe('How much time passes, such as `3d` or `1h30m`'),
        to: z
          .union([z.iso.datetime({ offset: true }), z.int()])
          .optional()
          .describe('The new time, ISO 8601 or Unix milliseconds; not in the past'),
      }),
      data: apiObject('MovedDevClock', {
        now,
        target: z.iso.datetime().describe('The time that was asked for'),
        reached: z
          .enum(REACHED)
          .describe(
            '`target`; `limit`: more happens until then than one request waits for, so send another one with `to`; `busy`: what is due did not end in 25 s, such as a call, or a run waits for Postgres',
          ),
        runs_started: z.int().describe('Runs that had their first call'),
        runs_ended: z.int(),
        waiting: z.int().describe('Active runs of all environments: they sleep or wait'),
      }),
      errors: ['dev_mode_only', 'clock_on_cluster', 'clock_moving'],
      async handle({ body }) {
        const moves = movesOf(parts);
        const { nowMs, targetMs, reached, runsStarted, runsEnded, waiting } = await moves.moveTo(
          targetOf(body, Date.now()),
        );
        const counts = { runs_started: runsStarted, runs_ended: runsEnded, waiting };
        return { data: { now: iso(nowMs), target: iso(targetMs), reached, ...counts } };
      },
    }),
  ];
}

function movesOf({ clockMoves, config }: ApiParts): ClockMoves {
  if (clockMoves) return clockMoves;
  throw config.dev
    ? new ServiceError('clock_on_cluster', { detail: 'use a single Redis for such tests' })
    : new ServiceError('dev_mode_only', { detail: 'the clock can be moved with MODE=dev' });
}

function targetOf({ advance, to }: { advance?: string | undefined; to?: string | number | undefined }, nowMs: number) {
  if ((advance === undefined) === (to === undefined)) {
    throw new ServiceError('input_invalid', { detail: 'give either "advance" or "to"' });
  }
  const field = advance === undefined ? 'to' : 'advance';
  const byMs = advance === undefined ? new Date(to as string | number).getTime() - nowMs : durationMs(advance);
  if (byMs === undefined) throw invalidField(field, 'expected a duration such as 90s, 1h30m or 3d');
  if (byMs < 0) throw invalidField(field, `time does not go back, and it is ${iso(nowMs)}`);
  if (!(byMs <= DAYS_MAX * DAY_MS)) throw invalidField(field, `expected ${DAYS_MAX} days at most`);
  return nowMs + byMs;
}
