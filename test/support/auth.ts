/** Keys and users of a service in production mode, for tests of authorization. */
import { scryptSync } from 'node:crypto';
import type { Access } from '../../src/model/auth/access.ts';
import type { EnvironmentRoles, Role, User } from '../../src/model/auth/user.ts';
import { type HttpResponse, request } from './http.ts';
import type { Service } from './service.ts';

export const PASSWORD = 'correct horse battery';
/** A hash of the password that takes no time to check, instead of 0.2 s of CPU time. */
const CHEAP_HASH = [
  'scrypt',
  2,
  1,
  1,
  '',
  scryptSync(PASSWORD, '', 32, { N: 2, r: 1, p: 1 }).toString('base64url'),
].join('$');

export type Headers = Record<string, string>;

/** `authorization` of a new API key. */
export async function keyHeaders(service: Service, access: Access, environment?: string): Promise<Headers> {
  const body = { name: `${access} ${environment ?? ''}`, access, ...(environment && { environment }) };
  const { body: responseBody } = await service.post('/v1/api-keys', body, service.apiHeaders);
  return { authorization: `Bearer ${responseBody.data.secret}` };
}

/** Invites a user and accepts the invitation; then its password is stored as a cheaper hash. */
export async function addUser(
  service: Service,
  email: string,
  role: Role,
  environmentRoles: EnvironmentRoles = {},
): Promise<string> {
  const body = { email, role, environment_roles: environmentRoles };
  const invited = await service.post('/v1/users', body, service.apiHeaders);
  const token = tokenIn(invited.body.data.set_password_url);
  await service.post('/auth/set-password', { token, password: PASSWORD });
  const { id } = invited.body.data;
  const user = JSON.parse((await service.redis.hget(service.keys.users, id)) ?? 'null') as User | null;
  if (user?.password)
    await service.redis.hset(service.keys.users, id, JSON.stringify({ ...user, password: CHEAP_HASH }));
  return id;
}

export function signIn(service: Service, email: string, password = PASSWORD): Promise<HttpResponse> {
  return service.post('/auth/sign-in', { email, password });
}

/** Headers of a dashboard page after a sign-in. */
export async function sessionHeaders(service: Service, email: string, password?: string): Promise<Headers> {
  return { ...cookieOf(await signIn(service, email, password)), origin: service.url };
}

/** The cookie of a response, as a request header. */
export function cookieOf({ headers }: HttpResponse): Headers {
  return { cookie: (headers.get('set-cookie') ?? '').split(';', 1)[0] as string };
}

export function tokenIn(url: string): string {
  return new URL(url).searchParams.get('token') ?? '';
}

/** Posts a form like a page of the service. */
export function postForm(
  service: Service,
  path: string,
  fields: Headers,
  headers: Headers = {},
): Promise<HttpResponse> {
  return request('POST', service.url + path, {
    body: new URLSearchParams(fields),
    headers: { origin: service.url, ...headers },
  });
}
