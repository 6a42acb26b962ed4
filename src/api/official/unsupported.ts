/** URLs of the official SDKs and their users that the service does not support: answered with a specific error instead of as unknown. */
import { ServiceError } from '../../errors.ts';
import { type RouteContext, Router } from '../http/router.ts';

const UNSUPPORTED: Record<string, string> = {
  '/v1/traces/userland': 'extended traces (spans of an app): set up an OpenTelemetry exporter of the app instead',
  '/v1/traces': 'extended traces (spans of an app): set up an OpenTelemetry exporter of the app instead',
  '/v1/prom/:environment': 'metrics by environment: scrape the metrics port, or read GET /v1/metrics',
  '/v0/telemetry': 'telemetry of SDKs',
  '/v0/gql': 'GraphQL: use the REST API, see /docs',
  '/v2/sandboxes{/*rest}': 'sandboxes',
  '/v2/snapshots{/*rest}': 'sandboxes',
  '/fn/remove': 'removing an app by its URL: use DELETE /v1/apps/:name',
  '/fn/step-limit': 'limits by function',
  '/fn/state-size-limit': 'limits by function',
};

/** Mounted last, behind the guard. */
export function unsupportedRoutes(): Router {
  const router = new Router();
  for (const [path, feature] of Object.entries(UNSUPPORTED)) {
    router.on('all', path, (ctx: RouteContext) => {
      throw new ServiceError('feature_unsupported', { detail: `${ctx.method} ${ctx.path} is for ${feature}` });
    });
  }
  return router;
}
