/** Collects what a function logs in one call, within limits, for the service (docs/protocol.md#logs). */
import { format, inspect } from 'node:util';
import type { Logger } from './logger.ts';
import { hashStepId } from './steps/ids.ts';

export interface CollectedLine {
  /** Unix milliseconds. */
  at: number;
  level: keyof Logger;
  message: string;
  fields?: Record<string, unknown>;
  /** Hashed ID of the step that wrote it. */
  step?: string;
}

const MAX_LINES = 200;
const MAX_LINE_LENGTH = 8_000;
const MAX_LENGTH = 64_000;
const MAX_FIELDS_DEPTH = 6;
/** Maximum number of entries of all objects and lists in one line. */
const MAX_ENTRIES = 200;
const MAX_TEXT = 2_000;

export class LogCollector {
  #lines: CollectedLine[] = [];
  #length = 0;
  #dropped = 0;

  /** Never throws: what cannot be written as JSON is left out.
   *  @param step name of the step that writes it, if one does */
  add(level: keyof Logger, args: readonly unknown[], step: string | undefined): void {
    if (this.#lines.length >= MAX_LINES || this.#length >= MAX_LENGTH) {
      this.#dropped++;
      return;
    }
    const line = { at: Date.now(), level, ...contentOf(args), ...(step !== undefined && { step: hashStepId(step) }) };
    const length = JSON.stringify(line).length;
    if (this.#length + length > MAX_LENGTH) {
      this.#dropped++;
      // After a line is left out, later lines are left out too: otherwise nothing would seem to be missing.
      this.#length = MAX_LENGTH;
      return;
    }
    this.#length += length;
    this.#lines.push(line);
  }

  /** Takes the lines collected since the last call, and resets the limits; undefined: there are none. */
  takeBatch(): { lines: CollectedLine[]; dropped: number } | undefined {
    const batch = this.#lines.length > 0 ? { lines: this.#lines, dropped: this.#dropped } : undefined;
    this.#lines = [];
    this.#length = 0;
    this.#dropped = 0;
    return batch;
  }
}

/** As people call loggers: `info('paid', { total })`, `info({ total }, 'paid')`, `info('%s paid', name)`, `error(error)`. */
function contentOf(args: readonly unknown[]): Pick<CollectedLine, 'message' | 'fields'> {
  try {
    const [first] = args;
    const formatted = typeof first === 'string' && first.includes('%');
    const objects = formatted ? [] : args.filter(isFields);
    const texts = formatted ? [shortened(format(...args))] : args.filter((one) => !isFields(one)).map(textOf);
    const errors = formatted ? [] : args.filter((one) => one instanceof Error);
    const given = Object.assign({}, ...objects, ...(errors.length > 0 ? [{ error: errors[0] }] : []));
    const message = texts.join(' ').slice(0, MAX_LINE_LENGTH);
    const budget = { entries: MAX_ENTRIES };
    const fields = bounded(given, MAX_FIELDS_DEPTH, budget) as Record<string, unknown>;
    const room = MAX_LINE_LENGTH - message.length;
    if (Object.keys(fields).length === 0) return { message };
    return JSON.stringify(fields).length <= room ? { message, fields } : { message, fields: { '…': 'too large' } };
  } catch {
    return { message: '(what was logged cannot be read)' };
  }
}

function isFields(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Error) return value.message;
  return shortened(inspect(value, { depth: 3, maxArrayLength: 50, maxStringLength: MAX_TEXT }));
}

/** The value as JSON, without parts that are too deep or too long. */
function bounded(value: unknown, depth: number, budget: { entries: number }): unknown {
  if (typeof value === 'string') return shortened(value);
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Error)
    return { name: value.name, message: shortened(value.message), stack: shortened(value.stack ?? '') };
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? undefined : value;
  if (depth === 0) return '…';
  const entries = Object.entries(value).slice(0, Math.max(0, budget.entries));
  budget.entries -= entries.length;
  const inside = entries.map(([key, one]) => [key.slice(0, 100), bounded(one, depth - 1, budget)] as const);
  return Array.isArray(value) ? inside.map(([, one]) => one ?? null) : Object.fromEntries(inside);
}

function shortened(text: string): string {
  return text.length > MAX_LINE_LENGTH ? `${text.slice(0, MAX_LINE_LENGTH - 1)}…` : text;
}
