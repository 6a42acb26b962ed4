/** Logs of runs: lines that a function wrote with its context's logger, as apps send them (docs/protocol.md#logs), and their limits. */
import { z } from 'zod';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Maximum per run. The oldest lines are kept, because the beginning explains the rest. */
export const RUN_LOG_MAX_LINES = 1_000;
export const RUN_LOG_MAX_BYTES = 262_144;
/** Maximum per request; clients send one for each call of the function. */
const LOG_BATCH_MAX_LINES = 200;
export const LOG_BATCH_MAX_BYTES = 262_144;
/** Maximum number of requests per run that store lines. */
export const LOG_BATCHES_MAX = 1_000;
/** Maximum number of requests per run within LOG_RATE_WINDOW_MS. */
export const LOG_RATE_MAX = 100;
export const LOG_RATE_WINDOW_MS = 10_000;

const MESSAGE_MAX = 8_192;
const FIELDS_MAX_BYTES = 8_192;
/** Maximum depth of fields, which are shown as a tree. */
const FIELDS_MAX_DEPTH = 8;
const TIME_MAX = 8_640_000_000_000_000;

const lineSchema = z.object({
  at: z.int().min(0).max(TIME_MAX),
  level: z.enum(LOG_LEVELS),
  message: z.string().max(MESSAGE_MAX),
  fields: z
    .record(z.string().max(256), z.unknown())
    .refine(
      (fields) =>
        Buffer.byteLength(JSON.stringify(fields)) <= FIELDS_MAX_BYTES && depthWithin(fields, FIELDS_MAX_DEPTH),
      `at most ${FIELDS_MAX_BYTES} bytes and ${FIELDS_MAX_DEPTH} levels`,
    )
    .optional(),
  step: z
    .string()
    .regex(/^[0-9a-f]{40}$/, 'the hashed ID of a step')
    .optional(),
});

/** Body of a request that stores lines. */
export const logBatchSchema = z.object({
  batch: z.string().regex(/^[\w-]{1,40}$/, '1 to 40 letters, digits, _ and -'),
  attempt: z.int().min(0).max(1_000),
  lines: z.array(lineSchema).max(LOG_BATCH_MAX_LINES),
  /** Number of lines that the app dropped. */
  dropped: z.int().min(0).max(1_000_000_000).default(0),
});

export type LogBatch = z.output<typeof logBatchSchema>;

export interface LogLine {
  /** The time at which it was written, Unix milliseconds. */
  at: number;
  level: LogLevel;
  message: string;
  fields?: Record<string, unknown> | undefined;
  /** Hashed ID of the step in which it was written. */
  step?: string | undefined;
  /** Attempt of the call that wrote it, from 0. */
  attempt: number;
}

export interface RunLog {
  /** Lines in the order in which the service received them. */
  lines: LogLine[];
  /** Number of lines dropped by the app, or because the log was full. */
  dropped: number;
}

/** The lines of a batch as stored: with well-formed Unicode, because Redis cannot store other texts. */
export function linesOf({ lines, attempt }: LogBatch): LogLine[] {
  return lines.map((line) => ({ ...line, message: line.message.toWellFormed(), attempt }));
}

function depthWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((field) => depthWithin(field, levels - 1));
}
