/** The API's representation of a deploy. */
import { z } from 'zod';
import { APP_FACTS, type Deploy, SYNC_KINDS, type SyncOrigin } from '../../model/apps/deploy.ts';
import { apiObject, textOrNull } from '../http/validation.ts';
import { present } from './present.ts';

const FACT_NAMES = { url: 'url', sdk: 'sdk', framework: 'framework', deployId: 'deploy_id' } as const;

export const syncOriginSchema = apiObject('SyncOrigin', {
  kind: z
    .enum(SYNC_KINDS)
    .describe(
      'app: the app sent the registration; connection: the app sent it over a connection; discovery: the service, in dev mode, found the app; request: a user ' +
        'asked the service to ask the app; activation: a user made an earlier version active again',
    ),
  name: textOrNull.describe('The user who asked for the registration'),
});

export const deploySchema = apiObject('Deploy', {
  id: z.string(),
  app: z.string(),
  at: z.iso.datetime(),
  url: z.string(),
  sdk: textOrNull.describe('Name and version of its SDK'),
  framework: textOrNull,
  deploy_id: textOrNull.describe('The build of the app; null: its SDK does not report one'),
  by: syncOriginSchema,
  first: z.boolean().describe('The app was not registered before'),
  changes: z
    .array(
      z.object({
        field: z.enum(APP_FACTS.map((fact) => FACT_NAMES[fact])),
        from: textOrNull.describe('null: there was none'),
      }),
    )
    .describe('Changes besides functions, with the previous value'),
  functions: z
    .object({
      added: z.array(z.string()),
      removed: z.array(z.string()),
      changed: z.array(
        z.object({
          id: z.string(),
          fields: z.array(z.string()).describe('Fields of the configuration that differ, at most 20'),
        }),
      ),
      omitted: z.int().describe('Number of further functions, which are not listed'),
    })
    .describe('IDs of the functions whose registration changed. A new URL of the app changes none'),
});

export function presentDeploy(deploy: Deploy) {
  const changes = deploy.changes.map(({ fact, from }) => ({ field: FACT_NAMES[fact], from }));
  return present(deploySchema, { ...deploy, changes });
}

export function presentSyncOrigin(origin: SyncOrigin) {
  return present(syncOriginSchema, origin);
}
