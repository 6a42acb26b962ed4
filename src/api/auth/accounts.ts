/** What people do about their own account: sign in, set a password, make the first admin. Knows nothing of HTTP. */
import { ServiceError } from '../../errors.ts';
import { hashPassword, isPassword } from '../../model/auth/password.ts';
import { newSecret } from '../../model/auth/secret.ts';
import type { Role, User } from '../../model/auth/user.ts';
import { newId } from '../../model/ids.ts';
import type { OneTimeToken } from '../../store/auth/one-time-tokens.ts';
import type { Throttled, ThrottleLimit } from '../../store/auth/sign-in-throttle.ts';
import type { Store } from '../../store/store.ts';

/** Passwords that wait to be looked at in this process; each takes a fifth of a second and 32 MiB. */
const MAX_WAITING = 64;

export type AccountDeps = Pick<Store, 'users' | 'sessions' | 'oneTimeTokens' | 'signInThrottle'>;

/** Somebody who has just proved who they are, and the token of their new session. */
export interface SignedIn {
  user: User;
  token: string;
}

export class SignInThrottled extends ServiceError {
  readonly limit: ThrottleLimit;

  constructor({ limit, waitMs }: Throttled) {
    const retryAfterSeconds = Math.ceil(waitMs / 1_000);
    super('too_many_attempts', { detail: `try again in ${retryAfterSeconds} s`, retryAfterSeconds });
    this.limit = limit;
  }
}

export class Accounts {
  readonly #store: AccountDeps;
  #waiting = 0;

  constructor(store: AccountDeps) {
    this.#store = store;
  }

  /** The same answer, in the same time, for an unknown user as for a wrong password.
   *  @param address where the try comes from
   *  @throws ServiceError sign_in_failed, too_many_attempts, overloaded */
  async signIn(email: string, password: string, address: string): Promise<SignedIn> {
    const attempt = { account: email, address };
    const { users, sessions, signInThrottle } = this.#store;
    const throttled = await signInThrottle.begin(attempt);
    if (throttled) throw new SignInThrottled(throttled);
    const user = await users.readByEmail(email);
    if (!(await this.#isPassword(password, user)) || !user) throw new ServiceError('sign_in_failed');
    await signInThrottle.succeed(attempt);
    return { user, token: await sessions.start(user, Date.now()) };
  }

  /** Ends all other sessions of the user.
   *  @throws ServiceError sign_in_failed, too_many_attempts */
  async changePassword(userId: string, present: string, password: string, address: string): Promise<SignedIn> {
    const user = await this.#store.users.read(userId);
    const proven = await this.signIn(user?.email ?? '', present, address);
    await this.#store.sessions.end(proven.token);
    return this.#withPassword(proven.user, password);
  }

  /** Of whoever follows a link; ends all sessions of the user.
   *  @throws ServiceError link_invalid */
  async setPassword(token: string, password: string): Promise<SignedIn> {
    const link = await this.#store.oneTimeTokens.use(token);
    const user = link?.purpose === 'set-password' ? await this.#store.users.read(link.userId) : undefined;
    if (!user || !isFor(link, user)) throw invalidLink();
    return this.#withPassword(user, password);
  }

  /** @throws ServiceError link_invalid, also when there is a user by now */
  async setUp(token: string, email: string, password: string): Promise<SignedIn> {
    const link = await this.#store.oneTimeTokens.use(token);
    const user = link?.purpose === 'set-up' ? await this.createFirst(email, password) : undefined;
    if (!user) throw invalidLink();
    return { user, token: await this.#store.sessions.start(user, Date.now()) };
  }

  /** The first admin; undefined when there is a user already. */
  async createFirst(email: string, password: string): Promise<User | undefined> {
    const user = { ...newUser(email, 'admin'), password: await hashPassword(password) };
    return (await this.#store.users.createFirst(user)) ? user : undefined;
  }

  /** Somebody without a password yet, and the token of a link to set one.
   *  @throws ServiceError email_taken */
  async invite(email: string, role: Role): Promise<SignedIn> {
    const user = newUser(email, role);
    if (!(await this.#store.users.create(user))) throw new ServiceError('email_taken', { detail: email });
    return { user, token: await this.passwordLink(user) };
  }

  passwordLink({ id, version }: User): Promise<string> {
    return this.#store.oneTimeTokens.create({ purpose: 'set-password', userId: id, version });
  }

  /** Whether the link still works; looking at it does not use it up. */
  async isValidLink(token: string, purpose: OneTimeToken['purpose']): Promise<boolean> {
    const link = await this.#store.oneTimeTokens.read(token);
    if (link?.purpose !== purpose) return false;
    if (link.purpose === 'set-up') return !(await this.#store.users.any());
    const user = await this.#store.users.read(link.userId);
    return user !== undefined && isFor(link, user);
  }

  async #isPassword(password: string, user: User | undefined): Promise<boolean> {
    if (this.#waiting >= MAX_WAITING) {
      throw new ServiceError('overloaded', { detail: 'too many people are signing in', retryAfterSeconds: 5 });
    }
    this.#waiting++;
    try {
      return await isPassword(password, user?.password);
    } finally {
      this.#waiting--;
    }
  }

  async #withPassword({ id }: User, password: string): Promise<SignedIn> {
    const kept = { password: await hashPassword(password), version: newSecret(), updatedAt: Date.now() };
    const user = await this.#store.users.change(id, (now) => ({ ...now, ...kept }));
    if (typeof user === 'string') throw invalidLink();
    return { user, token: await this.#store.sessions.start(user, Date.now()) };
  }
}

function newUser(email: string, role: Role): User {
  const now = Date.now();
  return { id: newId(), email, role, version: newSecret(), createdAt: now, updatedAt: now };
}

/** A link made before the last change of the password is void. */
function isFor(link: OneTimeToken | undefined, { id, version }: User): boolean {
  return link?.purpose === 'set-password' && link.userId === id && link.version === version;
}

function invalidLink(): ServiceError {
  return new ServiceError('link_invalid', { detail: 'links work once and for 24 hours; ask an admin for another' });
}
