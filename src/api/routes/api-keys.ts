/** `/v1/api-keys`: the secrets with which programs use the API. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { API_KEY_PREFIX, type ApiKey, accessSchema, apiKeyNameSchema } from '../../model/auth/api-key.ts';
import { digestOf, newSecret } from '../../model/auth/secret.ts';
import { environmentNameSchema } from '../../model/environment.ts';
import { newId } from '../../model/ids.ts';
import { describe } from '../../model/values/json.ts';
import type { UsedApiKey } from '../../store/auth/api-keys.ts';
import { apiObject, textOrNull, timeOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { longPageQuery, namePosition, sortedReply } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { present } from '../views/present.ts';

const HINT_LENGTH = 4;

export const apiKeySchema = apiObject('ApiKey', {
  id: z.string(),
  name: apiKeyNameSchema,
  access: accessSchema,
  environment: textOrNull.describe('The only environment that the key may access; null: all'),
  hint: z.string().describe('The last characters of the secret'),
  created_at: z.iso.datetime(),
  created_by: z.string(),
  last_used_at: timeOrNull.describe('Accurate to ten seconds'),
});
export const newApiKeySchema = apiKeySchema
  .extend({ secret: z.string().describe('Shown only once; the service stores its hash') })
  .meta({ id: 'NewApiKey' });

const routes = routesOf({ tag: 'API keys', scope: 'installation', access: 'admin' });

export function apiKeyRoutes({ apiKeys, environments }: ApiParts): Route[] {
  async function requireEnvironment(name: string): Promise<void> {
    if (await environments.findOrFetch(name)) return;
    throw new ServiceError('environment_unknown', {
      detail: `got ${describe(name)}; GET /v1/environments lists the environments`,
    });
  }

  return [
    routes.get('/v1/api-keys', {
      operationId: 'listApiKeys',
      summary: 'List API keys',
      description: 'The key of the setting API_KEY is not included.',
      query: z.object(longPageQuery(namePosition)),
      data: z.array(apiKeySchema),
      async handle({ query }) {
        return sortedReply(await apiKeys.all(), 'id', query, presentKey);
      },
    }),
    routes.post('/v1/api-keys', {
      operationId: 'createApiKey',
      summary: 'Create an API key',
      description:
        'A key that is restricted to an environment cannot access other environments, nor anything that concerns the whole installation.',
      body: z.object({
        name: apiKeyNameSchema,
        access: accessSchema,
        environment: environmentNameSchema.nullable().optional(),
      }),
      status: 201,
      data: newApiKeySchema,
      errors: ['environment_unknown'],
      async handle({ body: { name, access, environment }, principal }) {
        if (environment) await requireEnvironment(environment);
        const secret = newSecret(API_KEY_PREFIX);
        const key: ApiKey = {
          id: newId(),
          name,
          access,
          ...(environment && { environment }),
          digest: digestOf(secret),
          hint: secret.slice(-HINT_LENGTH),
          createdAt: Date.now(),
          createdBy: principal.name,
        };
        await apiKeys.create(key);
        return { data: { ...presentKey({ ...key, lastUsedAt: undefined }), secret } };
      },
    }),
    routes.delete('/v1/api-keys/:id', {
      operationId: 'revokeApiKey',
      summary: 'Revoke an API key',
      description: 'From then on, requests with the key are rejected with 401.',
      async handle({ params: { id } }) {
        const revoked = await apiKeys.revoke(id);
        if (!revoked)
          throw new ServiceError('not_found', { detail: `there is no API key with the ID ${describe(id)}` });
        return {};
      },
    }),
  ];
}

function presentKey(key: UsedApiKey) {
  return present(apiKeySchema, key);
}
