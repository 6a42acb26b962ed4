/** An app stores steps of calls that are in flight (docs/protocol.md#checkpoints): by `POST /v1/checkpoint/:run_id/async`, those of several
 *  calls by `POST /v1/checkpoints`, or over its connection. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { decodeQueueItem } from '../../functions/call-ids.ts';
import type { CallCheckpoints } from '../../jobs/runs/calls/checkpoints.ts';
import { hasRun } from '../../jobs/runs/operations/finished-steps.ts';
import type { Logger } from '../../log.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import { MAX_RESPONSE_BYTES } from '../../model/runs/memo.ts';
import { type Op, type OpsProblem, parseOps } from '../../model/runs/operation.ts';
import { serviceErrorOf } from '../http/error-handler.ts';
import type { Context, Router } from '../http/router.ts';
import { validate } from '../http/validation.ts';
import type { FastRoute } from '../receive/fast-path.ts';
import { respondWithJson } from '../receive/respond.ts';
import { type AppGuardDeps, requireCredentials, requireSigningKey } from './app-requests.ts';
import { readJsonBody } from './json-body.ts';

export interface CheckpointRouteDeps extends AppGuardDeps {
  callCheckpoints: CallCheckpoints;
  log: Logger;
}

/** The result of one of several checkpoints: the same as the response to a single one. */
export interface CheckpointResult {
  status: number;
  code: string;
  message: string;
}

const callCheckpointSchema = z.looseObject({
  run_id: z.string().regex(ID_PATTERN, 'the ID of a run').optional(),
  qi_id: z.string(),
  steps: z.array(z.unknown()),
});

const groupedCheckpointSchema = z.looseObject({ run_id: z.string().regex(ID_PATTERN, 'the ID of a run') });
/** Maximum number of checkpoints in a request. Clients send fewer together. */
const CHECKPOINTS_MAX = 100;

const checkpointGroupSchema = z.looseObject({ checkpoints: z.array(z.unknown()).min(1).max(CHECKPOINTS_MAX) });

const ROUTE = '/v1/checkpoint/:run_id/async';
const GROUP_ROUTE = '/v1/checkpoints';

export function checkpointRoutes(router: Router, publicUrl: string | undefined, deps: CheckpointRouteDeps): void {
  router.post(ROUTE, (ctx) => respond(ctx, ctx.params.run_id, publicUrl, deps));
  router.post(GROUP_ROUTE, (ctx) => respondToGroup(ctx, publicUrl, deps));
}

/** Fast paths of checkpoints: apps send one for every step, or for the steps that end together. */
export function fastCheckpointRoutes(publicUrl: string | undefined, deps: CheckpointRouteDeps): FastRoute[] {
  return [
    {
      path: /^\/v1\/checkpoint\/([0-7][0-9A-HJKMNP-TV-Z]{25})\/async$/,
      route: ROUTE,
      respond: (ctx, runId) => respond(ctx, runId, publicUrl, deps),
    },
    { path: /^\/v1\/(checkpoints)$/, route: GROUP_ROUTE, respond: (ctx) => respondToGroup(ctx, publicUrl, deps) },
  ];
}

async function respond(
  ctx: Context,
  runId: string,
  publicUrl: string | undefined,
  deps: CheckpointRouteDeps,
): Promise<void> {
  requireCredentials(ctx, deps);
  // Not every SDK names its environment in the headers, but the queue item does.
  const authenticate = (env: string) => requireSigningKey(ctx, env, deps);
  await storeCheckpoint(runId, await readCheckpoint(ctx), authenticate, deps.callCheckpoints);
  respondWithJson(ctx, publicUrl, {});
}

async function respondToGroup(ctx: Context, publicUrl: string | undefined, deps: CheckpointRouteDeps): Promise<void> {
  requireCredentials(ctx, deps);
  const { checkpoints } = validate(checkpointGroupSchema, await readCheckpoint(ctx), 'field');
  // The key is checked before anything is stored, so that an app with a rotated key can send all checkpoints again.
  for (const env of environmentsOf(checkpoints)) await requireSigningKey(ctx, env, deps);
  const store = async (checkpoint: unknown) => {
    const { run_id } = validate(groupedCheckpointSchema, checkpoint, 'field');
    await storeCheckpoint(run_id, checkpoint, () => {}, deps.callCheckpoints);
  };
  const results = await Promise.all(checkpoints.map((checkpoint) => resultOf(() => store(checkpoint), deps.log)));
  respondWithJson(ctx, publicUrl, { results });
}

function environmentsOf(checkpoints: readonly unknown[]): Set<string> {
  const envs = new Set<string>();
  for (const checkpoint of checkpoints) {
    const { qi_id } = (checkpoint ?? {}) as { qi_id?: unknown };
    const item = typeof qi_id === 'string' ? decodeQueueItem(qi_id) : undefined;
    if (item) envs.add(item.env);
  }
  return envs;
}

/** Never rejects. */
export async function resultOf(store: () => Promise<void>, log: Logger): Promise<CheckpointResult> {
  try {
    await store();
    return { status: 200, code: '', message: '' };
  } catch (thrown) {
    const { status, code, message, cause } = serviceErrorOf(thrown);
    if (status >= 500) log.error({ code, err: code === 'internal' ? cause : String(cause) }, message);
    return { status, code, message };
  }
}

/** @param authenticate throws unless the app is of the environment
 *  @throws ServiceError credentials_invalid, input_invalid, not_found, run_ended, call_superseded */
export async function storeCheckpoint(
  runId: string,
  body: unknown,
  authenticate: (env: string) => void | Promise<void>,
  callCheckpoints: CallCheckpoints,
): Promise<void> {
  const { qi_id, steps } = validate(callCheckpointSchema, body, 'field');
  const item = decodeQueueItem(qi_id);
  if (!item) throw new ServiceError('input_invalid', { detail: 'qi_id is not of a call; send back ctx.qi_id' });
  await authenticate(item.env);
  await storeOperations(steps, hasRun, (ops) => callCheckpoints.store(runId, item, ops));
}

/** @throws ServiceError body_too_large, body_not_json, input_invalid */
export function readCheckpoint(ctx: Context): Promise<unknown> {
  return readJsonBody(ctx, MAX_RESPONSE_BYTES);
}

/** @throws ServiceError input_invalid */
export function operationsIn(steps: unknown[]): Op[] {
  const { ops, refused } = parseOps(steps);
  if (refused) throw refusal(refused);
  return ops;
}

/** Stores the operations. If an operation is rejected, the steps that ran are still stored, so that they never run again.
 *  @param isStep whether the operation reports a step that ran
 *  @throws ServiceError input_invalid, and what `store` throws */
export async function storeOperations(
  steps: unknown[],
  isStep: (op: Op) => boolean,
  store: (ops: Op[]) => Promise<void>,
): Promise<void> {
  const { ops, refused } = parseOps(steps);
  if (!refused) return store(ops);
  const ran = ops.filter(isStep);
  if (ran.length > 0) await store(ran);
  throw refusal(refused);
}

function refusal({ message }: OpsProblem): ServiceError {
  return new ServiceError('input_invalid', { detail: message });
}
