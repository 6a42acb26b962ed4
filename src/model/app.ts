/** What an app registers: itself, and functions with their triggers (protocol: registering). */
import { z } from 'zod';
import { durationMs } from './duration.ts';
import { compile, compileWait } from './expression.ts';
import { isJsonObject } from './json.ts';
import { DEFAULT_RETRIES } from './retry.ts';

const MAX_RETRIES = 20;

const httpUrl = z.url({ protocol: /^https?$/, error: 'an http or https URL' });

const triggerSchema = z
  .looseObject({
    event: z.string().min(1).max(256).optional(),
    expression: z
      .string()
      .nullish()
      .superRefine((source, context) => {
        const problem = source ? problemOf(source, compile) : undefined;
        if (problem) context.addIssue({ code: 'custom', message: `not a CEL expression: ${problem}` });
      }),
    cron: z.string().min(1).optional(),
  })
  .refine(({ event, cron }) => event !== undefined || cron !== undefined, 'a trigger with "event" or "cron"');

const stepSchema = z.looseObject({
  id: z.string(),
  runtime: z.looseObject({ url: httpUrl }),
  retries: z.looseObject({ attempts: z.int().min(0).max(MAX_RETRIES).optional() }).nullish(),
});

const timeString = z.string().refine((text) => durationMs(text) !== undefined, 'a time string such as "30m" or "7d"');

const cancelSchema = z.looseObject({
  event: z.string().min(1).max(256),
  if: z
    .string()
    .nullish()
    .superRefine((source, context) => {
      const problem = source ? problemOf(source, compileWait) : undefined;
      if (problem) context.addIssue({ code: 'custom', message: `not a CEL expression: ${problem}` });
    }),
  timeout: timeString.nullish(),
});

const functionSchema = z.looseObject({
  id: z.string().min(1).max(256),
  name: z.string().optional(),
  triggers: z.array(triggerSchema).min(1),
  cancel: z.array(cancelSchema).nullish(),
  steps: z.record(z.string(), stepSchema).refine((steps) => 'step' in steps, 'an object with the entry "step"'),
});

/** Unknown fields are kept with the function and never refused. */
export const registrationSchema = z.preprocess(
  spelled,
  z
    .looseObject({
      url: httpUrl,
      appName: z.string().min(1).max(128),
      sdk: z.string().optional(),
      framework: z.string().nullish(),
      functions: z
        .array(functionSchema)
        .max(2_000)
        .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'functions whose ids differ'),
    })
    .meta({ id: 'Registration' }),
);

/** The official Python SDK spells the field `appname`. */
function spelled(registration: unknown): unknown {
  if (!isJsonObject(registration) || !('appname' in registration)) return registration;
  const { appname, ...rest } = registration;
  return { appName: appname, ...rest };
}

/** The app's name in a registration that may be no such thing. */
export function appNameIn(registration: unknown): unknown {
  const properly = spelled(registration);
  return isJsonObject(properly) ? properly.appName : undefined;
}

export type Registration = z.infer<typeof registrationSchema>;

/** Header prefix that an app speaks (protocol: two dialects). */
export type Dialect = 'service' | 'inngest';

/** An event that cancels the function's runs. */
export interface CancelTrigger {
  event: string;
  /** CEL over `event`, which caused the run, and `async`, which arrived. */
  expression?: string;
  /** Time string: how long after the start of the run it cancels. */
  timeout?: string;
}

export interface Trigger {
  event?: string;
  expression?: string;
  cron?: string;
}

/** A function as it is stored: what running it needs, and its configuration as it was registered. */
export interface AppFunction {
  id: string;
  name: string;
  app: string;
  url: string;
  dialect: Dialect;
  retries: number;
  triggers: Trigger[];
  cancel: CancelTrigger[];
  /** Gone from its app's last registration: no longer triggered; its runs in flight still finish. */
  archived: boolean;
  /** Since when no event triggers it, Unix milliseconds; undefined: it is not paused. */
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

function problemOf(expression: string, compiler: (source: string) => unknown): string | undefined {
  try {
    compiler(expression);
    return undefined;
  } catch (error) {
    return (error as Error).message.split('\n')[0];
  }
}
