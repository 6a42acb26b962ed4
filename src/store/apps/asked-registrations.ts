/** Registrations for which a what-if asks a candidate. An app that answers with a request of its own would become the registered one;
 *  its request is kept here instead, and changes nothing. */
import type { Dialect } from '../../model/apps/app.ts';
import { replies } from '../redis/connection.ts';
import { Repository } from '../redis/repository.ts';

/** How long an app may take: it answers sooner or not at all. */
const ASKED_MS = 30_000;

export interface AskedRegistration {
  id: string;
  app: string;
  /** Of the candidate's URL. */
  origin: string;
}

/** `text`: JSON, not validated. */
export interface GivenRegistration {
  text: string;
  dialect: Dialect;
}

export class AskedRegistrations extends Repository {
  /** @returns a function that ends the question; it ends by itself after 30 s */
  async start(env: string, asked: AskedRegistration, nowMs: number): Promise<() => Promise<void>> {
    const key = this.keys.askedRegistrations(env);
    const entry = JSON.stringify(asked);
    const writing = this.redis
      .multi()
      .zremrangebyscore(key, '-inf', nowMs)
      .zadd(key, nowMs + ASKED_MS, entry);
    replies(await writing.pexpire(key, ASKED_MS).exec());
    return async () => void (await this.redis.zrem(key, entry));
  }

  async open(env: string, nowMs: number): Promise<AskedRegistration[]> {
    const entries = await this.redis.zrangebyscore(this.keys.askedRegistrations(env), nowMs, '+inf');
    return entries.map((entry) => JSON.parse(entry) as AskedRegistration);
  }

  async keep(id: string, given: GivenRegistration): Promise<void> {
    await this.redis.set(this.keys.givenRegistration(id), JSON.stringify(given), 'PX', ASKED_MS);
  }

  async take(id: string): Promise<GivenRegistration | undefined> {
    const text = await this.redis.getdel(this.keys.givenRegistration(id));
    return text === null ? undefined : (JSON.parse(text) as GivenRegistration);
  }
}
