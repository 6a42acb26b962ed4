/** Lists of runs: by default without outputs and with truncated errors; on request with outputs and whole errors, as
 *  many as fit into a response. */

import { z } from 'zod';
import type { History } from '../../history/history.ts';
import type { StoppedEarly } from '../../history/merged-page.ts';
import type { RunStates } from '../../jobs/runs/run-states.ts';
import type { Dialect } from '../../model/apps/app.ts';
import type { Run, RunError } from '../../model/runs/run.ts';
import { parseStored } from '../../model/values/json.ts';
import type { Position } from '../../store/redis/pagination.ts';
import { runPosition } from '../../store/runs/run-lists.ts';
import { gistSchema } from '../views/gist.ts';
import { omittedField } from '../views/incomplete.ts';
import { presentRun, runSchema } from '../views/run.ts';
import { presentRunState, runStateSchema } from '../views/run-state.ts';
import { countThatFits, ITEMS_MAX_BYTES, listReply } from './lists.ts';
import type { Reply } from './route.ts';
import type { EventBrief } from './run-events.ts';

export const listedRunSchema = runSchema
  .extend({
    output: z
      .unknown()
      .optional()
      .describe('Output of the function; null until it has returned. Only with fields=output'),
    error: runSchema.shape.error
      .optional()
      .describe('Name, code, and the beginning of the message; stack, cause and data only with fields=error'),
    event_name: z.string().optional().describe('Name of the event that triggered the run; only with fields=event'),
    event_gist: gistSchema
      .optional()
      .describe(
        'The first plain values of the data of that event; only with fields=event. `event_name` and `gist` are absent if the event is not available',
      ),
    event_user: z
      .string()
      .optional()
      .describe('ID of the `user` of that event, or its first value; only with fields=user. Absent: it names nobody'),
    state: runStateSchema,
    ...omittedField,
  })
  .meta({ id: 'ListedRun' });

/** Fields of runs that may be large; lists include them on request. */
export const LARGE_FIELDS = ['output', 'error'] as const;
/** Maximum characters of an error message. */
const MESSAGE_SHOWN = 1_000;

export interface RunListOptions {
  /** Position after the last run; undefined on the last page. */
  next?: Position | undefined;
  /** Why the list is incomplete. */
  stoppedEarly?: StoppedEarly | undefined;
  fields: readonly (typeof LARGE_FIELDS)[number][];
  /** Keyed by event ID; undefined if not requested. */
  events?: ReadonlyMap<string, EventBrief> | undefined;
  dialect: Dialect;
}

export interface RunListDeps {
  listedRuns: History['listedRuns'];
  runStates: RunStates;
}

/** @param page runs without outputs */
export async function listOfRuns(
  { listedRuns: runs, runStates }: RunListDeps,
  env: string,
  page: readonly Run[],
  { next, stoppedEarly, fields, events, dialect }: RunListOptions,
): Promise<Reply> {
  const states = await runStates.of(page);
  const shortened = fields.includes('error') ? (shown: object) => shown : withShortError;
  const withState = ({ id, eventId }: Run, shown: object) => {
    const state = states.get(id);
    return { ...shortened(shown), ...events?.get(eventId), ...(state && { state: presentRunState(state) }) };
  };
  if (!fields.includes('output'))
    return listReply(page, {
      present: (run) => withState(run, withoutOutput(run, dialect)),
      positionOf: runPosition,
      next,
      stoppedEarly,
      omittable: ['error'],
    });
  const ids = page.map(({ id }) => id);
  const sizes = await runs.outputSizes(env, ids);
  const count = countThatFits(sizes);
  const isTooLarge = (sizes[0] ?? 0) > ITEMS_MAX_BYTES;
  const outputs = isTooLarge ? [] : await runs.outputs(env, ids.slice(0, count));
  const rows = page.slice(0, count).map((run, i): Row => ({ ...run, json: outputs[i] ?? null, isTooLarge }));
  return listReply(rows, {
    present: (row: Row) => withState(row, withOutput(row, dialect)),
    positionOf: runPosition,
    ...(count < page.length ? { next: runPosition(page[count - 1] as Run) } : { next, stoppedEarly }),
    omittable: ['output', 'error'],
  });
}

function withShortError(shown: { error?: RunError | null }): object {
  if (!shown.error) return shown;
  const { name, message, code } = shown.error;
  const beginning = message.length > MESSAGE_SHOWN ? `${message.slice(0, MESSAGE_SHOWN)}…` : message;
  return { ...shown, error: { name, message: beginning, ...(code !== undefined && { code }) } };
}

type Row = Run & { json: string | null; isTooLarge: boolean };

function withoutOutput(run: Run, dialect: Dialect): object {
  const { output: _, ...rest } = presentRun(run, dialect);
  return rest;
}

function withOutput({ json, isTooLarge, ...run }: Row, dialect: Dialect): object {
  const output = isTooLarge ? undefined : parsed(json);
  if (output === undefined) return { ...withoutOutput(run, dialect), omitted: ['output'] };
  const shown = presentRun(run, dialect);
  return json === null ? shown : { ...shown, output };
}

/** undefined if it is nested too deeply. */
function parsed(json: string | null): unknown {
  try {
    return json === null ? null : parseStored(json);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
