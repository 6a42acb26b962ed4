/** `/v1/users`: the people who may sign in, and their roles. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { kindsOf, SECOND_FACTORS } from '../../model/auth/second-factors.ts';
import { newSecret } from '../../model/auth/secret.ts';
import {
  type EnvironmentRoles,
  emailSchema,
  environmentRolesSchema,
  isActive,
  roleSchema,
  type User,
} from '../../model/auth/user.ts';
import { BRANCH_SET, PRODUCTION } from '../../model/environment.ts';
import { describe } from '../../model/values/json.ts';
import { viewOwnerOf } from '../../store/auth/saved-views.ts';
import type { Unchanged } from '../../store/auth/users.ts';
import { apiObject } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { longPageQuery, namePosition, sortedReply } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { present } from '../views/present.ts';

export const userSchema = apiObject('User', {
  id: z.string(),
  email: z.email(),
  role: roleSchema,
  environment_roles: environmentRolesSchema,
  active: z.boolean().describe('Whether the user has set a password, or signed in at a provider'),
  has_password: z.boolean(),
  providers: z.array(z.string()).describe('Where the user signs in by single sign-on'),
  second_factors: z.array(z.enum(SECOND_FACTORS)).describe('Asked for after the password'),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
const linkSchema = z
  .url()
  .describe(
    'Link with which the user sets a password; works once, within 24 hours. The sign-in page for users who may not use a password',
  );

const routes = routesOf({ tag: 'Users', scope: 'installation', access: 'admin' });

export function userRoutes({
  users,
  savedViews,
  environments,
  accounts,
  identityProviders,
  publicUrl,
}: ApiParts): Route[] {
  const presentUser = (user: User) =>
    present(userSchema, user, {
      environment_roles: user.environmentRoles ?? {},
      active: isActive(user),
      has_password: user.password !== undefined,
      providers: identityProviders.namesOf(user),
      second_factors: kindsOf(user.secondFactors),
    });
  const linkFor = (user: User, token: string, origin: string) =>
    `${publicUrl ?? origin}/${accounts.mayUsePassword(user) ? `set-password?token=${token}` : 'sign-in'}`;

  /** A name that the user already has may be that of a deleted environment.
   *  @throws ServiceError environment_unknown */
  async function checkNames(roles: EnvironmentRoles, before: EnvironmentRoles = {}): Promise<void> {
    for (const name of Object.keys(roles)) {
      if (name === BRANCH_SET || Object.hasOwn(before, name) || (await environments.findOrFetch(name))) continue;
      throw new ServiceError('environment_unknown', {
        detail: `field "environment_roles": got ${describe(name)}; GET /v1/environments lists the environments`,
      });
    }
  }

  async function existing(id: string): Promise<User> {
    const user = await users.read(id);
    if (!user) throw notFound(id);
    return user;
  }

  return [
    routes.get('/v1/users', {
      operationId: 'listUsers',
      summary: 'List users',
      query: z.object(longPageQuery(namePosition)),
      data: z.array(userSchema),
      async handle({ query }) {
        return sortedReply(await users.all(), 'id', query, presentUser);
      },
    }),
    routes.post('/v1/users', {
      operationId: 'inviteUser',
      summary: 'Invite a user',
      description: 'The service sends no email: give the link to the user yourself.',
      body: z.object({ email: emailSchema, role: roleSchema, environment_roles: environmentRolesSchema.optional() }),
      status: 201,
      data: userSchema.extend({ set_password_url: linkSchema }).meta({ id: 'InvitedUser' }),
      errors: ['email_taken', 'environment_unknown'],
      async handle({ body: { email, role, environment_roles: environmentRoles }, origin }) {
        if (environmentRoles) await checkNames(environmentRoles);
        const { user, token } = await accounts.invite(email, { role, ...(environmentRoles && { environmentRoles }) });
        return { data: { ...presentUser(user), set_password_url: linkFor(user, token, origin) } };
      },
    }),
    routes.patch('/v1/users/:id', {
      formerMethod: 'put',
      operationId: 'updateUser',
      summary: 'Change the roles of a user',
      description:
        "Takes effect at the user's next request. Omitted fields stay unchanged; `environment_roles` replaces all roles in single environments.",
      body: z.object({ role: roleSchema.optional(), environment_roles: environmentRolesSchema.optional() }),
      data: userSchema,
      errors: ['not_found', 'last_admin', 'environment_unknown'],
      async handle({ params: { id }, body: { role, environment_roles: environmentRoles } }) {
        if (environmentRoles) await checkNames(environmentRoles, (await existing(id)).environmentRoles);
        const change = { ...(role && { role }), ...(environmentRoles && { environmentRoles }), updatedAt: Date.now() };
        return { data: presentUser(changed(await users.change(id, (user) => ({ ...user, ...change })), id)) };
      },
    }),
    routes.delete('/v1/users/:id', {
      operationId: 'removeUser',
      summary: 'Remove a user',
      description: 'Ends all sessions of the user at once.',
      errors: ['not_found', 'last_admin'],
      async handle({ params: { id } }) {
        changed(await users.remove(id), id);
        const envs = [PRODUCTION, ...(await environments.all()).map(({ name }) => name)];
        await savedViews.removeAll(envs, viewOwnerOf({ kind: 'user', id }));
        return {};
      },
    }),
    routes.delete('/v1/users/:id/second-factors', {
      operationId: 'resetSecondFactors',
      summary: 'Reset the second factors of a user',
      description:
        'For a user who lost them. Removes authenticator app, passkeys and recovery codes, and ends all sessions of the user. Users change their own on their account page.',
      errors: ['not_found', 'access_denied'],
      async handle({ params: { id }, principal }) {
        if (principal.kind === 'user' && principal.id === id) {
          throw new ServiceError('access_denied', {
            detail: 'change your own on your account page, with your password',
          });
        }
        const version = newSecret();
        changed(
          await users.change(id, ({ secondFactors: _, ...user }) => ({ ...user, version, updatedAt: Date.now() })),
          id,
        );
        return {};
      },
    }),
    routes.post('/v1/users/:id/password-link', {
      operationId: 'createPasswordLink',
      summary: 'Create a password link',
      description:
        'For a user who was invited, or who forgot the password. The current password stays valid until the link is used.',
      status: 201,
      data: z.object({ set_password_url: linkSchema }),
      async handle({ params: { id }, origin }) {
        const user = await existing(id);
        return { data: { set_password_url: linkFor(user, await accounts.passwordToken(user), origin) } };
      },
    }),
  ];
}

function changed(user: User | Unchanged, id: string): User {
  if (user === 'unknown') throw notFound(id);
  if (user === 'last-admin') throw new ServiceError('last_admin', { detail: 'make another user an admin first' });
  return user;
}

function notFound(id: string): ServiceError {
  return new ServiceError('not_found', { detail: `there is no user with the ID ${describe(id)}` });
}
