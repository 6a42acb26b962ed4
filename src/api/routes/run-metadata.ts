/** `/v1/runs/:id/metadata`: metadata of a run and its steps, such as scores, set by its function or later by users. */
import { z } from 'zod';
import { notFound, ServiceError } from '../../errors.ts';
import { METADATA_MAX_BYTES, METADATA_MAX_VALUES, metadataRequestSchema, targetOf } from '../../model/runs/metadata.ts';
import type { ApiParts } from '../parts.ts';
import { countedReply, countPosition, longPageQuery } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { metadataSchema, presentMetadata } from '../views/run-metadata.ts';

const routes = routesOf({ tag: 'Runs', scope: 'environment', forApps: true });

export function runMetadataRoutes({ runs, runParts, runMetadata }: ApiParts): Route[] {
  const data = z.array(metadataSchema);
  return [
    routes.get('/v1/runs/:id/metadata', {
      operationId: 'listRunMetadata',
      summary: "List a run's metadata",
      query: z.object(longPageQuery(countPosition)),
      data,
      async handle({ env, params: { id }, query }) {
        if (!(await runs.read(env, id))) throw notFound('run', id);
        return countedReply(await runParts.read(env, id, 'metadata'), query, presentMetadata);
      },
    }),
    routes.post('/v1/runs/:id/metadata', {
      audited: false,
      operationId: 'updateRunMetadata',
      summary: "Update a run's metadata",
      description: `Also works after the run has ended. A run has at most ${METADATA_MAX_VALUES} values and ${METADATA_MAX_BYTES} bytes.`,
      body: metadataRequestSchema,
      data,
      errors: ['not_found', 'quota_exceeded'],
      async handle({ env, params: { id }, body }) {
        if (body.target.run_id !== id) {
          throw new ServiceError('input_invalid', {
            detail: 'target.run_id is not the run in the path',
            facts: { field: 'target.run_id' },
          });
        }
        for (const update of body.metadata) {
          const outcome = await runMetadata.update(env, id, targetOf(body), update, Date.now());
          if (outcome === 'gone') throw notFound('run', id);
          if (outcome === 'full') {
            throw new ServiceError('quota_exceeded', {
              detail: `the run would have more than ${METADATA_MAX_VALUES} values or ${METADATA_MAX_BYTES} bytes of metadata; the kind "${update.kind}" was not stored`,
            });
          }
        }
        return { data: (await runParts.read(env, id, 'metadata')).map(presentMetadata) };
      },
    }),
  ];
}
