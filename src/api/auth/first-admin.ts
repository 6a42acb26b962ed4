/** Creates the first admin from the settings, or logs a link to create one. */
import { setTimeout } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import type { Logger } from '../../log.ts';
import type { Store } from '../../store/store.ts';
import { Accounts } from './accounts.ts';

const RETRY_MS = 1_000;

export type FirstAdminStore = Pick<Store, 'users' | 'oneTimeTokens' | 'signInThrottle'>;

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

async function prepare(config: Config, store: FirstAdminStore, address: string, log: Logger): Promise<void> {
  const { admin, passwordSignIn } = config;
  const isNeeded = passwordSignIn ? !(await store.users.any()) : !(await hasAdminWithPassword(store));
  if (!isNeeded) return;
  if (admin) {
    const { users, oneTimeTokens, signInThrottle } = store;
    const accounts = new Accounts({ config, users, oneTimeTokens, signInThrottle });
    const user = await accounts[passwordSignIn ? 'createFirst' : 'createAdmin'](admin.email, admin.password);
    if (user) log.info({ user_id: user.id }, 'created the admin of ADMIN_EMAIL and ADMIN_PASSWORD');
    return;
  }
  if (await store.users.any()) {
    log.warn('no admin can sign in while the provider of single sign-on is away: set ADMIN_EMAIL and ADMIN_PASSWORD');
    return;
  }
  const token = await store.oneTimeTokens.forSetUp();
  log.warn(
    { link: `${address}/set-up?token=${token}` },
    'nobody can sign in yet: open the link to create the first admin',
  );
}

async function hasAdminWithPassword({ users }: FirstAdminStore): Promise<boolean> {
  const all = await users.all();
  return all.some(({ role, password, identities }) => role === 'admin' && password && !identities);
}
