/** Checks the functions of a registration one by one, so that an invalid one does not affect the others (docs/protocol.md#registration).
 *  A function without a usable ID, address or schedule, or with invalid flow control, is refused. Other defects are recorded as its
 *  problems. */
import { z } from 'zod';
import type { FunctionLimits } from '../../config.ts';
import { EVENT_NAME_MAX } from '../events/event.ts';
import { compile, compileProblem, compileWait } from '../expressions/expression.ts';
import { checkFlow } from '../flow-control/flow-check.ts';
import { ON_EXHAUSTED } from '../runs/pause.ts';
import { DEFAULT_RETRIES } from '../runs/retry.ts';
import { expected } from '../values/expected.ts';
import { firstProblem } from '../values/issue-text.ts';
import { isJsonObject } from '../values/json.ts';
import { DAY_MS, durationMs } from '../values/time.ts';
import { type AppFunction, appUrl, type Dialect, type RefusedFunction, type Registration } from './app.ts';
import { cronProblem } from './cron.ts';
import { DESTINATION_PREFIX, isDestinationId } from './destination.ts';
import { excessOf } from './function-limits.ts';
import { withInferred } from './given-function.ts';
import { isNeverMet, unmatchedName } from './unmatched-triggers.ts';
import { VERSIONINGS } from './versions.ts';

export const MAX_RETRIES = 20;
/** Maximum length of a problem, which may quote what the app sent. */
const PROBLEM_LENGTH = 500;
/** Maximum number of problems per function. */
const PROBLEMS_MAX = 20;

const cron = z
  .string()
  .min(1)
  .max(256)
  .superRefine((text, ctx) => {
    const problem = cronProblem(text);
    if (problem) ctx.addIssue({ code: 'custom', message: `a schedule; ${problem}` });
  });

const JITTER_MAX_MS = DAY_MS;
const jitter = z.string().refine((text) => {
  const ms = durationMs(text);
  return ms !== undefined && ms >= 1_000 && ms <= JITTER_MAX_MS;
}, 'a time string such as "30s", from 1s to 24h');

const triggerSchema = z
  .looseObject({
    event: z.string().min(1).max(EVENT_NAME_MAX).optional(),
    expression: z.string().nullish(),
    cron: cron.optional(),
    jitter: jitter.nullish(),
    catchUp: z.enum(['last', 'all'], '"last" or "all"').nullish(),
  })
  .refine(({ event, cron }) => event !== undefined || cron !== undefined, 'a trigger with "event" or "cron"');

const stepSchema = z.looseObject({
  id: z.string().max(256),
  runtime: z.looseObject({ url: appUrl }),
  retries: z.looseObject({ attempts: z.int().min(0).optional() }).nullish(),
});

const timeString = z.string().refine((text) => durationMs(text) !== undefined, 'a time string such as "30m" or "7d"');

const cancelSchema = z.looseObject({
  event: z.string().min(1).max(EVENT_NAME_MAX),
  if: z.string().nullish(),
  timeout: timeString.nullish(),
});

/** Accepts unknown fields and stores them with the function. A function without triggers runs only when it is invoked. */
export const functionSchema = z.looseObject({
  id: z
    .string()
    .min(1)
    .max(256)
    .regex(/^\P{Cc}*$/u, 'an ID without control characters')
    .refine((id) => !isDestinationId(id), `an ID that does not begin with "${DESTINATION_PREFIX}"`),
  name: z.string().max(256).optional(),
  triggers: z.array(triggerSchema).nullish(),
  cancel: z.array(cancelSchema).nullish(),
  versioning: z.enum(VERSIONINGS, '"latest" or "pinned"').nullish(),
  onExhausted: z.enum(ON_EXHAUSTED, '"fail" or "pause"').nullish(),
  steps: z.record(z.string(), stepSchema).refine((steps) => 'step' in steps, 'an object with the entry "step"'),
});

type GivenFunction = z.infer<typeof functionSchema>;

export type CheckedFunction = { registered: AppFunction } | { refused: RefusedFunction };

/** Yields undefined between expressions, of which there may be thousands, so that callers can pause. */
export function* checkFunctions(
  registration: Registration,
  dialect: Dialect,
  limits: FunctionLimits,
): Generator<CheckedFunction | undefined> {
  const ids = new Set<string>();
  for (const sent of registration.functions) {
    const given = withInferred(sent, registration.appName);
    yield yield* checkFunction(given, { ids, app: registration.appName, dialect, limits });
  }
}

