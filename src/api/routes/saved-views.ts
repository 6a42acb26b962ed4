/** `/v1/views`: saved views of the dashboard's lists. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { newId } from '../../model/ids.ts';
import { describe } from '../../model/values/json.ts';
import { iso } from '../../model/values/time.ts';
import { MAX_VIEWS, type SavedView, viewOwnerOf } from '../../store/auth/saved-views.ts';
import { apiObject } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { longPageQuery, sortedReply, timePosition } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';

const LISTS = ['runs', 'events', 'webhook-requests'] as const;

const viewInput = {
  list: z.enum(LISTS).describe('The list that the view shows'),
  name: z.string().trim().min(1).max(64),
  query: z
    .string()
    .max(2_048)
    .regex(/^[^\s?#]*$/, 'expected a query string without "?"')
    .describe("Query string of the list's page in the dashboard: its filters, columns and density"),
};

export const savedViewSchema = apiObject('SavedView', {
  id: z.string(),
  ...viewInput,
  list: z.string(),
  created_at: z.iso.datetime(),
});

const routes = routesOf({ tag: 'Views', scope: 'environment', audited: false });

export function savedViewRoutes({ savedViews }: ApiParts): Route[] {
  return [
    routes.get('/v1/views', {
      operationId: 'listViews',
      summary: 'List saved views',
      description:
        'Lists the views of the signed-in user; with an API key and in dev mode, the views of the installation.',
      query: z.object(longPageQuery(timePosition.shape.id)),
      data: z.array(savedViewSchema),
      async handle({ env, principal, query }) {
        return sortedReply(await savedViews.all(env, viewOwnerOf(principal)), 'id', query, present);
      },
    }),
    routes.post('/v1/views', {
      operationId: 'saveView',
      summary: 'Save a view',
      description: `At most ${MAX_VIEWS} per user and environment. A view of the same list with the same name is replaced.`,
      body: z.object(viewInput),
      status: 201,
      data: savedViewSchema,
      errors: ['quota_exceeded'],
      async handle({ env, principal, body }) {
        const owner = viewOwnerOf(principal);
        const all = await savedViews.all(env, owner);
        const before = all.find(({ list, name }) => list === body.list && name === body.name);
        const now = Date.now();
        const view = { ...body, id: before?.id ?? newId(now), createdAt: before?.createdAt ?? now };
        if (!(await savedViews.save(env, owner, view))) {
          throw new ServiceError('quota_exceeded', {
            detail: `there are ${MAX_VIEWS} saved views in this environment; delete one`,
          });
        }
        return { data: present(view) };
      },
    }),
    routes.delete('/v1/views/:id', {
      operationId: 'deleteView',
      summary: 'Delete a saved view',
      async handle({ env, principal, params: { id } }) {
        if (await savedViews.remove(env, viewOwnerOf(principal), id)) return {};
        throw new ServiceError('not_found', { detail: `there is no saved view with the ID ${describe(id)}` });
      },
    }),
  ];
}

function present({ id, list, name, query, createdAt }: SavedView) {
  return { id, list, name, query, created_at: iso(createdAt) };
}
