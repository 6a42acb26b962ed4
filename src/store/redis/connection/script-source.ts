/** The text of a Lua script as Redis gets it: with the constants of the code that it uses, and the files that it includes. */
import { readFileSync } from 'node:fs';
import { DIGEST_BYTES, ENTRY_BYTES } from '../../../model/flow-control/decision-encoding.ts';
import { MAX_CALL_BYTES, SHORT_MEMO_BYTES } from '../../../model/runs/memo.ts';
import type { RunStatus } from '../../../model/runs/run.ts';
import { MINUTE_MS } from '../../../model/values/time.ts';
import { DELAYED_SCORE_PER_MS, JOB_FIELDS, QUEUE_KEYS, WAKE_UP_PRIORITY } from '../../keys/bullmq.ts';
import { DECISION_PREFIX_LENGTHS } from '../../keys/decisions.ts';
import { SLICE_LENGTH } from '../../keys/events.ts';
import {
  FINISHED_STEP,
  PENDING_BEGINNING,
  PENDING_PLANNED,
  PENDING_RACE,
  PENDING_SLEEP,
  PENDING_WAIT,
  PLANNING_FIELD,
  RUN_FIELDS,
} from '../../keys/run-fields.ts';
import {
  ENDED_SUFFIXES,
  PAUSED_RUNS_SUFFIX,
  RAMP_ENDS_SUFFIX,
  RUN_SUFFIXES,
  SCRIPTED_PARTS,
  SEGMENT_LENGTHS_MS,
} from '../../keys/runs.ts';

type Constant = string | number | readonly Constant[];

/** Constants of the code that scripts may use, by name: FIELD_STATUS, SUFFIX_MEMOS, … */
const CONSTANTS: Record<string, Constant> = {
  ...constants('FIELD', Object.entries(RUN_FIELDS)),
  FIELD_PLANNING: PLANNING_FIELD,
  PENDING_RACE,
  PENDING_PLANNED,
  PENDING_SLEEP,
  PENDING_WAIT,
  PENDING_BEGINNING,
  STATUS_QUEUED: 'Queued' satisfies RunStatus,
  STATUS_RUNNING: 'Running' satisfies RunStatus,
  STATUS_CANCELLED: 'Cancelled' satisfies RunStatus,
  ...constants('JOB', Object.entries(JOB_FIELDS)),
  ...constants('QUEUE', Object.entries(QUEUE_KEYS)),
  DELAYED_SCORE_PER_MS,
  FINISHED_STEP,
  WAKE_UP_PRIORITY: String(WAKE_UP_PRIORITY),
  ...constants(
    'SUFFIX',
    Object.values(RUN_SUFFIXES).map((suffix) => [suffix.slice(1), suffix]),
  ),
  PART_SUFFIXES: Object.values(RUN_SUFFIXES),
  KEPT_PARTS: SCRIPTED_PARTS,
  ENDED_SUFFIXES,
  SUFFIX_PAUSED_RUNS: PAUSED_RUNS_SUFFIX,
  SUFFIX_RAMP_ENDS: RAMP_ENDS_SUFFIX,
  SEGMENT_LENGTHS_MS,
  MINUTE_MS,
  SLICE_LENGTH,
  DECISION_DIGEST_BYTES: DIGEST_BYTES,
  DECISION_ENTRY_BYTES: ENTRY_BYTES,
  DECISION_PREFIX_LENGTHS,
  MAX_CALL_BYTES,
  SHORT_MEMO_BYTES,
};
const CONSTANT = /\b[A-Z][A-Z_]+\b/g;

function constants(
  prefix: string,
  values: readonly (readonly [name: string, value: string])[],
): Record<string, string> {
  const upper = (name: string) =>
    name
      .replace(/[A-Z-]/g, (letter) => `_${letter}`)
      .replaceAll('-', '')
      .toUpperCase();
  return Object.fromEntries(values.map(([name, value]) => [`${prefix}_${upper(name)}`, value]));
}

const INCLUDE = /^-- @include (.+)$/gm;

/** Tests start many services in one process. */
const composed = new Map<string, string>();

/** @param file path below src/store */
export function readScript(file: string): string {
  const known = composed.get(file) ?? compose(file);
  composed.set(file, known);
  return known;
}

function compose(file: string): string {
  const script = readLua(file).replace(INCLUDE, (_, included: string) => readLua(included));
  const locals = [...new Set(script.match(CONSTANT))].flatMap((name) => {
    const value = CONSTANTS[name];
    return value === undefined ? [] : [`local ${name} = ${toLua(value)}\n`];
  });
  // Without constants, a script may begin with flags, which must remain its first line.
  return locals.join('') + script;
}

function readLua(file: string): string {
  return readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
}

export function toLua(value: Constant): string {
  if (typeof value === 'string') return `'${value}'`;
  return typeof value === 'number' ? String(value) : `{ ${value.map(toLua).join(', ')} }`;
}
