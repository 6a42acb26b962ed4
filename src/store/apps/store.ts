/** Apps: their registrations and functions, and problems with the functions' expressions. */
import { Sealer } from '../../model/auth/seal.ts';
import type { StoreContext } from '../store-context.ts';
import { AllowedOrigins } from './allowed-origins.ts';
import { AppVersions } from './app-versions.ts';
import { Apps } from './apps.ts';
import { AskedRegistrations } from './asked-registrations.ts';
import { Deploys } from './deploys.ts';
import { Destinations } from './destinations.ts';
import { ExpressionProblems } from './expression-problems.ts';
import { Functions } from './functions.ts';
import { HeldRegistrations } from './held-registrations.ts';
import { MissedTickLog } from './missed-ticks.ts';
import { TriggerHistory } from './trigger-history.ts';

export function createAppStore({ redis, keys, config }: StoreContext) {
  const triggerHistory = new TriggerHistory(redis, keys, { retentionMs: config.hotTtlMs });
  const functions = new Functions(redis, keys, { history: triggerHistory });
  const sealer = new Sealer(config.secretKey, config.secretKeyFallback);
  return {
    apps: new Apps(redis, keys),
    allowedOrigins: new AllowedOrigins(redis, keys),
    askedRegistrations: new AskedRegistrations(redis, keys),
    heldRegistrations: new HeldRegistrations(redis, keys),
    functions,
    destinations: new Destinations({ functions, sealer }),
    appVersions: new AppVersions(redis, keys),
    deploys: new Deploys(redis, keys, config),
    expressionProblems: new ExpressionProblems(redis, keys),
    triggerHistory,
    missedTicks: new MissedTickLog(redis, keys, { retentionMs: config.retentionMs }),
  };
}
