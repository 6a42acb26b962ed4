/** The log of a run: what its function wrote with the logger of its context, as apps send it (docs/protocol.md#logs), and its bounds. */
import { z } from 'zod';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Per run. The oldest lines stay, because what comes first explains the rest. */
export const RUN_LOG_MAX_LINES = 1_000;
export const RUN_LOG_MAX_BYTES = 262_144;
/** Per request; clients send one for each call of the function. */
export const LOG_BATCH_MAX_LINES = 200;
export const LOG_BATCH_MAX_BYTES = 262_144;
/** Requests of a run that store lines. */
export const LOG_BATCHES_MAX = 1_000;
/** Requests of a run within LOG_RATE_WINDOW_MS. */
export const LOG_RATE_MAX = 100;
export const LOG_RATE_WINDOW_MS = 10_000;

const MESSAGE_MAX = 8_192;
const FIELDS_MAX_BYTES = 8_192;
/** Fields are shown as a tree. */
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

/** The body of a request with lines. */
export const logBatchSchema = z.object({
  batch: z.string().regex(/^[\w-]{1,40}$/, '1 to 40 letters, digits, _ and -'),
  attempt: z.int().min(0).max(1_000),
  lines: z.array(lineSchema).max(LOG_BATCH_MAX_LINES),
  /** Lines that the app left out. */
  dropped: z.int().min(0).max(1_000_000_000).default(0),
});

export type LogBatch = z.output<typeof logBatchSchema>;

export interface LogLine {
  /** When it was written, Unix milliseconds. */
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
  /** In the order in which they came. */
  lines: LogLine[];
  /** Lines that were left out: by the app, or because the log is full. */
  dropped: number;
}

/** The lines of a batch as they are stored: well-formed, as Redis stores no other text. */
export function linesOf({ lines, attempt }: LogBatch): LogLine[] {
  return lines.map((line) => ({ ...line, message: line.message.toWellFormed(), attempt }));
}

function depthWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((one) => depthWithin(one, levels - 1));
}
