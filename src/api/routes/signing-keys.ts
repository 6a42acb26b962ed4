/** `/v1/environments/:name/signing-key`: what calls to an environment's functions are signed with, and its apps prove themselves with. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { BRANCH_SET, BRANCHES, ownerOf } from '../../model/environment.ts';
import { describe } from '../../model/values/json.ts';
import type { SigningKeyPair } from '../../store/auth/signing-keys.ts';
import type { Store } from '../../store/store.ts';
import { type Route, route } from '../rest/route.ts';
import { presentOwner, shownOwnerSchema } from '../views/owner.ts';

export const signingKeySchema = z
  .object({
    environment: shownOwnerSchema,
    current: z.string().meta({ description: 'For SERVICE_SIGNING_KEY of the apps' }),
    fallback: z.string().nullable().meta({ description: 'The former one, still accepted from apps' }),
    given: z.boolean().meta({ description: 'Whether a setting gives it; then it is not rotated here' }),
  })
  .meta({ id: 'SigningKey' });

const params = z.object({
  name: z.string().meta({ description: `Name of an environment; "${BRANCH_SET}" for what all branches share` }),
});

export function signingKeyRoutes({ signingKeys, environments }: Pick<Store, 'signingKeys' | 'environments'>): Route[] {
  const shared = { tag: 'Signing keys', access: 'admin', about: 'account', params, data: signingKeySchema } as const;

  async function ownerNamed(name: string): Promise<string> {
    if (name === BRANCH_SET) return BRANCHES;
    const environment = await environments.findOrFetch(name);
    if (environment) return ownerOf(environment);
    throw new ServiceError('environment_unknown', {
      detail: `got ${describe(name)}; GET /v1/environments lists what there is`,
    });
  }

  const present = (owner: string, { current, fallback }: SigningKeyPair) => ({
    environment: presentOwner(owner),
    current,
    fallback: fallback ?? null,
    given: signingKeys.isGiven(owner),
  });

  return [
    route({
      ...shared,
      method: 'get',
      path: '/v1/environments/:name/signing-key',
      summary: 'Read the signing key of an environment',
      errors: ['environment_unknown'],
      async handle({ params: { name } }) {
        const owner = await ownerNamed(name);
        return { data: present(owner, await signingKeys.of(owner)) };
      },
    }),
    route({
      ...shared,
      method: 'post',
      path: '/v1/environments/:name/signing-key/rotate',
      summary: 'Rotate the signing key of an environment',
      description:
        'Calls are signed with the new key within seconds. Give apps both beforehand where you can: the present key ' +
        'becomes the fallback, which apps may still prove themselves with; the fallback before it is void.',
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
