/** `POST /v1/signals`: ends the step that waits for a signal. */
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { rejectDeep } from '../../model/events/sent-event.ts';
import { MAX_NAME_LENGTH } from '../../model/runs/operation.ts';
import { apiObject } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { type Route, routesOf } from '../rest/route.ts';

const routes = routesOf({ tag: 'Runs', scope: 'environment' });

export function signalRoutes({ acceptor, signalSender, eventLimits }: ApiParts): Route[] {
  return [
    routes.post('/v1/signals', {
      forApps: true,
      operationId: 'sendSignal',
      summary: 'Send a signal',
      description:
        'Ends the one step of the environment that waits for the signal (`step.waitForSignal`); its run continues with `signal` and `data`. 404 if no step waits for the signal.',
      body: z.object({
        signal: z.string().min(1).max(MAX_NAME_LENGTH).describe('Name of the signal'),
        data: z.unknown().optional().describe('Any JSON. Default: null'),
      }),
      eventLimit: (env) => eventLimits.of(env),
      // Signals are not in the audit log: like events, functions may send thousands of them a minute.
      audited: false,
      data: apiObject('SentSignal', { run_id: z.string().describe('The run that continues') }),
      errors: ['not_found', 'event_invalid', 'body_too_large'],
      async handle({ env, body: { signal, data } }) {
        rejectDeep(data);
        const runId = await acceptor.writeDurably(() => signalSender.send(env, signal, data));
        if (runId === undefined) {
          throw new ServiceError('not_found', { detail: `no step waits for the signal ${JSON.stringify(signal)}` });
        }
        return { data: { run_id: runId } };
      },
    }),
  ];
}