interface CheckContext {
  /** IDs of the functions checked so far. */
  ids: Set<string>;
  app: string;
  dialect: Dialect;
  limits: FunctionLimits;
}

function* checkFunction(
  given: unknown,
  { ids, app, dialect, limits }: CheckContext,
): Generator<undefined, CheckedFunction> {
  const excess = excessOf(given, limits);
  if (excess) return refused(idOf(given), excess);
  const { success, data, error } = functionSchema.safeParse(given, { error: expected });
  if (!success) return refused(idOf(given), firstProblem(error, given));
  const flaw = ids.has(data.id) ? 'another function of the app has the same id' : yield* checkFlow(data, limits);
  if (flaw) return refused(data.id, flaw);
  ids.add(data.id);
  const problems: string[] = [];
  const usable = { triggers: data.triggers ?? [], cancel: [] as z.infer<typeof cancelSchema>[] };
  for (const [i, { event, expression }] of usable.triggers.entries()) {
    const problem = event === undefined ? undefined : unmetBecause(event, 'expression', expression, compile);
    if (problem) problems.push(`triggers[${i}] never fires: ${problem}`);
    yield undefined;
  }
  for (const [i, trigger] of (data.cancel ?? []).entries()) {
    const problem = unmetBecause(trigger.event, '"if"', trigger.if, compileWait);
    if (problem) problems.push(`cancel[${i}] cancels no run: ${problem}`);
    if (!trigger.if || !compileProblem(trigger.if, compileWait)) usable.cancel.push(trigger);
    yield undefined;
  }
  return { registered: functionOf(data, usable, problems, app, dialect) };
}

function functionOf(
  given: GivenFunction,
  { triggers, cancel }: { triggers: z.infer<typeof triggerSchema>[]; cancel: z.infer<typeof cancelSchema>[] },
  found: readonly string[],
  app: string,
  dialect: Dialect,
): AppFunction {
  const step = given.steps.step as z.infer<typeof stepSchema>;
  const retries = step.retries?.attempts ?? DEFAULT_RETRIES;
  const problems = [
    ...found,
    ...(retries > MAX_RETRIES ? [`it asks for ${retries} retries and gets ${MAX_RETRIES}, which is the maximum`] : []),
  ];
  return {
    id: given.id,
    name: given.name ?? given.id,
    app,
    url: step.runtime.url,
    dialect,
    retries: Math.min(retries, MAX_RETRIES),
    ...(given.onExhausted && { onExhausted: given.onExhausted }),
    triggers: triggers.map(({ event, expression, cron, jitter, catchUp }) => ({
      ...(event && { event }),
      ...(expression && { expression }),
      ...(cron && { cron, ...(jitter && { jitter }), ...(catchUp && { catchUp }) }),
    })),
    cancel: cancel.map(({ event, if: expression, timeout }) => ({
      event,
      ...(expression && { expression }),
      ...(timeout && { timeout }),
    })),
    archived: false,
    ...(problems.length > 0 && { problems: problems.slice(0, PROBLEMS_MAX).map(shortened) }),
    config: given,
  };
}

function refused(id: string | null, problem: string): CheckedFunction {
  return { refused: { id: id?.slice(0, 256) ?? null, problem: shortened(problem) } };
}

function idOf(given: unknown): string | null {
  const id = isJsonObject(given) ? given.id : undefined;
  return typeof id === 'string' && id !== '' ? id : null;
}

/** Explains why no event can meet a trigger; undefined if events can. */
function unmetBecause(
  event: string,
  field: string,
  source: string | null | undefined,
  compiler: typeof compile,
): string | undefined {
  const invalid = source && compileProblem(source, compiler);
  if (invalid) return `its ${field} is not valid CEL: ${invalid}`;
  const unmatched = unmatchedName(event);
  if (unmatched) return unmatched;
  return source && isNeverMet(source, compiler(source)) ? `its ${field} is false for every event` : undefined;
}

function shortened(text: string): string {
  return text.length > PROBLEM_LENGTH ? `${text.slice(0, PROBLEM_LENGTH)}…` : text;
}
