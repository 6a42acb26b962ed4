/** A webhook of a provider (Standard Webhooks): it signs with the newest two secrets while they are rotated. Others forge its requests. */
import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Service } from '../service.ts';
import { everyMs } from './periodic.ts';

export const SIGNED = 'chaos/signed';
/** No event may have this name. */
export const FORGED = 'chaos/forged';

const TRANSFORM = `function transform(evt) { return { name: evt.type, data: {} }; }`;
/** A web process that is stopped, or without Redis, misses no two rotations. */
const ROTATE_EVERY_MS = 20_000;
const RETRY_MS = 500;
const KEEP_OLD_SECONDS = 3_600;

export class SignedWebhook {
  readonly id: string;
  readonly path: string;
  /** Different deliveries. */
  acknowledged = 0;
  /** Attempts of forged requests. */
  forgeries = 0;
  rotations = 0;
  /** Responses with 200 to forged requests. */
  readonly accepted: string[] = [];
  readonly #service: Service;
  /** The newest first. */
  #secrets: readonly string[];

  constructor(service: Service, id: string, path: string, secret: string) {
    this.#service = service;
    this.id = id;
    this.path = path;
    this.#secrets = [secret];
  }

  static async create(service: Service): Promise<SignedWebhook> {
    const secret = newSecret();
    const input = { name: 'signed', provider: 'standard-webhooks', secrets: [secret], transform: TRANSFORM };
    const { id, url } = await service.post<{ id: string; url: string }>('/v1/webhooks', input);
    return new SignedWebhook(service, id, new URL(url).pathname, secret);
  }

  /** Headers of an attempt. A repeated delivery has the same ID. */
  sign(id: string, body: string, isForged: boolean): Record<string, string> {
    if (isForged) this.forgeries++;
    const secrets = isForged ? [newSecret()] : this.#secrets;
    const time = String(Math.floor(Date.now() / 1_000));
    const signatures = secrets.map((secret) => `v1,${signature(secret, `${id}.${time}.${body}`)}`);
    return { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures.join(' ') };
  }

  async keepRotating(isOver: () => boolean): Promise<void> {
    await everyMs(ROTATE_EVERY_MS, isOver, () => this.#rotate(isOver));
  }

  /** Whether a lost response was a rotation is not known: the same secret is sent again, and may then count twice. */
  async #rotate(isOver: () => boolean): Promise<void> {
    const secret = newSecret();
    const [current = secret] = this.#secrets;
    while (!isOver()) {
      // Web processes learn of it one after the other, so both count from here on.
      this.#secrets = [secret, current];
      try {
        await this.#service.post(`/v1/webhooks/${this.id}/secrets`, { secret, keep_old_seconds: KEEP_OLD_SECONDS });
        this.rotations++;
        return;
      } catch {
        await setTimeout(RETRY_MS);
      }
    }
  }
}

function newSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

function signature(secret: string, content: string): string {
  return createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(content)
    .digest('base64');
}
