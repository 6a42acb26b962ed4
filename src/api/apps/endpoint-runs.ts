/** Runs of endpoints (docs/protocol.md#endpoints): an app creates the run of a request, and stores its steps. The official SDKs use two
 *  sets of paths for this. */
import { z } from 'zod';
import type { Quotas } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { appUuid, functionUuid } from '../../functions/call-ids.ts';
import { dialectOf, headerName, SERVER_SDK } from '../../functions/headers.ts';
import type { Acceptor } from '../../jobs/acceptance/acceptor.ts';
import type { FunctionTables } from '../../jobs/functions/function-tables.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import { type EndpointOrigins, endpointRemedy } from '../../jobs/runs/calls/endpoint-origins.ts';
import type { Endpoints } from '../../jobs/runs/calls/endpoints.ts';
import type { AppFunction, EndpointProtocol } from '../../model/apps/app.ts';
import { ID_PATTERN, timeOf } from '../../model/ids.ts';
import {
  endpointNames,
  endpointRequestOf,
  HANDLER_END,
  HTTP_REQUEST,
  requestSchema,
} from '../../model/runs/endpoint.ts';
import { isReturned } from '../../model/runs/operation.ts';
import { DEFAULT_RETRIES } from '../../model/runs/retry.ts';
import { DAY_MS } from '../../model/values/time.ts';
import type { EventLimit } from '../../store/environments/event-limits.ts';
import type { Store } from '../../store/store.ts';
import type { Context, Router } from '../http/router.ts';
import { validate } from '../http/validation.ts';
import { type AppGuardDeps, appGuard, environmentOfApp } from './app-requests.ts';
import { operationsIn, readCheckpoint, storeOperations } from './checkpoint.ts';
import type { ResponseTokens } from './response-tokens.ts';

export interface EndpointRouteDeps extends AppGuardDeps, Pick<Store, 'functions' | 'eventLimits'> {
  endpoints: Endpoints;
  functionTables: FunctionTables;
  endpointOrigins: EndpointOrigins;
  acceptor: Acceptor;
  backpressure: Backpressure;
  quotas: Quotas;
}

/** Allowed difference between the time in a run's ID and now: the app creates the ID from the time at which it received the request. */
const CLOCK_SKEW_MS = DAY_MS;

const runSchema = z.looseObject({
  run_id: z.string().regex(ID_PATTERN, 'a ULID'),
  event: z.looseObject({ data: requestSchema }),
  steps: z.array(z.unknown()).nullish(),
  retries: z.int().min(0).max(20).nullish(),
});
const stepsSchema = z.looseObject({ steps: z.array(z.unknown()) });
const responseSchema = z.looseObject({ result: z.unknown() });

