/** `GET /v1/http/runs/:run_id/output`: the response of an endpoint whose run outlived its request. Its client waits here for the end of the run,
 *  with a token instead of a key. */
import { setTimeout } from 'node:timers/promises';
import { orNotFound, ServiceError } from '../../errors.ts';
import type { History } from '../../history/history.ts';
import { ConcurrencyLimits } from '../../model/capacity/concurrency-limits.ts';
import { BRANCHES, ownerOfName } from '../../model/environment.ts';
import { bodyOf } from '../../model/runs/endpoint-response.ts';
import { hasEnded, type Run } from '../../model/runs/run.ts';
import { withoutSource } from '../../model/runs/run-error.ts';
import type { Store } from '../../store/store.ts';
import type { Context, Router } from '../http/router.ts';
import { withProtection } from '../receive/respond.ts';
import type { ResponseTokens } from './response-tokens.ts';

export interface EndpointResponseDeps extends Pick<Store, 'environments'> {
  runs: History['runs'];
}

/** After this time the client is redirected here again: proxies end requests that are silent for longer (Heroku after 30 s). */
const WAIT_MS = 20_000;
const POLL_MS = 100;
const POLL_MAX_MS = 1_000;
const CANCELLED = { name: 'RunCancelled', message: 'the run was cancelled' };
/** Maximum numbers of waiting clients in this process: per run, which has one token; per environment, or all branches together; and in
 *  total. */
const PER_RUN_MAX = 20;
const PER_OWNER_MAX = 500;
const WAITING_MAX = 2_000;

export function endpointResponseRoutes(router: Router, tokens: ResponseTokens, deps: EndpointResponseDeps): void {
  const { runs, environments } = deps;
  const waiting = new ConcurrencyLimits();

  /** @returns a function to call when the client no longer waits
   *  @throws ServiceError overloaded, too_many_connections */
  function begin(env: string, runId: string): () => void {
    const owner = ownerOfName(environments.find(env));
    const counted = waiting.begin([
      { name: `run ${env} ${runId}`, max: PER_RUN_MAX, of: 'of this run' },
      { name: `owner ${owner}`, max: PER_OWNER_MAX, of: owner === BRANCHES ? 'of branches' : `of "${owner}"` },
      { name: 'all', max: WAITING_MAX, of: 'in all' },
    ]);
    if ('end' in counted) return counted.end;
    const { name, max, of } = counted.reached;
    throw new ServiceError(name === 'all' ? 'overloaded' : 'too_many_connections', {
      detail: `${max} clients ${of} wait for responses at this process`,
      retryAfterSeconds: 1,
    });
  }

  const output = async (ctx: Context & { params: { run_id: string } }) => {
    const { run_id: runId } = ctx.params;
    const env = tokens.verify(ctx.query.token, runId, Date.now());
    // The token authorizes the request, whatever its page.
    ctx.set('access-control-allow-origin', '*');
    const end = begin(env, runId);
    try {
      respond(ctx, await endOf(ctx, env, runId));
    } finally {
      end();
    }
  };
  router.get('/v1/http/runs/:run_id/output', output);
  router.get('/v1/checkpoint/:run_id/output', output);

  /** Waits until the run has ended, or the maximum time has passed.
   *  @throws ServiceError not_found */
  async function endOf(ctx: Context, env: string, runId: string): Promise<Run> {
    const until = performance.now() + WAIT_MS;
    for (let ms = POLL_MS; ; ms = Math.min(ms * 1.5, POLL_MAX_MS)) {
      const run = orNotFound(await runs.read(env, runId), 'run', runId);
      if (hasEnded(run) || performance.now() > until || ctx.res.destroyed) return run;
      await setTimeout(ms);
    }
  }
}

function respond(ctx: Context, run: Run): void {
  const { output = 'null', response } = run;
  if (run.status === 'Completed' && response) {
    ctx.status = response.status;
    ctx.set(withProtection(response.headers));
    ctx.body = bodyOf(response, output);
    return;
  }
  ctx.type = 'application/json';
  if (run.status === 'Completed') {
    ctx.body = output;
  } else if (hasEnded(run)) {
    ctx.status = 500;
    ctx.body = JSON.stringify(run.error ? withoutSource(run.error) : CANCELLED);
  } else {
    ctx.status = 307;
    ctx.set('location', ctx.url);
    ctx.body = '{}';
  }
}
