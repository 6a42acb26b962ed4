/** `GET /v1/runs/:id/logs`: the lines that a function wrote with the logger of its context, in its steps and between
 *  them. */
import { z } from 'zod';
import { notFound } from '../../errors.ts';
import { LOG_LEVELS, type LogLine, RUN_LOG_MAX_BYTES, RUN_LOG_MAX_LINES } from '../../model/runs/log-lines.ts';
import type { ApiParts } from '../parts.ts';
import { countedReply, countPosition, listQuery, longPageQuery } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { logLineSchema, presentLogLine } from '../views/run-log.ts';

const OUTSIDE = 'none';

const query = z.object({
  level: listQuery(LOG_LEVELS).describe('Only lines of these levels, separated by commas'),
  step: z
    .string()
    .max(40)
    .regex(/^(?:none|[0-9a-f]{40})$/, 'the hashed ID of a step, or none')
    .optional()
    .describe(`Only lines of the step with this hashed ID; ${OUTSIDE}: only lines outside of steps`),
  ...longPageQuery(countPosition),
});

const routes = routesOf({ tag: 'Runs', scope: 'environment' });

export function runLogRoutes({ runs, runParts }: ApiParts): Route[] {
  return [
    routes.get('/v1/runs/:id/logs', {
      operationId: 'listRunLogs',
      summary: "List a run's log",
      description:
        `In order of receipt. The oldest lines of a run are kept, up to ${RUN_LOG_MAX_LINES} lines and ${RUN_LOG_MAX_BYTES} bytes; ` +
        '`metadata.dropped` is the number of other lines.',
      query,
      data: z.array(logLineSchema),
      async handle({ env, params: { id }, query: { level, step, ...page } }) {
        if (!(await runs.read(env, id))) {
          throw notFound('run', id);
        }
        const { lines, dropped } = await runParts.read(env, id, 'logs');
        const isWanted = (line: LogLine) =>
          (!level || level.includes(line.level)) && (step === undefined || (line.step ?? OUTSIDE) === step);
        const { data, metadata } = countedReply(lines.filter(isWanted), page, presentLogLine);
        return { data, metadata: { ...metadata, dropped } };
      },
    }),
  ];
}
