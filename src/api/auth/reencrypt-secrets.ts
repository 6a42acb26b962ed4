/** What a web process does about SECRET_KEY: it is not ready before it has seen that the key opens what is sealed, and after a change of it
 *  seals anew what the former one sealed. */
import { setTimeout } from 'node:timers/promises';
import { type Config, ConfigError } from '../../config.ts';
import type { Logger } from '../../log.ts';
import { ready } from '../../store/redis/connection.ts';
import type { Store } from '../../store/store.ts';

const TRY_AGAIN_MS = 500;

/** Goes on until Redis has answered.
 *  @throws ConfigError when the key does not open what is sealed there */
export async function claimSecretKey(
  { redis, secretKeyCheck }: Pick<Store, 'redis' | 'secretKeyCheck'>,
  log: Logger,
): Promise<void> {
  let told: string | undefined;
  for (;;) {
    await ready(redis);
    try {
      return await secretKeyCheck.claim();
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      const { message } = error as Error;
      if (message !== told)
        log.warn({ err: message }, 'cannot see yet whether SECRET_KEY opens what is sealed in Redis');
      told = message;
      await setTimeout(TRY_AGAIN_MS, undefined, { ref: false });
    }
  }
}

export async function reencryptSecrets({ secretKeyFallback }: Config, store: Store, log: Logger): Promise<void> {
  if (secretKeyFallback === undefined) return;
  try {
    const count = await store.secretKeyCheck.reencrypt();
    log.info({ count }, 'sealed anew under SECRET_KEY; when all processes have started so, unset SECRET_KEY_FALLBACK');
  } catch (error) {
    log.error({ err: (error as Error).message }, 'not sealed anew: keep SECRET_KEY_FALLBACK and start again');
  }
}
