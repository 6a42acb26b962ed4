/** `/v1/users`: who may sign in, and as what. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { emailSchema, roleSchema, type User } from '../../model/auth/user.ts';
import { describe } from '../../model/values/json.ts';
import type { Unchanged } from '../../store/auth/users.ts';
import type { Store } from '../../store/store.ts';
import { type AccountDeps, Accounts } from '../auth/accounts.ts';
import { listReply } from '../rest/list-response.ts';
import { cursorQuery, inNames, pageOf } from '../rest/pagination.ts';
import { type Route, route } from '../rest/route.ts';

export const userSchema = z
  .object({
    id: z.string(),
    email: z.email(),
    role: roleSchema,
    active: z.boolean().meta({ description: 'Whether a password is set; until then nobody can sign in as this user' }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'User' });
const linkSchema = z.url().meta({ description: 'Where the user sets a password: works once, for 24 hours' });
const params = z.object({ id: z.string() });

export function userRoutes(store: AccountDeps & Pick<Store, 'users'>, publicUrl: string | undefined): Route[] {
  const { users } = store;
  const accounts = new Accounts(store);
  const shared = { tag: 'Users', access: 'admin', about: 'account' } as const;
  const linkTo = (token: string, origin: string) => `${publicUrl ?? origin}/set-password?token=${token}`;

  async function existing(id: string): Promise<User> {
    const user = await users.read(id);
    if (!user) throw unknown(id);
    return user;
  }

  return [
    route({
      ...shared,
      method: 'get',
      path: '/v1/users',
      summary: 'List users',
      query: z.object(cursorQuery(inNames)),
      data: z.array(userSchema),
      errors: [],
      async handle({ query }) {
        const { page, next } = pageOf(await users.all(), ({ id }) => id, query);
        return listReply(page, { present, positionOf: ({ id }) => id, next });
      },
    }),
    route({
      ...shared,
      method: 'post',
      path: '/v1/users',
      summary: 'Invite a user',
      description: 'Nothing is sent: give the link to the person yourself.',
      body: z.object({ email: emailSchema, role: roleSchema }),
      status: 201,
      data: userSchema.extend({ set_password_url: linkSchema }).meta({ id: 'InvitedUser' }),
      errors: ['email_taken'],
      async handle({ body: { email, role }, origin }) {
        const { user, token } = await accounts.invite(email, role);
        return { data: { ...present(user), set_password_url: linkTo(token, origin) } };
      },
    }),
    route({
      ...shared,
      method: 'put',
      path: '/v1/users/:id',
      summary: "Change a user's role",
      description: 'Takes effect with the next request of the user.',
      params,
      body: z.object({ role: roleSchema }),
      data: userSchema,
      errors: ['not_found', 'last_admin'],
      async handle({ params: { id }, body: { role } }) {
        const updatedAt = Date.now();
        return { data: present(done(await users.change(id, (user) => ({ ...user, role, updatedAt })), id)) };
      },
    }),
    route({
      ...shared,
      method: 'delete',
      path: '/v1/users/:id',
      summary: 'Remove a user',
      description: 'All sessions of the user are over at once.',
      params,
      errors: ['not_found', 'last_admin'],
      async handle({ params: { id } }) {
        done(await users.remove(id), id);
        return {};
      },
    }),
    route({
      ...shared,
      method: 'post',
      path: '/v1/users/:id/password-link',
      summary: 'Make a link to set a password',
      description:
        'For somebody who was invited, or forgot theirs. The present password is good until the link is used.',
      params,
      status: 201,
      data: z.object({ set_password_url: linkSchema }),
      errors: ['not_found'],
      async handle({ params: { id }, origin }) {
        return { data: { set_password_url: linkTo(await accounts.passwordLink(await existing(id)), origin) } };
      },
    }),
  ];
}

function done(user: User | Unchanged, id: string): User {
  if (user === 'unknown') throw unknown(id);
  if (user === 'last-admin') throw new ServiceError('last_admin', { detail: 'make somebody else an admin first' });
  return user;
}

function unknown(id: string): ServiceError {
  return new ServiceError('not_found', { detail: `no user has the id ${describe(id)}` });
}

function present({ id, email, role, password, createdAt, updatedAt }: User) {
  return {
    id,
    email,
    role,
    active: password !== undefined,
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
  };
}
