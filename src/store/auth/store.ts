/** Credentials and users: event keys, API keys, signing keys, users and their sessions; the audit log and the log of rejected attempts. */
import type { Config } from '../../config.ts';
import { Sealer } from '../../model/auth/seal.ts';
import type { Environments } from '../environments/environments.ts';
import type { StoreContext } from '../store-context.ts';
import { WebhookSecrets } from '../webhooks/webhook-secrets.ts';
import { ApiKeys } from './api-keys.ts';
import { ApiRateLimits, USER_RATE_LIMIT } from './api-rate-limits.ts';
import { AuditLog } from './audit-log.ts';
import { EventKeys } from './event-keys.ts';
import { IdempotentResponses } from './idempotent-responses.ts';
import { OneTimeTokens } from './one-time-tokens.ts';
import { PendingSignIns } from './pending-sign-ins.ts';
import { RejectionLog } from './rejection-log.ts';
import { SavedViews } from './saved-views.ts';
import { type Sealing, SecretKeyCheck } from './secret-key-check.ts';
import { Sessions } from './sessions.ts';
import { SignInFlows } from './sign-in-flows.ts';
import { SignInThrottle } from './sign-in-throttle.ts';
import { SigningKeys } from './signing-keys.ts';
import { TotpSecrets } from './totp-secrets.ts';
import { Users } from './users.ts';

/** @param sealing other objects with secrets in environments */
export function createAuthStore(context: StoreContext, environments: Environments, sealing: readonly Sealing[]) {
  const { redis, keys, config, cacheInvalidation } = context;
  const sealer = new Sealer(config.secretKey, config.secretKeyFallback);
  const users = new Users(redis, keys);
  const signingKeys = new SigningKeys(redis, keys, { environments, sealer, given: signingKeyOfSettings(config) });
  const totpSecrets = new TotpSecrets({ sealer, users });
  const webhookSecrets = new WebhookSecrets(redis, keys, { sealer });
  return {
    eventKeys: new EventKeys(redis, keys, { cacheInvalidation, secrets: config.eventKeys }),
    apiKeys: new ApiKeys(redis, keys, { cacheInvalidation }),
    users,
    totpSecrets,
    pendingSignIns: new PendingSignIns(redis, keys, { users }),
    sessions: new Sessions(redis, keys, { users }),
    oneTimeTokens: new OneTimeTokens(redis, keys, { sealer }),
    signInFlows: new SignInFlows(redis, keys, { sealer }),
    signInThrottle: new SignInThrottle(redis, keys),
    signingKeys,
    secretKeyCheck: new SecretKeyCheck(redis, keys, {
      sealer,
      signingKeys,
      webhookSecrets,
      totpSecrets,
      environments,
      sealing,
    }),
    auditLog: new AuditLog(redis, keys),
    rejectionLog: new RejectionLog(redis, keys),
    idempotentResponses: new IdempotentResponses(redis, keys, { sealer }),
    apiRateLimits: new ApiRateLimits(redis, keys, config.apiRateLimit),
    userRateLimits: new ApiRateLimits(redis, keys, USER_RATE_LIMIT),
    savedViews: new SavedViews(redis, keys),
  };
}

function signingKeyOfSettings({ signingKey, signingKeyFallback }: Config) {
  return signingKey === undefined ? undefined : { current: signingKey, fallback: signingKeyFallback };
}
