/** Creates the first admin from the settings, or logs a link to create one. */
import { setTimeout } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import type { Logger } from '../../log.ts';
import type { Store } from '../../store/store.ts';
import { Accounts } from './accounts.ts';

const RETRY_MS = 1_000;

export type FirstAdminStore = Pick<Store, 'users' | 'sessions' | 'oneTimeTokens' | 'signInThrottle'>;

/** Retries until Redis answers. Every web process logs the same link, which is invalid once there is a user.
 *  @param address URL of the service, for the link */
export async function prepareFirstAdmin(
  config: Config,
  store: FirstAdminStore,
  address: string,
  log: Logger,
): Promise<void> {
  if (config.dev) return;
  for (;;) {
    try {
      return await prepare(config, store, address, log);
    } catch (error) {
      log.warn({ err: (error as Error).message }, 'cannot check whether there is an admin; retrying');
      await setTimeout(RETRY_MS, undefined, { ref: false });
    }
  }
}

async function prepare({ admin }: Config, store: FirstAdminStore, address: string, log: Logger): Promise<void> {
  if (await store.users.any()) return;
  if (admin) {
    const accounts = new Accounts(store);
    const user = await accounts.createFirst(admin.email, admin.password);
    if (user) log.info({ user_id: user.id }, 'created the first admin from ADMIN_EMAIL and ADMIN_PASSWORD');
    return;
  }
  const token = await store.oneTimeTokens.forSetUp();
  log.warn(
    { link: `${address}/set-up?token=${token}` },
    'nobody can sign in yet: open the link to create the first admin',
  );
}
