/** `/v1/api-keys`: what programs use the API with. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { API_KEY_PREFIX, type ApiKey, accessSchema, apiKeyNameSchema } from '../../model/auth/api-key.ts';
import { digestOf, newSecret } from '../../model/auth/secret.ts';
import { environmentNameSchema } from '../../model/environment.ts';
import { newId } from '../../model/ids.ts';
import { describe } from '../../model/values/json.ts';
import type { UsedApiKey } from '../../store/auth/api-keys.ts';
import type { Store } from '../../store/store.ts';
import { listReply } from '../rest/list-response.ts';
import { cursorQuery, inNames, pageOf } from '../rest/pagination.ts';
import { type Route, route } from '../rest/route.ts';

const HINT_LENGTH = 4;

export const apiKeySchema = z
  .object({
    id: z.string(),
    name: apiKeyNameSchema,
    access: accessSchema,
    environment: z.string().nullable().meta({ description: 'The one environment it is held to; null: all' }),
    hint: z.string().meta({ description: 'The last characters of the secret' }),
    created_at: z.iso.datetime(),
    created_by: z.string(),
    last_used_at: z.iso.datetime().nullable().meta({ description: 'To within ten seconds' }),
  })
  .meta({ id: 'ApiKey' });
export const newApiKeySchema = apiKeySchema
  .extend({ secret: z.string().meta({ description: 'Shown this once, and kept only as a hash' }) })
  .meta({ id: 'NewApiKey' });

export function apiKeyRoutes({ apiKeys, environments }: Pick<Store, 'apiKeys' | 'environments'>): Route[] {
  const shared = { tag: 'API keys', access: 'admin', about: 'account' } as const;

  async function demandEnvironment(name: string): Promise<void> {
    if (await environments.findOrFetch(name)) return;
    throw new ServiceError('environment_unknown', {
      detail: `got ${describe(name)}; GET /v1/environments lists what there is`,
    });
  }

  return [
    route({
      ...shared,
      method: 'get',
      path: '/v1/api-keys',
      summary: 'List API keys',
      description: 'Without that of the setting API_KEY.',
      query: z.object(cursorQuery(inNames)),
      data: z.array(apiKeySchema),
      errors: [],
      async handle({ query }) {
        const { page, next } = pageOf(await apiKeys.all(), ({ id }) => id, query);
        return listReply(page, { present, positionOf: ({ id }) => id, next });
      },
    }),
    route({
      ...shared,
      method: 'post',
      path: '/v1/api-keys',
      summary: 'Make an API key',
      description:
        'A key that is held to an environment sees and changes nothing of another, and nothing of the account.',
      body: z.object({
        name: apiKeyNameSchema,
        access: accessSchema,
        environment: environmentNameSchema.nullable().optional(),
      }),
      status: 201,
      data: newApiKeySchema,
      errors: ['environment_unknown'],
      async handle({ body: { name, access, environment }, caller }) {
        if (environment) await demandEnvironment(environment);
        const secret = newSecret(API_KEY_PREFIX);
        const key: ApiKey = {
          id: newId(),
          name,
          access,
          ...(environment && { environment }),
          digest: digestOf(secret),
          hint: secret.slice(-HINT_LENGTH),
          createdAt: Date.now(),
          createdBy: caller.name,
        };
        await apiKeys.create(key);
        return { data: { ...present({ ...key, lastUsedAt: undefined }), secret } };
      },
    }),
    route({
      ...shared,
      method: 'delete',
      path: '/v1/api-keys/:id',
      summary: 'Revoke an API key',
      description: 'From then on it opens nothing.',
      params: z.object({ id: z.string() }),
      errors: ['not_found'],
      async handle({ params: { id } }) {
        const revoked = await apiKeys.revoke(id);
        if (!revoked) throw new ServiceError('not_found', { detail: `no API key has the id ${describe(id)}` });
        return {};
      },
    }),
  ];
}

function present({ id, name, access, environment, hint, createdAt, createdBy, lastUsedAt }: UsedApiKey) {
  return {
    id,
    name,
    access,
    environment: environment ?? null,
    hint,
    created_at: new Date(createdAt).toISOString(),
    created_by: createdBy,
    last_used_at: lastUsedAt === undefined ? null : new Date(lastUsedAt).toISOString(),
  };
}
