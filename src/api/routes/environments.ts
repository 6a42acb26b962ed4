/** `/v1/environments`: creates, lists, archives and deletes environments. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { covers } from '../../model/auth/access.ts';
import {
  archived,
  deleting,
  ENVIRONMENT_KINDS,
  type Environment,
  environmentNameSchema,
  PRODUCTION,
} from '../../model/environment.ts';
import { schedulesOf } from '../../model/schedules/schedules.ts';
import { describe } from '../../model/values/json.ts';
import { apiObject, timeOrNull, wholeOrNull } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { listReply, namePosition, pageQuery } from '../rest/lists.ts';
import { environmentInPath } from '../rest/owners.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { present } from '../views/present.ts';
import { maxBytesSchema } from './installation-limits.ts';

export const environmentSchema = apiObject('Environment', {
  name: z.string(),
  kind: z.enum(ENVIRONMENT_KINDS),
  created_at: timeOrNull.describe('null: production, which always exists'),
  archived_at: timeOrNull.describe('When the environment was archived; since then it rejects new events'),
  event_max_bytes: maxBytesSchema
    .nullable()
    .describe('Largest request body in bytes; null: the limit of the installation'),
  retention_days: wholeOrNull.describe(
    'Number of days for which events and ended runs are kept; null: the setting RETENTION_DAYS',
  ),
  deleting_at: timeOrNull.describe('When the deletion began; the environment disappears once all its data is deleted'),
});

const routes = routesOf({ tag: 'Environments', scope: 'installation' });

export function environmentRoutes(deps: ApiParts): Route[] {
  const { environments, functions, schedules, quotas } = deps;

  async function existing(name: string): Promise<Environment> {
    const environment = (await environments.all()).find((existing) => existing.name === name);
    if (!environment) throw new ServiceError('environment_unknown', { detail: `got ${describe(name)}` });
    return environment;
  }

  async function change(name: string, to: (environment: Environment) => Environment): Promise<Environment> {
    const changed = await environments.change(name, to);
    if (!changed) throw new ServiceError('environment_unknown', { detail: `got ${describe(name)}` });
    const all = (await functions.all(name)).functions.flatMap((fn) => schedulesOf(name, fn));
    if (all.length > 0) await schedules.follow(name, all);
    return changed;
  }

  return [
    routes.get('/v1/environments', {
      scope: 'owner',
      owner: 'each',
      operationId: 'listEnvironments',
      summary: 'List environments',
      description: 'Production first, then by name. Environments to which the principal has no access are left out.',
      query: z.object(pageQuery(namePosition)),
      data: z.array(environmentSchema),
      async handle({ accessTo, query: { limit, cursor } }) {
        const all = (await environments.all()).filter((environment) => covers(accessTo(environment), 'read'));
        const isLater = ({ name }: Environment) =>
          name !== PRODUCTION && (cursor === PRODUCTION || name.localeCompare(cursor as string) > 0);
        const rest = cursor === undefined ? all : all.filter(isLater);
        const page = rest.slice(0, limit);
        const next = rest.length > limit ? page.at(-1)?.name : undefined;
        return listReply(page, { present: presentEnvironment, positionOf: ({ name }) => name, next });
      },
    }),
    routes.post('/v1/environments', {
      access: 'admin',
      operationId: 'createEnvironment',
      summary: 'Create an environment',
      description: 'An app that registers in an unknown environment creates it as a branch environment.',
      body: z.object({ name: environmentNameSchema, kind: z.enum(['named', 'branch']).default('named') }),
      status: 201,
      data: environmentSchema,
      errors: ['environment_exists', 'quota_exceeded'],
      async handle({ body: { name, kind } }) {
        const environment: Environment = { name, kind, createdAt: Date.now() };
        if (!(await environments.create(environment, quotas.branches))) {
          throw new ServiceError('environment_exists', { detail: describe(name) });
        }
        return { data: presentEnvironment(environment) };
      },
    }),
    routes.get('/v1/environments/:name', {
      scope: 'owner',
      owner: environmentInPath((name) => environments.findOrFetch(name)),
      operationId: 'getEnvironment',
      summary: 'Get an environment',
      data: environmentSchema,
      errors: ['environment_unknown'],
      async handle({ params: { name } }) {
        return { data: presentEnvironment(await existing(name)) };
      },
    }),
    routes.post('/v1/environments/:name/archive', {
      access: 'admin',
      operationId: 'archiveEnvironment',
      summary: 'Archive an environment',
      description:
        'An archived environment rejects new events; its data stays readable. Production cannot be archived.',
      data: environmentSchema,
      errors: ['environment_unknown', 'input_invalid'],
      async handle({ params: { name } }) {
        if (name === PRODUCTION) throw new ServiceError('input_invalid', { detail: 'production cannot be archived' });
        return { data: presentEnvironment(await change(name, (environment) => archived(environment, Date.now()))) };
      },
    }),
    routes.post('/v1/environments/:name/unarchive', {
      access: 'admin',
      operationId: 'unarchiveEnvironment',
      summary: 'Unarchive an environment',
      data: environmentSchema,
      errors: ['environment_unknown', 'environment_deleting'],
      async handle({ params: { name } }) {
        if (name === PRODUCTION) return { data: presentEnvironment(await existing(name)) };
        return { data: presentEnvironment(await change(name, (environment) => reopened(environment, Date.now()))) };
      },
    }),
    routes.delete('/v1/environments/:name', {
      access: 'admin',
      operationId: 'deleteEnvironment',
      summary: 'Delete a branch environment',
      description:
        'Deletes all its data: events, runs, apps, functions and jobs. The environment is archived at once; workers delete the data in the ' +
        'background, and then the environment disappears. API keys that are restricted to it are revoked. This cannot be undone.',
      status: 202,
      data: environmentSchema,
      errors: ['environment_unknown', 'input_invalid'],
      async handle({ params: { name } }) {
        const { kind } = await existing(name);
        if (kind !== 'branch') {
          throw new ServiceError('input_invalid', {
            detail: `${describe(name)} is not a branch environment, and only branch environments can be deleted; archive it instead`,
          });
        }
        return { data: presentEnvironment(await change(name, (environment) => deleting(environment, Date.now()))) };
      },
    }),
  ];
}

/** @throws ServiceError environment_deleting */
function reopened({ archivedAt: _, ...environment }: Environment, nowMs: number): Environment {
  if (environment.deletingAt !== undefined) throw new ServiceError('environment_deleting');
  return { ...environment, reopenedAt: nowMs };
}

export function presentEnvironment(environment: Environment) {
  const { createdAt } = environment;
  return present(environmentSchema, { ...environment, createdAt: createdAt === 0 ? undefined : createdAt });
}
