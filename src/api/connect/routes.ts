/** `/v0/connect`: tells an app where to open its WebSocket, and accepts replies that a WebSocket has lost. Bodies have the
 *  format of the WebSocket's messages, protobuf or JSON (docs/protocol.md#connect). */

import type { Config, Quotas } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import type { Message } from '../../functions/connect/codec.ts';
import { formatOfContentType } from '../../functions/connect/formats.ts';
import { FlushResponse, Reply, StartRequest, StartResponse } from '../../functions/connect/messages.ts';
import { dialectOf } from '../../functions/headers.ts';
import { keyFingerprint as fingerprintOf } from '../../functions/signing.ts';
import { newId } from '../../model/ids.ts';
import { machineTime } from '../../model/values/clock.ts';
import type { Store } from '../../store/store.ts';
import { type AppGuardDeps, appGuard, environmentOfApp, existingEnvironment } from '../apps/app-requests.ts';
import { readBody } from '../http/body.ts';
import type { Context, Router } from '../http/router.ts';
import { GATEWAY_PATH, type Gateway, gatewayClosing } from './gateway.ts';
import { storeReply } from './gateway-connection.ts';
import { FRAME_MAX_BYTES } from './limits.ts';

const START_MAX_BYTES = 16_384;
/** Instances can exclude gateways by group. All processes form one group, because a load balancer chooses among them. */
const GROUP = 'default';

export interface ConnectRouteDeps
  extends AppGuardDeps,
    Pick<Store, 'connectSessions' | 'connections' | 'connectCalls'> {
  gateway: Pick<Gateway, 'isDraining' | 'open'>;
  publicUrl: string | undefined;
  connect: Pick<Config['connect'], 'gatewayUrl' | 'connections'>;
  quotas: Pick<Quotas, 'branches'>;
}

export function connectRoutes(router: Router, deps: ConnectRouteDeps): void {
  const { environments, quotas, connectSessions: sessions, connections, connectCalls: calls } = deps;
  const connectionsMax = deps.connect.connections;
  const guard = appGuard(deps);

  router.get(GATEWAY_PATH, (ctx) => deps.gateway.open(ctx));

  router.post('/v0/connect/start', guard, async (ctx) => {
    if (deps.gateway.isDraining) {
      throw gatewayClosing();
    }
    await read(ctx, StartRequest, START_MAX_BYTES);
    const env = await environmentOfApp(ctx, environments, quotas.branches);
    if ((await connections.count(env, machineTime())) >= connectionsMax) {
      throw new ServiceError('too_many_connections', { detail: `CONNECTIONS_MAX is ${connectionsMax}` });
    }
    const connectionId = newId();
    const dialect = dialectOf(ctx.req.headers) ?? 'inngest';
    const key = ctx.state.proven?.signingKey;
    const keyFingerprint = key === undefined ? undefined : fingerprintOf(key);
    const sessionToken = await sessions.create({ env, connectionId, dialect, keyFingerprint });
    respond(ctx, StartResponse, {
      connectionId,
      gatewayEndpoint: endpointOf(ctx, deps),
      gatewayGroup: GROUP,
      sessionToken,
      syncToken: sessionToken,
    });
  });

  router.post('/v0/connect/flush', guard, async (ctx) => {
    const reply = await read(ctx, Reply, FRAME_MAX_BYTES);
    await storeReply(await existingEnvironment(ctx, environments), reply, calls);
    respond(ctx, FlushResponse, { requestId: reply.requestId });
  });
}

function endpointOf({ req, secure }: Context, { connect: { gatewayUrl }, publicUrl }: ConnectRouteDeps): string {
  if (gatewayUrl !== undefined) return gatewayUrl;
  if (publicUrl !== undefined) return publicUrl.replace(/^http/, 'ws') + GATEWAY_PATH;
  return `${secure ? 'wss' : 'ws'}://${req.headers.host ?? 'localhost'}${GATEWAY_PATH}`;
}

/** @throws ServiceError body_invalid, body_too_large */
async function read<Value>(ctx: Context, message: Message<Value>, maxBytes: number): Promise<Value> {
  const body = await readBody(ctx.req, maxBytes);
  try {
    return formatOf(ctx).readBody(message, body);
  } catch (cause) {
    const detail = `the body is not the message of this route: ${(cause as Error).message}`;
    throw new ServiceError('body_invalid', { detail, cause });
  }
}

function respond<Value>(ctx: Context, message: Message<Value>, value: Partial<Value>): void {
  const format = formatOf(ctx);
  ctx.type = format.contentType;
  ctx.body = format.body(message, value);
}

function formatOf({ req }: Context) {
  return formatOfContentType(req.headers['content-type']);
}
