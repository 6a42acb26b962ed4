/** Registrations of apps: functions with their triggers (docs/protocol.md#registration). */
import { z } from 'zod';
import { EVENT_NAME_MAX } from '../events/event.ts';
import { compile, compileWait } from '../expressions/expression.ts';
import { DEFAULT_RETRIES } from '../runs/retry.ts';
import { durationMs } from '../values/duration.ts';
import { isJsonObject } from '../values/json.ts';
import { CONNECT_URL } from './connection.ts';

const MAX_RETRIES = 20;

const httpUrl = z.url({ protocol: /^https?$/, error: 'an http or https URL' }).max(2_048);

/** Where the service calls a function or an app; apps that connect have no URL. */
const appUrl = z.union([httpUrl, z.literal(CONNECT_URL)], { error: 'an http or https URL' });

const triggerSchema = z
  .looseObject({
    event: z.string().min(1).max(EVENT_NAME_MAX).optional(),
    expression: z.string().nullish(),
    cron: z.string().min(1).max(256).optional(),
  })
  .refine(({ event, cron }) => event !== undefined || cron !== undefined, 'a trigger with "event" or "cron"');

const stepSchema = z.looseObject({
  id: z.string().max(256),
  runtime: z.looseObject({ url: appUrl }),
  retries: z.looseObject({ attempts: z.int().min(0).max(MAX_RETRIES).optional() }).nullish(),
});

const timeString = z.string().refine((text) => durationMs(text) !== undefined, 'a time string such as "30m" or "7d"');

const cancelSchema = z.looseObject({
  event: z.string().min(1).max(EVENT_NAME_MAX),
  if: z.string().nullish(),
  timeout: timeString.nullish(),
});

const functionSchema = z.looseObject({
  id: z.string().min(1).max(256),
  name: z.string().max(256).optional(),
  triggers: z.array(triggerSchema).min(1),
  cancel: z.array(cancelSchema).nullish(),
  steps: z.record(z.string(), stepSchema).refine((steps) => 'step' in steps, 'an object with the entry "step"'),
});

/** Checks the expressions of a registration, which can be thousands. Yields a problem or undefined after each. */
export function* expressionProblems({ functions }: Registration): Generator<string | undefined> {
  for (const { id, triggers, cancel } of functions) {
    for (const [i, { expression }] of triggers.entries()) {
      if (expression) yield problemOf(id, `triggers[${i}].expression`, expression, compile);
    }
    for (const [i, { if: expression }] of (cancel ?? []).entries()) {
      if (expression) yield problemOf(id, `cancel[${i}].if`, expression, compileWait);
    }
  }
}

/** Accepts unknown fields of a function and stores them with it. */
export const registrationSchema = z.preprocess(
  normalizeAppName,
  z
    .object({
      url: appUrl,
      appName: z.string().min(1).max(128),
      sdk: z.string().max(256).optional(),
      framework: z.string().max(256).nullish(),
      functions: z
        .array(functionSchema)
        .max(10_000)
        .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'functions whose ids differ'),
    })
    .meta({ id: 'Registration' }),
);

/** The official Python SDK spells the field `appname`. */
function normalizeAppName(registration: unknown): unknown {
  if (!isJsonObject(registration) || !('appname' in registration)) return registration;
  const { appname, ...rest } = registration;
  return { appName: appname, ...rest };
}

/** The app's name in an unvalidated registration. */
export function appNameIn(registration: unknown): unknown {
  const normalized = normalizeAppName(registration);
  return isJsonObject(normalized) ? normalized.appName : undefined;
}

export type Registration = z.infer<typeof registrationSchema>;

/** Header prefix that an app uses (docs/protocol.md#dialects). */
export type Dialect = 'service' | 'inngest';

/** An event that cancels the function's runs. */
export interface CancelTrigger {
  event: string;
  /** CEL over `event` (the event that triggered the run) and `async` (the received event). */
  expression?: string;
  /** Time string: the trigger expires this long after the start of the run. */
  timeout?: string;
}

export interface Trigger {
  event?: string;
  expression?: string;
  cron?: string;
}

/** A stored function: the fields that runs need, and its registered configuration. */
export interface AppFunction {
  id: string;
  name: string;
  app: string;
  url: string;
  dialect: Dialect;
  retries: number;
  triggers: Trigger[];
  cancel: CancelTrigger[];
  /** Missing from its app's last registration: no longer triggered; its active runs still finish. */
  archived: boolean;
  /** Unix milliseconds; undefined: not paused. */
  pausedAt?: number;
  config: Record<string, unknown>;
}

export function functionsOf(registration: Registration, dialect: Dialect): AppFunction[] {
  return registration.functions.map((fn) => {
    const step = fn.steps.step as z.infer<typeof stepSchema>;
    return {
      id: fn.id,
      name: fn.name ?? fn.id,
      app: registration.appName,
      url: step.runtime.url,
      dialect,
      retries: step.retries?.attempts ?? DEFAULT_RETRIES,
      triggers: fn.triggers.map(({ event, expression, cron }) => ({
        ...(event && { event }),
        ...(expression && { expression }),
        ...(cron && { cron }),
      })),
      cancel: (fn.cancel ?? []).map(({ event, if: expression, timeout }) => ({
        event,
        ...(expression && { expression }),
        ...(timeout && { timeout }),
      })),
      archived: false,
      config: fn,
    };
  });
}

function problemOf(
  functionId: string,
  field: string,
  expression: string,
  compiler: (source: string) => unknown,
): string | undefined {
  try {
    compiler(expression);
    return undefined;
  } catch (error) {
    return `function "${functionId}", ${field} is not a valid CEL expression: ${(error as Error).message}`;
  }
}
