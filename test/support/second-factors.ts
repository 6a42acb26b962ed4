/** Users with second factors, and how they sign in. */
import { totpCode } from '../../src/model/auth/totp.ts';
import type { User } from '../../src/model/auth/user.ts';
import { addUser, PASSWORD } from './auth.ts';
import { CookieClient } from './cookie-client.ts';
import type { Service } from './service.ts';

export interface Member {
  id: string;
  email: string;
  /** Signed in. */
  client: CookieClient;
}

export interface TotpMember extends Member {
  secret: string;
  recoveryCodes: string[];
}

export class Members {
  readonly #service: Service;
  /** Of the service for browsers. */
  readonly #origin: string;

  constructor(service: Service, origin = service.url) {
    this.#service = service;
    this.#origin = origin;
  }

  at(path: string): string {
    return this.#origin + path;
  }

  async add(email: string, role: User['role'] = 'member'): Promise<Member> {
    const id = await addUser(this.#service, email, role);
    const client = new CookieClient();
    await this.givePassword(email, client);
    return { id, email, client };
  }

  /** With an authenticator app whose current code was not used yet. */
  async addWithTotp(email: string, role: User['role'] = 'member'): Promise<TotpMember> {
    const member = await this.add(email, role);
    const { body: begun } = await member.client.json(this.at('/auth/account/totp/set-up'), {
      current_password: PASSWORD,
    });
    const { set_up, secret } = begun.data;
    const code = totpCode(secret, Date.now());
    const { body: added } = await member.client.json(this.at('/auth/account/totp'), { set_up, code });
    await this.forgetCode(member.id);
    return { ...member, secret, recoveryCodes: added.data.recovery_codes };
  }

  /** The first step. */
  givePassword(email: string, client = new CookieClient(), next = '/', headers = {}) {
    return client.post(this.at('/auth/sign-in'), { email, password: PASSWORD, next }, headers);
  }

  async begin(email: string): Promise<CookieClient> {
    const client = new CookieClient();
    await this.givePassword(email, client);
    return client;
  }

  /** The second step. */
  giveCode(client: CookieClient, code: string, headers = {}) {
    return client.post(this.at('/auth/second-factor'), { code }, headers);
  }

  async isSignedIn(client: CookieClient): Promise<boolean> {
    return (await client.get(this.at('/auth/me'))).status === 200;
  }

  /** As if the last code were of long ago. */
  async forgetCode(id: string): Promise<void> {
    const user = await this.stored(id);
    const { secondFactors: factors } = user;
    if (!factors?.totp) return;
    const secondFactors = { ...factors, totp: { ...factors.totp, lastStep: 0 } };
    await this.#service.redis.hset(this.#service.keys.users, id, JSON.stringify({ ...user, secondFactors }));
  }

  async stored(id: string): Promise<User> {
    return JSON.parse((await this.#service.redis.hget(this.#service.keys.users, id)) as string) as User;
  }
}
