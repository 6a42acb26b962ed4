/** Users with second factors, and how they sign in. */
import { totpCode } from '../../src/model/auth/totp.ts';
import type { User } from '../../src/model/auth/user.ts';
import { addUser, PASSWORD } from './auth.ts';
import type { Service } from './service.ts';
import { Visitor } from './visitor.ts';

export interface Member {
  id: string;
  email: string;
  /** Signed in. */
  visitor: Visitor;
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
    const visitor = new Visitor();
    await this.givePassword(email, visitor);
    return { id, email, visitor };
  }

  /** With an authenticator app whose current code was not used yet. */
  async addWithTotp(email: string, role: User['role'] = 'member'): Promise<TotpMember> {
    const member = await this.add(email, role);
    const { body: begun } = await member.visitor.json(this.at('/auth/account/totp/set-up'), {
      current_password: PASSWORD,
    });
    const { set_up, secret } = begun.data;
    const code = totpCode(secret, Date.now());
    const { body: added } = await member.visitor.json(this.at('/auth/account/totp'), { set_up, code });
    await this.forgetCode(member.id);
    return { ...member, secret, recoveryCodes: added.data.recovery_codes };
  }

  /** The first step. */
  givePassword(email: string, visitor = new Visitor(), next = '/', headers = {}) {
    return visitor.post(this.at('/auth/sign-in'), { email, password: PASSWORD, next }, headers);
  }

  async begin(email: string): Promise<Visitor> {
    const visitor = new Visitor();
    await this.givePassword(email, visitor);
    return visitor;
  }

  /** The second step. */
  giveCode(visitor: Visitor, code: string, headers = {}) {
    return visitor.post(this.at('/auth/second-factor'), { code }, headers);
  }

  async isSignedIn(visitor: Visitor): Promise<boolean> {
    return (await visitor.get(this.at('/auth/me'))).status === 200;
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
