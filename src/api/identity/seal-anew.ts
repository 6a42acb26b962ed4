/** After a change of SECRET_KEY: what the former one sealed is sealed under the new one, so that the former can be forgotten. */
import type { Config } from '../../config.ts';
import type { Logger } from '../../log.ts';
import type { Store } from '../../store/store.ts';

export async function sealAnew({ secretKeyFallback }: Config, store: Store, log: Logger): Promise<void> {
  if (secretKeyFallback === undefined) return;
  try {
    const count = await store.signingKeys.sealAnew();
    log.info({ count }, 'sealed anew under SECRET_KEY; when all processes have started so, unset SECRET_KEY_FALLBACK');
  } catch (error) {
    log.error({ err: (error as Error).message }, 'not sealed anew: keep SECRET_KEY_FALLBACK and start again');
  }
}
