/** `/v1/environments`: making, reading and archiving environments. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { ENVIRONMENT_KINDS, type Environment, environmentNameSchema, PRODUCTION } from '../../model/environment.ts';
import { describe } from '../../model/json.ts';
import type { Environments } from '../../store/environments.ts';
import { inNames, nextPage, pageQuery } from '../cursor.ts';
import { type Route, route } from '../route.ts';

export const environmentSchema = z
  .object({
    name: z.string(),
    kind: z.enum(ENVIRONMENT_KINDS),
    created_at: z.iso.datetime().nullable().meta({ description: 'null: it was always there' }),
    archived_at: z.iso.datetime().nullable().meta({ description: 'From then on it refuses new events' }),
  })
  .meta({ id: 'Environment' });

const params = z.object({ name: z.string() });

export function environmentRoutes({ environments }: { environments: Environments }): Route[] {
  const tag = 'Environments';
  const about = 'account';

  async function existing(name: string): Promise<Environment> {
    const environment = (await environments.all()).find((one) => one.name === name);
    if (!environment) throw new ServiceError('environment_unknown', { detail: `got ${describe(name)}` });
    return environment;
  }

  return [
    route({
      method: 'get',
      path: '/v1/environments',
      tag,
      access: 'read',
      about,
      summary: 'List environments',
      description: 'Production first, then by name.',
      query: z.object(pageQuery(inNames)),
      data: z.array(environmentSchema),
      errors: [],
      async handle({ query: { limit, cursor } }) {
        const all = await environments.all();
        const rest = cursor === undefined ? all : all.slice(1).filter(({ name }) => after(name, cursor));
        const page = rest.slice(0, limit);
        return { data: page.map(present), metadata: nextPage(rest.length > limit ? page.at(-1)?.name : undefined) };
      },
    }),
    route({
      method: 'post',
      path: '/v1/environments',
      tag,
      access: 'admin',
      about,
      summary: 'Make an environment',
      description: 'A branch environment also comes into being when an app registers with its name.',
      body: z.object({ name: environmentNameSchema, kind: z.enum(['named', 'branch']).default('named') }),
      status: 201,
      data: environmentSchema,
      errors: ['environment_exists'],
      async handle({ body: { name, kind } }) {
        const environment: Environment = { name, kind, createdAt: Date.now() };
        if (!(await environments.create(environment))) {
          throw new ServiceError('environment_exists', { detail: describe(name) });
        }
        return { data: present(environment) };
      },
    }),
    route({
      method: 'get',
      path: '/v1/environments/:name',
      tag,
      access: 'read',
      about,
      summary: 'Read an environment',
      params,
      data: environmentSchema,
      errors: ['environment_unknown'],
      async handle({ params: { name } }) {
        return { data: present(await existing(name)) };
      },
    }),
    route({
      method: 'post',
      path: '/v1/environments/:name/archive',
      tag,
      access: 'admin',
      about,
      summary: 'Archive an environment',
      description: 'It refuses new events from then on; what it has stays readable. Production cannot be archived.',
      params,
      data: environmentSchema,
      errors: ['environment_unknown', 'input_invalid'],
      async handle({ params: { name } }) {
        const environment = await existing(name);
        if (name === PRODUCTION) throw new ServiceError('input_invalid', { detail: 'production cannot be archived' });
        const archived = { ...environment, archivedAt: environment.archivedAt ?? Date.now() };
        await environments.save(archived);
        return { data: present(archived) };
      },
    }),
    route({
      method: 'post',
      path: '/v1/environments/:name/unarchive',
      tag,
      access: 'admin',
      about,
      summary: 'Take an environment out of the archive',
      params,
      data: environmentSchema,
      errors: ['environment_unknown'],
      async handle({ params: { name } }) {
        const { archivedAt: _, ...environment } = await existing(name);
        if (name !== PRODUCTION) await environments.save(environment);
        return { data: present(environment) };
      },
    }),
  ];
}

function after(name: string, cursor: string): boolean {
  return cursor === PRODUCTION || name.localeCompare(cursor) > 0;
}

function present({ name, kind, createdAt, archivedAt }: Environment) {
  return {
    name,
    kind,
    created_at: createdAt === 0 ? null : new Date(createdAt).toISOString(),
    archived_at: archivedAt === undefined ? null : new Date(archivedAt).toISOString(),
  };
}
