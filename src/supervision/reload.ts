/** SIGUSR2 replaces the processes of a group. SIGHUP is not used: a terminal that closes sends it. */
import type { Logger } from '../log.ts';

/** @param reload resolves to whether all were replaced */
export function reloadOnSignal(reload: () => Promise<boolean>, log: Logger): void {
  let isReloading = false;
  /** Another signal arrived in the meantime: processes that were already replaced may not have the newest version. */
  let isAskedAgain = false;
  process.on('SIGUSR2', async () => {
    if (isReloading) {
      isAskedAgain = true;
      return;
    }
    isReloading = true;
    do {
      isAskedAgain = false;
      log.info('replacing all processes, one after another');
      if (await reload()) log.info('all processes are replaced');
      else log.error('not all processes are replaced');
    } while (isAskedAgain);
    isReloading = false;
  });
}
