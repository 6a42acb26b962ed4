/** Signs in users of OpenID providers. The provider's subject identifies the person; an email address only leads to
 *  an invitation. */
import { ServiceError } from '../../../errors.ts';
import { newSecret } from '../../../model/auth/secret.ts';
import { type GivenRoles, rolesOf } from '../../../model/auth/sign-in-rules.ts';
import { isActive, rolesText, type User } from '../../../model/auth/user.ts';
import { Composed } from '../../../model/values/composed.ts';
import type { OidcProvider } from '../../../settings/oidc.ts';
import type { Unchanged } from '../../../store/auth/users.ts';
import type { Store } from '../../../store/store.ts';
import { newUser } from '../accounts.ts';
import type { ProviderUser } from './identity-provider.ts';

/** A user and what the sign-in changed, in words for the audit log. */
export interface Admitted {
  user: User;
  changes: string[];
}

export class SingleSignOn extends Composed<Pick<Store, 'users'>> {
  /** Finds, connects or creates the user, and gives the role of the groups.
   *  @param current the user who is signed in already
   *  @throws ServiceError email_unverified, domain_refused, role_missing, not_invited, email_taken, last_admin */
  async admit(settings: OidcProvider, person: ProviderUser, current: User | undefined): Promise<Admitted> {
    requireVerified(settings, person);
    const roles = settings.roleRules && rolesOf(settings.roleRules, person.groups);
    if (settings.roleRules && !roles) throw noRole(settings, person);
    const known = await this.deps.users.readByIdentity(person);
    if (known) return this.#withRoles(known, roles);
    const invited = await this.deps.users.readByEmail(person.email);
    if (invited) return this.#connect(settings, invited, person, roles, current);
    if (settings.signUp !== 'first-sign-in' || !roles) {
      throw new ServiceError('not_invited', { detail: `ask an admin to invite ${person.email}` });
    }
    const user = { ...newUser(person.email, roles), identities: [identityOf(person)] };
    // Another request, perhaps of the same person, has created the user in the meantime.
    if (!(await this.deps.users.create(user))) return this.admit(settings, person, current);
    return { user, changes: [`became a user with the role ${rolesText(user)}`] };
  }

  async #withRoles(user: User, roles: GivenRoles | undefined): Promise<Admitted> {
    const before = rolesText(user);
    if (!roles || rolesText({ ...user, ...roles }) === before) return { user, changes: [] };
    const change = { ...roles, updatedAt: Date.now() };
    const changed = existing(await this.deps.users.change(user.id, (present) => ({ ...present, ...change })));
    return { user: changed, changes: [`role ${rolesText(changed)} instead of ${before}`] };
  }

  /** Connects an identity with the user of an email address. A user who signed in before must be signed in: whoever has
   *  the address at a provider is not therefore the same person. */
  async #connect(
    settings: OidcProvider,
    { id, ...invited }: User,
    person: ProviderUser,
    roles: GivenRoles | undefined,
    current: User | undefined,
  ): Promise<Admitted> {
    const changed = await this.deps.users.change(id, (user) => {
      const { identities: others = [] } = user;
      const isConnected = others.some(({ issuer, subject }) => issuer === person.issuer && subject === person.subject);
      if (isActive(user) && !isConnected && current?.id !== id) throw taken(settings, person);
      const identities = isConnected ? others : [...others, identityOf(person)];
      // Ends an open invitation: its link could set a password.
      const version = isActive(user) ? user.version : newSecret();
      return { ...user, ...roles, identities, version, updatedAt: Date.now() };
    });
    const user = existing(changed);
    const before = rolesText(invited);
    const newRole = rolesText(user) === before ? [] : [`role ${rolesText(user)} instead of ${before}`];
    return { user, changes: [`connected with ${settings.name}`, ...newRole] };
  }
}

function requireVerified({ name, verifiedClaim, allowedDomains }: OidcProvider, person: ProviderUser): void {
  if (!person.isVerified) {
    throw new ServiceError('email_unverified', {
      detail: `${name} does not say that ${person.email} is yours (${verifiedClaim}); verify the address there`,
    });
  }
  if (allowedDomains.length > 0 && !allowedDomains.includes(person.domain)) {
    throw new ServiceError('domain_refused', {
      detail: `${person.email} is not an account of ${allowedDomains.join(' or ')}; use another account at ${name}`,
    });
  }
}

function noRole({ name }: OidcProvider, { email, groups }: ProviderUser): ServiceError {
  const shown = groups.length === 0 ? 'no group' : `${groups.length} groups, none with a role here`;
  return new ServiceError('role_missing', { detail: `${email} has ${shown} at ${name}; ask an admin for one` });
}

function taken({ name }: OidcProvider, { email }: ProviderUser): ServiceError {
  return new ServiceError('email_taken', {
    detail: `${email}; sign in as this user, then connect ${name} on the sign-in page`,
  });
}

function existing(user: User | Unchanged): User {
  if (user === 'unknown') throw new ServiceError('not_invited', { detail: 'the user was removed meanwhile' });
  if (user === 'last-admin') {
    throw new ServiceError('last_admin', {
      detail: 'your groups no longer make you one; make another user an admin first',
    });
  }
  return user;
}

function identityOf({ issuer, subject }: ProviderUser) {
  return { issuer, subject };
}
