/** `/v0/connect`: tells an app where to open its WebSocket, and accepts replies that a WebSocket has lost. Bodies are protobuf, like the
 *  WebSocket's messages (docs/protocol.md#connect). */
import type { Config, Quotas } from '../../config.ts';
import { ServiceError } from '../../errors.ts';
import { FlushResponse, Reply, StartRequest, StartResponse } from '../../functions/connect/messages.ts';
import { dialectOf } from '../../functions/headers.ts';
import { keyFingerprint as fingerprintOf } from '../../functions/signing.ts';
import { newId } from '../../model/ids.ts';
import type { ConnectCalls } from '../../store/connect/connect-calls.ts';
import type { Connections } from '../../store/connect/connections.ts';
import type { ConnectSessions } from '../../store/connect/sessions.ts';
import { type AppGuardDeps, appGuard, environmentOfApp, existingEnvironment } from '../apps/app-requests.ts';
import { readBody } from '../http/body.ts';
import type { Context, Router } from '../http/router.ts';
import { GATEWAY_PATH, type Gateway, gatewayClosing } from './gateway.ts';
import { storeReply } from './gateway-connection.ts';
import { FRAME_MAX_BYTES } from './limits.ts';

const START_MAX_BYTES = 16_384;
const TYPE = 'application/protobuf';
/** Instances can exclude gateways by group. All processes form one group, because a load balancer chooses among them. */
const GROUP = 'default';

export interface ConnectRouteDeps extends AppGuardDeps {
  gateway: Pick<Gateway, 'isDraining' | 'open'>;
  publicUrl: string | undefined;
  connect: Pick<Config['connect'], 'gatewayUrl' | 'connections'>;
  quotas: Pick<Quotas, 'branches'>;
  connectSessions: ConnectSessions;
  connections: Connections;
  connectCalls: ConnectCalls;
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
    decode(await readBody(ctx.req, START_MAX_BYTES), StartRequest.decode);
    const env = await environmentOfApp(ctx, environments, quotas.branches);
    if ((await connections.count(env, Date.now())) >= connectionsMax) {
      throw new ServiceError('too_many_connections', { detail: `CONNECTIONS_MAX is ${connectionsMax}` });
    }
    const connectionId = newId();
    const dialect = dialectOf(ctx.req.headers) ?? 'inngest';
    const key = ctx.state.proven?.signingKey;
    const keyFingerprint = key === undefined ? undefined : fingerprintOf(key);
    const sessionToken = await sessions.create({ env, connectionId, dialect, keyFingerprint });
    respond(
      ctx,
      StartResponse.encode({
        connectionId,
        gatewayEndpoint: endpointOf(ctx, deps),
        gatewayGroup: GROUP,
        sessionToken,
        syncToken: sessionToken,
      }),
    );
  });

  router.post('/v0/connect/flush', guard, async (ctx) => {
    const bytes = await readBody(ctx.req, FRAME_MAX_BYTES);
    const { requestId } = decode(bytes, Reply.decode);
    const env = await existingEnvironment(ctx, environments);
    await storeReply(env, requestId, bytes, calls);
    respond(ctx, FlushResponse.encode({ requestId }));
  });
}

function endpointOf({ req, secure }: Context, { connect: { gatewayUrl }, publicUrl }: ConnectRouteDeps): string {
  if (gatewayUrl !== undefined) return gatewayUrl;
  if (publicUrl !== undefined) return publicUrl.replace(/^http/, 'ws') + GATEWAY_PATH;
  return `${secure ? 'wss' : 'ws'}://${req.headers.host ?? 'localhost'}${GATEWAY_PATH}`;
}

/** @throws ServiceError body_invalid */
function decode<T>(bytes: Uint8Array, decoder: (bytes: Uint8Array) => T): T {
  try {
    return decoder(bytes);
  } catch (cause) {
    const detail = `the body is not the protobuf message of this route: ${(cause as Error).message}`;
    throw new ServiceError('body_invalid', { detail, cause });
  }
}

function respond(ctx: Context, bytes: Uint8Array): void {
  ctx.type = TYPE;
  ctx.body = Buffer.from(bytes);
}
