/** `POST /v0/runs/:id/logs`: an app sends the lines that its function wrote with the logger of its context
 *  (docs/protocol.md#logs). */
import { ServiceError } from '../../errors.ts';
import type { Backpressure } from '../../jobs/queues/backpressure.ts';
import type { Telemetry } from '../../jobs/telemetry/telemetry.ts';
import { ID_PATTERN } from '../../model/ids.ts';
import { LOG_BATCH_MAX_BYTES, LOG_RATE_MAX, LOG_RATE_WINDOW_MS, logBatchSchema } from '../../model/runs/log-lines.ts';
import type { Store } from '../../store/store.ts';
import type { Router } from '../http/router.ts';
import { validate } from '../http/validation.ts';
import { type AppGuardDeps, appGuard, existingEnvironment } from './app-requests.ts';
import { readJsonBody } from './json-body.ts';

export interface RunLogRouteDeps extends AppGuardDeps, Pick<Store, 'runLogs'> {
  backpressure: Pick<Backpressure, 'admitRegistration'>;
  telemetry: Pick<Telemetry, 'publishRun'>;
}

const RETRY_AFTER_SECONDS = LOG_RATE_WINDOW_MS / 1_000;

export function runLogRoute(router: Router, deps: RunLogRouteDeps): void {
  const { runLogs, environments, backpressure, telemetry } = deps;
  router.post('/v0/runs/:id/logs', appGuard(deps), async (ctx) => {
    const { id } = ctx.params;
    // Memory needed for events is worth more than logs.
    backpressure.admitRegistration();
    if (!ID_PATTERN.test(id)) throw notFound(id);
    const batch = validate(logBatchSchema, await readJsonBody(ctx, LOG_BATCH_MAX_BYTES), 'field');
    const env = await existingEnvironment(ctx, environments);
    const appended = await runLogs.append(env, id, batch, Date.now());
    if (appended === 'gone') throw notFound(id);
    if (appended === 'busy') {
      throw new ServiceError('rate_exceeded', {
        detail: `a run may send its log ${LOG_RATE_MAX} times in ${RETRY_AFTER_SECONDS} s`,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    // Makes open pages of the run reload it.
    if (appended !== 'known') telemetry.publishRun({ env, id, ...appended }, appended.status);
    ctx.body = {};
  });
}

function notFound(id: string): ServiceError {
  return new ServiceError('not_found', { detail: `there is no run with the ID "${id}", or it is archived` });
}
