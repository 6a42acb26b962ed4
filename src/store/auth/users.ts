/** Users. Once there is an admin who can sign in, there is always one. */

import { digestOf } from '../../model/auth/secret.ts';
import type { Identity, User } from '../../model/auth/user.ts';
import { luaJson } from '../redis/lua-json.ts';
import { Repository } from '../redis/repository.ts';

/** Return codes of the scripts. */
const DONE = 1;
const LAST_ADMIN = -1;

/** Why a user was not changed. */
export type Unchanged = 'unknown' | 'last-admin';

export class Users extends Repository {
  /** @returns false if the email address is taken */
  create(user: User): Promise<boolean> {
    return this.#create(user, false);
  }

  /** @returns false if there is already a user */
  createFirst(user: User): Promise<boolean> {
    return this.#create(user, true);
  }

  async read(id: string): Promise<User | undefined> {
    const text = await this.redis.hget(this.keys.users, id);
    return text === null ? undefined : (JSON.parse(text) as User);
  }

  readByEmail(email: string): Promise<User | undefined> {
    return this.#readByName(email);
  }

  readByIdentity(identity: Identity): Promise<User | undefined> {
    return this.#readByName(nameOf(identity));
  }

  /** Users in order of creation. */
  async all(): Promise<User[]> {
    const texts = await this.redis.hvals(this.keys.users);
    return texts.map((text) => JSON.parse(text) as User).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async any(): Promise<boolean> {
    return (await this.redis.hlen(this.keys.users)) > 0;
  }

  /** Changes a user; the email address is fixed, and identities are only added.
   *  @param alter called again if the user was changed concurrently
   *  @returns the changed user */
  async change(id: string, alter: (user: User) => User): Promise<User | Unchanged> {
    return this.#replace(id, alter);
  }

  /** @returns the removed user */
  async remove(id: string): Promise<User | Unchanged> {
    return this.#replace(id, undefined);
  }

  async #readByName(name: string): Promise<User | undefined> {
    const id = await this.redis.hget(this.keys.userEmails, name);
    return id === null ? undefined : this.read(id);
  }

  async #create(user: User, first: boolean): Promise<boolean> {
    const { users, userEmails } = this.keys;
    const text = luaJson(user);
    const made = await this.redis.createUser(users, userEmails, user.id, text, first ? 1 : 0, ...namesOf(user));
    return made === DONE;
  }

  async #replace(id: string, alter: ((user: User) => User) | undefined): Promise<User | Unchanged> {
    const { users, userEmails } = this.keys;
    for (;;) {
      const before = await this.redis.hget(users, id);
      if (before === null) return 'unknown';
      const user = JSON.parse(before) as User;
      const changed = alter?.(user);
      const after = changed ? luaJson(changed) : '';
      const done = await this.redis.changeUser(users, userEmails, id, after, before, ...namesOf(changed ?? user));
      if (done === DONE) return changed ?? user;
      if (done === LAST_ADMIN) return 'last-admin';
    }
  }
}

/** The texts by which a user is found. An email address never equals the digest of an identity, which has no "@". */
function namesOf({ email, identities = [] }: User): string[] {
  return [email, ...identities.map(nameOf)];
}

function nameOf({ issuer, subject }: Identity): string {
  return digestOf(JSON.stringify([issuer, subject]));
}
