/** Alerts: their rules, their channels, and their state. */
import { Sealer } from '../../model/auth/seal.ts';
import type { StoreContext } from '../store-context.ts';
import { AlertBooks } from './alert-books.ts';
import { AlertChannels } from './alert-channels.ts';
import { AlertRules } from './alert-rules.ts';

export function createAlertStore({ redis, keys, config }: StoreContext) {
  const sealer = new Sealer(config.secretKey, config.secretKeyFallback);
  return {
    alertBooks: new AlertBooks(redis, keys),
    alertChannels: new AlertChannels(redis, keys, { sealer }),
    alertRules: new AlertRules(redis, keys),
  };
}
