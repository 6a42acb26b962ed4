/** `/v1/functions/:id/lanes`: lanes of functions with an order, and actions on lanes that failed runs stop. */

import { z } from 'zod';
import { orNotFound, ServiceError } from '../../errors.ts';
import { existingFunction } from '../apps/existing.ts';
import type { ApiParts } from '../parts.ts';
import { listReply, pageQuery } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { detailedLaneSchema, laneSchema, presentDetailedLane, presentLane } from '../views/lane.ts';

const EVENTS_SHOWN = 100;

const functionParams = z.object({ id: z.string().describe("The function's ID with the app's name as prefix") });
const params = functionParams.extend({ lane: z.string().describe('The ID of the lane') });
const position = z.object({ order: z.int().min(0), list: z.int().min(0), offset: z.int().min(0) });

const routes = routesOf({ tag: 'Functions', scope: 'environment' });

export function laneRoutes({ functions, functionLanes }: ApiParts): Route[] {
  async function laneOf(env: string, id: string, laneId: string) {
    const lane = await functionLanes.read(env, await existingFunction(functions, env, id), laneId, EVENTS_SHOWN);
    return orNotFound(lane, 'lane', laneId);
  }

  const action = (name: 'retry' | 'skip', summary: string, description: string) =>
    routes.post(`/v1/functions/:id/lanes/:lane/${name}`, {
      operationId: `${name}Lane`,
      summary,
      description,
      params,
      data: z.object({}),
      errors: ['not_found', 'lane_not_stopped'],
      async handle({ env, params: { id, lane: laneId } }) {
        const lane = await laneOf(env, id, laneId);
        if (!(await functionLanes.change(env, lane, name))) {
          throw new ServiceError('lane_not_stopped', { detail: `it is ${lane.state}` });
        }
        return { data: {} };
      },
    });

  return [
    routes.get('/v1/functions/:id/lanes', {
      operationId: 'listLanes',
      summary: 'List the lanes of a function',
      description:
        'The lanes that are not idle: those that are due first, then those with active runs. For functions that share an order: the lanes of all.',
      params: functionParams,
      query: z.object({
        stopped: z
          .enum(['true', 'false'])
          .default('false')
          .describe('true: only lanes that failed runs stop, the first ones first'),
        ...pageQuery(position),
      }),
      data: z.array(laneSchema),
      async handle({ env, params: { id }, query: { stopped, limit, cursor } }) {
        const fn = await existingFunction(functions, env, id);
        const { lanes, next } = await functionLanes.list(env, fn, { isStopped: stopped === 'true', limit, cursor });
        return listReply(lanes, { present: presentLane, next });
      },
    }),
    routes.get('/v1/functions/:id/lanes/:lane', {
      operationId: 'getLane',
      summary: 'Get a lane with the events that wait in it',
      params,
      data: detailedLaneSchema,
      async handle({ env, params: { id, lane } }) {
        return { data: presentDetailedLane(await laneOf(env, id, lane)) };
      },
    }),
    action('retry', 'Run the failed event of a lane again', 'Now. If it completes, the lane goes on.'),
    action('skip', 'Let a stopped lane go on', 'Its next event runs; the failed one does not run again by itself.'),
  ];
}
