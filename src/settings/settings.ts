/** All settings: their types, defaults and meanings. `node scripts/docs.ts` writes docs/settings.md and
 *  .env.example from them. */
import { credentials, singleSignOn } from './access.ts';
import { archive, outbox } from './archive.ts';
import { calls, connect, outbound } from './calls.ts';
import { events, webhooks } from './events.ts';
import { alerts, metrics, realtime } from './monitoring.ts';
import { quotas } from './quotas.ts';
import { backpressure, redis } from './redis.ts';
import { service, shutdown } from './service.ts';

/** Values of these settings are never shown (display.ts). */
export const SECRET_SETTINGS: ReadonlySet<string> = new Set([
  'EVENT_KEYS',
  'SECRET_KEY',
  'SECRET_KEY_FALLBACK',
  'ADMIN_PASSWORD',
  'API_KEY',
  'SIGNING_KEY',
  'SIGNING_KEY_FALLBACK',
  'METRICS_TOKEN',
  'OIDC_CLIENT_SECRET',
  'OIDC_PROVIDERS',
]);

/** Every variable that the service reads. */
export const SETTINGS = {
  ...service,
  ...redis,
  ...archive,
  ...outbox,
  ...backpressure,
  ...credentials,
  ...singleSignOn,
  ...events,
  ...webhooks,
  ...calls,
  ...connect,
  ...outbound,
  ...quotas,
  ...realtime,
  ...alerts,
  ...shutdown,
  ...metrics,
};

/** The same by topic: docs/settings.md and .env.example have a heading for each. */
export const SETTING_GROUPS = {
  Service: service,
  Redis: redis,
  Archive: archive,
  Outbox: outbox,
  Backpressure: backpressure,
  Credentials: credentials,
  'Single sign-on': singleSignOn,
  Events: events,
  Webhooks: webhooks,
  'Function calls': calls,
  'Apps that connect': connect,
  'Outbound addresses': outbound,
  Quotas: quotas,
  Realtime: realtime,
  Alerts: alerts,
  Shutdown: shutdown,
  Metrics: metrics,
} satisfies Record<string, Partial<typeof SETTINGS>>;
