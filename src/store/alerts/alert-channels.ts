/** Alert channels of environments. Their secrets are sealed. */
import { notFound, ServiceError } from '../../errors.ts';
import type { AlertChannel, ChannelSecrets } from '../../model/alerts/channel.ts';
import type { Sealer } from '../../model/auth/seal.ts';
import { changeField } from '../redis/changed-field.ts';
import { Repository } from '../redis/repository.ts';

export const ALERT_CHANNELS_MAX = 20;

export class AlertChannels extends Repository<Repository['redis'], { sealer: Sealer }> {
  /** Sorted by name. */
  async all(env: string): Promise<AlertChannel[]> {
    const texts = await this.redis.hvals(this.keys.alertChannels(env));
    return texts.map((text) => JSON.parse(text) as AlertChannel).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** @throws ServiceError not_found */
  async read(env: string, name: string): Promise<AlertChannel> {
    const text = await this.redis.hget(this.keys.alertChannels(env), name);
    if (text === null) throw notFound('alert channel', name);
    return JSON.parse(text) as AlertChannel;
  }

  /** @throws ServiceError alert_channel_exists, quota_exceeded */
  async create(env: string, channel: AlertChannel): Promise<void> {
    const place = { key: this.keys.alertChannels(env), field: channel.name, fieldsMax: ALERT_CHANNELS_MAX };
    const isSaved = await changeField(this.redis, place, (present) => {
      if (present === undefined) return JSON.stringify(channel);
      throw new ServiceError('alert_channel_exists', { detail: `"${channel.name}" is an alert channel of ${env}` });
    });
    if (isSaved) return;
    const detail = `The environment has ${ALERT_CHANNELS_MAX} alert channels. Delete some that are no longer used`;
    throw new ServiceError('quota_exceeded', { detail });
  }

  /** Changes a channel atomically.
   *  @param change may be called several times
   *  @throws ServiceError not_found */
  async change(env: string, name: string, change: (before: AlertChannel) => AlertChannel): Promise<void> {
    await changeField(this.redis, { key: this.keys.alertChannels(env), field: name }, (text) => {
      if (text === undefined) throw notFound('alert channel', name);
      return JSON.stringify(change(JSON.parse(text) as AlertChannel));
    });
  }

  /** @throws ServiceError not_found */
  async remove(env: string, name: string): Promise<void> {
    if ((await this.redis.hdel(this.keys.alertChannels(env), name)) === 0) throw notFound('alert channel', name);
  }

  seal(env: string, name: string, secrets: ChannelSecrets): string {
    return this.deps.sealer.seal(JSON.stringify(secrets), locationOf(env, name));
  }

  /** @throws SealError if SECRET_KEY has changed */
  secretsOf(env: string, { name, sealed }: AlertChannel): ChannelSecrets {
    if (sealed === undefined) return {};
    return JSON.parse(this.deps.sealer.open(sealed, locationOf(env, name))) as ChannelSecrets;
  }

  /** Re-encrypts, with the current key, what the fallback encrypted. What neither key decrypts stays unchanged.
   *  @returns number of channels */
  async reencrypt(env: string): Promise<number> {
    let count = 0;
    for (const { name, sealed } of await this.all(env)) {
      if (sealed === undefined || this.deps.sealer.isCurrent(sealed)) continue;
      await this.change(env, name, ({ sealed: latest, ...rest }) => ({
        ...rest,
        ...(latest && { sealed: this.deps.sealer.reencrypted(latest, locationOf(env, name)) }),
      }));
      count++;
    }
    return count;
  }
}

function locationOf(env: string, name: string): string {
  return `alert-channel:${env}:${name}`;
}
