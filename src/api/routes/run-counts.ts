/** `/v1/runs/count`: counts the runs of a list. */
import { z } from 'zod';
import { RUN_STATUSES } from '../../model/runs/run-status.ts';
import { apiObject } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { listQuery } from '../rest/list-query.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { filteredBy, runFilters } from '../rest/run-selection.ts';

const COUNT_MS = 2_000;

export const runCountSchema = apiObject('RunCount', {
  count: z.int(),
  by_status: z.partialRecord(z.enum(RUN_STATUSES), z.int()),
  is_exact: z.boolean().describe('false: the count is a lower bound'),
});

const routes = routesOf({ tag: 'Runs', scope: 'environment' });

export function runCountRoutes({ selectedRuns }: ApiParts): Route[] {
  return [
    routes.get('/v1/runs/count', {
      operationId: 'countRuns',
      summary: 'Count runs',
      description: 'Counts the runs that `GET /v1/runs` lists with the same filters. Counting stops after 2 s.',
      query: z.strictObject({
        status: listQuery(RUN_STATUSES).describe('One or more, separated by commas or repeated'),
        ...runFilters,
      }),
      data: runCountSchema,
      errors: ['searches_full', 'archive_unavailable'],
      async handle({ env, query: { status = RUN_STATUSES, ...filters } }) {
        const selection = filteredBy(env, status, filters, Date.now());
        const { count, byStatus, isExact } = await selectedRuns.count(selection, COUNT_MS);
        return { data: { count, by_status: Object.fromEntries(byStatus), is_exact: isExact } };
      },
    }),
  ];
}
