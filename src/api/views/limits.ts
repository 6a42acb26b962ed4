/** The API's representation of limits: the limit that holds back a run, and the usage of a function's limits. */
import { z } from 'zod';
import type { FunctionLimitUse, LimitStatus, WaitingCall } from '../../jobs/flow-control/limit-status.ts';
import type { Limit } from '../../model/flow-control/limits.ts';
import { apiObject, textOrNull, time, timeOrNull, wholeOrNull } from '../http/validation.ts';

const KINDS = ['concurrency', 'run_concurrency', 'throttle', 'capacity', 'paused'] as const;
type Kind = (typeof KINDS)[number];

const kind = z
  .enum(KINDS)
  .describe(
    'concurrency: concurrent calls; run_concurrency: concurrent runs; throttle: starts per period; capacity: calls that the ' +
      'workers can make, for runs with a priority; paused: the function is paused and holds its queued runs',
  );

/** A limit without its usage. */
export const limitNameSchema = z.object({
  kind,
  scope: z.enum(['fn', 'env', 'account']),
  key: textOrNull.describe('Value of its key; null: the limit has no key'),
  key_expression: textOrNull,
  limit: z.int(),
});

const heldBy = z.array(z.string()).describe('IDs of up to 10 runs of this environment that hold a permit');
const heldElsewhere = z
  .int()
  .describe('Number of runs of other environments that hold a permit, of the first 200 holders');

const limitSchema = limitNameSchema
  .extend({
    in_use: z.int().describe('Calls or runs that hold a permit; 0 for a throttle'),
    held_by: heldBy,
    held_elsewhere: heldElsewhere,
    holds_back: z.boolean().describe('Whether the first run in line waits for this limit'),
  })
  .meta({ id: 'Limit' });

export const waitingSchema = apiObject('Waiting', {
  since: z.iso.datetime().describe('Time since which the call waits, minus its priority'),
  position: z.int().describe('Position among the waiting calls with the same limits, from 1'),
  earliest_start: timeOrNull.describe(
    'Time at which the throttle lets the call start; null: the call starts when other calls end',
  ),
  limits: z.array(limitSchema),
});

export const functionLimitsSchema = apiObject('FunctionLimits', {
  waiting: z.int().describe('Calls that wait for a limit'),
  limits: z
    .array(limitSchema.omit({ key: true, holds_back: true }).extend({ in_use: wholeOrNull }))
    .describe(
      "The limits of the function's runs; `in_use` is null for a limit with a key, which applies to each value separately",
    ),
  longest_backlogs: z.array(
    z.object({
      keys: z.record(z.string(), z.string()).describe("Value of each key, by the key's expression"),
      waiting: z.int(),
      since: z.iso.datetime().describe('Time since which the first call waits, minus its priority'),
      limits: z.array(
        z.object({
          kind,
          limit: z.int(),
          in_use: z.int(),
          held_by: heldBy,
          held_elsewhere: heldElsewhere,
          holds_back: z.boolean(),
        }),
      ),
    }),
  ),
});

export function presentWaiting({ since, ahead, limits, earliestStart }: WaitingCall): z.infer<typeof waitingSchema> {
  return {
    since: time(Math.floor(since)) as string,
    position: ahead + 1,
    earliest_start: time(earliestStart),
    limits: limits.map(presentLimit),
  };
}

export function presentFunctionLimits({
  waiting,
  limits,
  longest,
}: FunctionLimitUse): z.infer<typeof functionLimitsSchema> {
  return {
    waiting,
    limits: limits.map((status) => {
      const { key: _, holds_back: __, ...shown } = presentLimit(status);
      return { ...shown, in_use: shown.key_expression === null ? shown.in_use : null };
    }),
    longest_backlogs: longest.map(({ keys, waiting, since, limits }) => ({
      keys,
      waiting,
      since: time(Math.floor(since)) as string,
      limits: limits.map(({ kind, limit, ...usage }) => ({ kind: kindOf({ kind }), limit, ...presentUsage(usage) })),
    })),
  };
}

function presentLimit({ limit, ...usage }: LimitStatus): z.infer<typeof limitSchema> {
  return { ...presentLimitName(limit), ...presentUsage(usage) };
}

function presentUsage({ use, holdsBack }: Omit<LimitStatus, 'limit'>) {
  return { in_use: use.inUse, held_by: use.holders, held_elsewhere: use.holdersElsewhere, holds_back: holdsBack };
}

export function presentLimitName(limit: Limit): z.infer<typeof limitNameSchema> {
  const { scope, key, source, limit: size } = limit;
  return {
    kind: kindOf(limit),
    scope,
    key: source === undefined ? null : key,
    key_expression: source ?? null,
    limit: size,
  };
}

function kindOf({ kind, implied }: Pick<Limit, 'kind' | 'implied'>): Kind {
  if (implied) return implied;
  return ({ run: 'run_concurrency', step: 'concurrency', throttle: 'throttle' } as const)[kind];
}
