/** `/v1/environments/:name/signing-key`: the key that signs calls to an environment's apps, and with which these apps authenticate. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { BRANCH_SET, BRANCHES, ownerOf, refOfOwner } from '../../model/environment.ts';
import { describe } from '../../model/values/json.ts';
import type { SigningKeyPair } from '../../store/auth/signing-keys.ts';
import { apiObject, textOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { environmentInPath } from '../rest/owners.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { ownerNameSchema, presentOwner } from '../views/owner.ts';

export const signingKeySchema = apiObject('SigningKey', {
  environment: ownerNameSchema,
  current: z.string().describe('The value for SERVICE_SIGNING_KEY of the apps'),
  fallback: textOrNull.describe('The previous key, which apps may still use'),
  given: z.boolean().describe('true: the setting SIGNING_KEY defines the key, so it cannot be rotated here'),
});

const params = z.object({
  name: z.string().describe(`Name of an environment; "${BRANCH_SET}" for the key of all branch environments`),
});

export function signingKeyRoutes({ signingKeys, environments }: ApiParts): Route[] {
  const routes = routesOf({
    tag: 'Signing keys',
    scope: 'owner',
    access: 'admin',
    // All branch environments have one key.
    owner: environmentInPath(async (name) => {
      if (name === BRANCH_SET) return refOfOwner(BRANCHES);
      const environment = await environments.findOrFetch(name);
      return environment && refOfOwner(ownerOf(environment));
    }),
  });

  async function ownerNamed(name: string): Promise<string> {
    if (name === BRANCH_SET) return BRANCHES;
    const environment = await environments.findOrFetch(name);
    if (environment) return ownerOf(environment);
    throw new ServiceError('environment_unknown', {
      detail: `got ${describe(name)}; GET /v1/environments lists the environments`,
    });
  }

  const present = (owner: string, { current, fallback }: SigningKeyPair) => ({
    environment: presentOwner(owner),
    current,
    fallback: fallback ?? null,
    given: signingKeys.isGiven(owner),
  });

  return [
    routes.get('/v1/environments/:name/signing-key', {
      params,
      data: signingKeySchema,
      operationId: 'getSigningKey',
      summary: 'Get the signing key of an environment',
      errors: ['environment_unknown'],
      async handle({ params: { name } }) {
        const owner = await ownerNamed(name);
        return { data: present(owner, await signingKeys.of(owner)) };
      },
    }),
    routes.post('/v1/environments/:name/signing-key/rotate', {
      params,
      data: signingKeySchema,
      operationId: 'rotateSigningKey',
      summary: 'Rotate the signing key of an environment',
      description:
        'The service signs calls with the new key within seconds. The current key becomes the fallback, with which apps may still ' +
        'authenticate; the previous fallback becomes invalid.',
      errors: ['environment_unknown', 'signing_key_given'],
      async handle({ params: { name } }) {
        const owner = await ownerNamed(name);
        if (signingKeys.isGiven(owner)) {
          throw new ServiceError('signing_key_given', {
            detail: 'change SIGNING_KEY and SIGNING_KEY_FALLBACK instead',
          });
        }
        return { data: present(owner, await signingKeys.rotate(owner)) };
      },
    }),
  ];
}
