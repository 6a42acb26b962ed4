/** Remembers the first body received under an ID, for providers whose signature covers the ID but not all of the body. */
import { hash } from 'node:crypto';
import { Repository } from '../redis/repository.ts';

export class Transmissions extends Repository {
  /** @param forMs how long the provider's signature is valid
   *  @returns whether the ID is new, or was received with the same body */
  async claim(webhookId: string, id: string, body: Buffer, forMs: number): Promise<boolean> {
    const key = this.keys.webhookTransmission(webhookId, hash('sha256', id));
    const digest = hash('sha256', body);
    const former = await this.redis.set(key, digest, 'PX', forMs, 'NX', 'GET');
    return former === null || former === digest;
  }
}