export function endpointRunRoutes(router: Router, responseTokens: ResponseTokens, deps: EndpointRouteDeps): void {
  const guard = appGuard(deps);
  const { endpoints, environments, quotas, acceptor } = deps;
  const envOf = (ctx: Context) => environmentOfApp(ctx, environments, quotas.branches);

  const create = (kind: EndpointProtocol) => async (ctx: Context) => {
    deps.backpressure.admit();
    const text = await readCheckpoint(ctx);
    const { run_id: runId, event, steps, retries } = validate(runSchema, text, 'field');
    const ops = operationsIn(steps ?? []);
    const nowMs = Date.now();
    if (Math.abs(timeOf(runId) - nowMs) > CLOCK_SKEW_MS) {
      throw new ServiceError('input_invalid', { detail: 'the time in run_id is more than a day from now' });
    }
    const data = kind === 'signed-run-id' ? withTextBody(event.data) : event.data;
    endpointRequestOf(data);
    const env = await envOf(ctx);
    await rejectUnknownOrigin(env, data);
    rejectLarge(data, deps.eventLimits.of(env));
    const fn = functionOf(data, ctx, {
      kind,
      retries: retries ?? (kind === 'signed-run-id' ? 0 : DEFAULT_RETRIES),
    });
    await register(env, fn, ctx);
    const { requestId } = ctx.state;
    await acceptor.writeDurably(() =>
      endpoints.start({ env, runId, fn, event: { name: HTTP_REQUEST, data }, requestId }, nowMs),
    );
    if (ops.length > 0) await endpoints.store(env, runId, ops);
    ctx.status = 201;
    ctx.body = {
      data: {
        fn_id: functionUuid(env, fn.id),
        app_id: appUuid(env, fn.app),
        run_id: runId,
        ...responseTokens.of(env, runId, nowMs),
      },
    };
  };

  const store = async (ctx: Context & { params: { run_id: string } }) => {
    const { steps } = validate(stepsSchema, await readCheckpoint(ctx), 'field');
    const env = await envOf(ctx);
    await storeOperations(steps, isReturned, (ops) => endpoints.store(env, ctx.params.run_id, ops));
    ctx.body = {};
  };

  const respond = async (ctx: Context & { params: { run_id: string } }) => {
    const { result } = validate(responseSchema, await readCheckpoint(ctx), 'field');
    const op = { id: HANDLER_END, op: 'RunComplete', data: result ?? null };
    await endpoints.store(await envOf(ctx), ctx.params.run_id, operationsIn([op]));
    ctx.body = {};
  };

  router.post('/v1/checkpoint', guard, create('signed-body'));
  router.post('/v1/http/runs', guard, create('signed-run-id'));
  for (const prefix of ['/v1/checkpoint', '/v1/http/runs'] as const) {
    router.post(`${prefix}/:run_id/steps`, guard, store);
    router.post(`${prefix}/:run_id/response`, guard, respond);
  }

  /** @throws ServiceError endpoint_origin_unknown */
  async function rejectUnknownOrigin(env: string, data: z.infer<typeof requestSchema>): Promise<void> {
    if (await deps.endpointOrigins.allows(env, data.domain)) return;
    throw new ServiceError('endpoint_origin_unknown', { detail: endpointRemedy(data.domain) });
  }

  /** Registers an endpoint with its first request. The function belongs to no app, because its host is whatever the client wrote. */
  async function register(env: string, fn: AppFunction, ctx: Context): Promise<void> {
    ctx.set(headerName(fn.dialect, 'sdk'), SERVER_SDK);
    const known = (await deps.functionTables.of(env)).find(fn.id);
    if (
      known &&
      !known.archived &&
      known.endpoint === fn.endpoint &&
      known.retries === fn.retries &&
      known.app === fn.app
    )
      return;
    await deps.functions.putEndpoint(env, fn, quotas.functions);
  }
}

function functionOf(
  data: z.infer<typeof requestSchema>,
  { req }: Context,
  { kind, retries }: { kind: EndpointProtocol; retries: number },
): AppFunction {
  const { app, id, name } = endpointNames(data);
  // Only the official SDKs have endpoints, and the Go SDK sends no header of its dialect.
  const dialect = dialectOf(req.headers) ?? 'inngest';
  const url = new URL(data.path, data.domain).href;
  const shared = { id, name, app, url, dialect, retries, triggers: [], cancel: [], archived: false, config: {} };
  return { ...shared, endpoint: kind };
}

/** @throws ServiceError body_too_large */
function rejectLarge(data: object, { bytes, remedy }: EventLimit): void {
  const size = Buffer.byteLength(JSON.stringify(data));
  if (size <= bytes) return;
  const detail = `the request has ${size} bytes as an event, and the limit is ${bytes}; ${remedy}`;
  throw new ServiceError('body_too_large', { detail, facts: { limit_bytes: bytes } });
}

/** The official Go SDK sends the body of the request in Base64. */
function withTextBody(data: z.infer<typeof requestSchema>): z.infer<typeof requestSchema> {
  return data.body ? { ...data, body: Buffer.from(data.body, 'base64').toString('utf8') } : data;
}
