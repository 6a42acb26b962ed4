/** How the first admin comes to be: from the settings, or by a link in the start-up log. */
import { setTimeout } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import type { Logger } from '../../log.ts';
import type { Store } from '../../store/store.ts';
import { Accounts } from './accounts.ts';

const TRY_AGAIN_MS = 1_000;

/** Goes on until Redis has answered. Every web process writes a link of its own; all are void once there is a user.
 *  @param address of the service, as whoever reads the log can reach it */
export async function prepareFirstAdmin(config: Config, store: Store, address: string, log: Logger): Promise<void> {
  if (config.dev) return;
  for (;;) {
    try {
      return await prepare(config, store, address, log);
    } catch (error) {
      log.warn({ err: (error as Error).message }, 'cannot see yet whether there is an admin');
      await setTimeout(TRY_AGAIN_MS, undefined, { ref: false });
    }
  }
}

async function prepare({ admin }: Config, store: Store, address: string, log: Logger): Promise<void> {
  if (await store.users.any()) return;
  if (admin) {
    const made = await new Accounts(store).createFirst(admin.email, admin.password);
    if (made) log.info({ user_id: made.id }, 'made the first admin from ADMIN_EMAIL and ADMIN_PASSWORD');
    return;
  }
  const token = await store.oneTimeTokens.create({ purpose: 'set-up' });
  log.warn(
    { link: `${address}/set-up?token=${token}` },
    'nobody can sign in yet: open the link to become the first admin',
  );
}
