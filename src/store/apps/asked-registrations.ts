/** Registrations that a what-if requests from candidates. Usually an app that registers becomes the registered one. A registration that has
 *  the ID of a what-if is stored here instead, and changes nothing. */
import type { Dialect } from '../../model/apps/app.ts';
import { Repository } from '../redis/repository.ts';

/** How long an app may take: it answers sooner or not at all. */
const ASKED_MS = 30_000;

/** `text`: JSON, not validated. */
export interface GivenRegistration {
  text: string;
  dialect: Dialect;
}

export class AskedRegistrations extends Repository {
  /** @param id of the what-if */
  async start(env: string, id: string): Promise<void> {
    await this.redis.set(this.keys.givenRegistration(env, id), '', 'PX', ASKED_MS);
  }

  /** Only for a what-if that waits for it. */
  async keep(env: string, id: string, given: GivenRegistration): Promise<void> {
    await this.redis.set(this.keys.givenRegistration(env, id), JSON.stringify(given), 'PX', ASKED_MS, 'XX');
  }

  /** Ends the request.
   *  @returns its registration; undefined if none came */
  async take(env: string, id: string): Promise<GivenRegistration | undefined> {
    const text = await this.redis.getdel(this.keys.givenRegistration(env, id));
    return text ? (JSON.parse(text) as GivenRegistration) : undefined;
  }
}
