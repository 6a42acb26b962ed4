/** Checks SECRET_KEY when a web process starts, and re-encrypts the stored secrets after SECRET_KEY has changed. */
import { setTimeout } from 'node:timers/promises';
import { type Config, ConfigError } from '../../config.ts';
import type { Logger } from '../../log.ts';
import { ready } from '../../store/redis/connection/connection.ts';
import type { Store } from '../../store/store.ts';

const RETRY_MS = 500;

/** Retries until Redis answers.
 *  @throws ConfigError if the key does not decrypt the stored secrets */
export async function claimSecretKey(
  { redis, secretKeyCheck }: Pick<Store, 'redis' | 'secretKeyCheck'>,
  log: Logger,
): Promise<void> {
  let logged: string | undefined;
  for (;;) {
    await ready(redis);
    try {
      await secretKeyCheck.claim();
      const webhooks = await secretKeyCheck.unreadableWebhooks();
      if (webhooks !== undefined) {
        log.error(
          { webhooks },
          'SECRET_KEY does not decrypt the secrets of these webhooks: set SECRET_KEY_FALLBACK to the previous key, or save their secrets again',
        );
      }
      return;
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      const { message } = error as Error;
      if (message !== logged) {
        log.warn({ err: message }, 'cannot check whether SECRET_KEY decrypts the stored secrets; retrying');
      }
      logged = message;
      await setTimeout(RETRY_MS, undefined, { ref: false });
    }
  }
}

export async function reencryptSecrets(
  { secretKeyFallback }: Config,
  { secretKeyCheck }: Pick<Store, 'secretKeyCheck'>,
  log: Logger,
): Promise<void> {
  if (secretKeyFallback === undefined) return;
  try {
    const count = await secretKeyCheck.reencrypt();
    log.info(
      { count },
      're-encrypted the secrets with SECRET_KEY; unset SECRET_KEY_FALLBACK once all processes have restarted',
    );
  } catch (error) {
    log.error(
      { err: (error as Error).message },
      'cannot re-encrypt the secrets: keep SECRET_KEY_FALLBACK and restart the process',
    );
  }
}
