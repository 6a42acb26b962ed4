/** Every key in Redis. Each room declares its own, and what docs/redis.md says of them. */
import { APP_KEY_DECLARATIONS, appKeys } from '../apps/keys.ts';
import { AUTH_KEY_DECLARATIONS, authKeys } from '../auth/keys.ts';
import { CONNECT_KEY_DECLARATIONS, connectKeys } from '../connect/keys.ts';
import { ENVIRONMENT_KEY_DECLARATIONS, environmentKeys } from '../environments/keys.ts';
import { EVENT_KEY_DECLARATIONS, eventKeys } from '../events/keys.ts';
import { REALTIME_KEY_DECLARATIONS, realtimeKeys } from '../realtime/keys.ts';
import { RUN_KEY_DECLARATIONS, runKeys } from '../runs/keys.ts';
import { TELEMETRY_KEY_DECLARATIONS, telemetryKeys } from '../telemetry/keys.ts';
import { WEBHOOK_KEY_DECLARATIONS, webhookKeys } from '../webhooks/keys.ts';
import type { KeyDeclaration } from './key-declaration.ts';
import { SHARED_KEY_DECLARATIONS, sharedKeys } from './shared-keys.ts';

export type Keyspace = ReturnType<typeof keyspace>;

export function keyspace(prefix: string) {
  return {
    ...eventKeys(prefix),
    ...runKeys(prefix),
    ...appKeys(prefix),
    ...connectKeys(prefix),
    ...environmentKeys(prefix),
    ...webhookKeys(prefix),
    ...authKeys(prefix),
    ...telemetryKeys(prefix),
    ...realtimeKeys(prefix),
    ...sharedKeys(prefix),
  };
}

/** As docs/redis.md shows them. */
export const KEY_DECLARATIONS_BY_ROOM = {
  events: EVENT_KEY_DECLARATIONS,
  runs: RUN_KEY_DECLARATIONS,
  apps: APP_KEY_DECLARATIONS,
  connect: CONNECT_KEY_DECLARATIONS,
  environments: ENVIRONMENT_KEY_DECLARATIONS,
  webhooks: WEBHOOK_KEY_DECLARATIONS,
  auth: AUTH_KEY_DECLARATIONS,
  telemetry: TELEMETRY_KEY_DECLARATIONS,
  realtime: REALTIME_KEY_DECLARATIONS,
  shared: SHARED_KEY_DECLARATIONS,
};

/** First words of the keys that belong to one environment and are deleted with it (environment-data.ts): `<word>:<env>…`. */
export const ENVIRONMENT_KEY_WORDS: readonly string[] = [
  ...new Set(
    Object.values(KEY_DECLARATIONS_BY_ROOM)
      .flatMap((declarations): KeyDeclaration[] => Object.values(declarations))
      .filter(({ pattern, type }) => pattern.split(':')[1] === '<env>' && type !== 'channel')
      .map(({ pattern }) => pattern.slice(0, pattern.indexOf(':'))),
  ),
];
