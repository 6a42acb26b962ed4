/** `/v1/what-ifs`: what another build of an app would do with its runs. */
import { z } from 'zod';
import { invalidField, ServiceError } from '../../errors.ts';
import { probeApp } from '../../functions/probe.ts';
import { compareTriggers } from '../../jobs/what-if/triggers.ts';
import { type AppFunction, httpUrl } from '../../model/apps/app.ts';
import type { ProbeResult } from '../../model/apps/app-problems.ts';
import { covers, type Principal } from '../../model/auth/access.ts';
import { newId } from '../../model/ids.ts';
import { describe } from '../../model/values/json.ts';
import { DAY_MS, durationMs, MINUTE_MS } from '../../model/values/time.ts';
import { refusalOfSdk } from '../../model/what-if/planning-sdks.ts';
import type { WhatIf, WhatIfDefinition, WhatIfExample } from '../../model/what-if/what-if.ts';
import type { App } from '../../store/apps/apps.ts';
import { type AskedCandidate, askRegistration } from '../apps/asked-registration.ts';
import { wholeBetween } from '../http/validation.ts';
import type { ApiParts } from '../parts.ts';
import { namePosition, pageOfNewest, pageQuery } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { listedWhatIfSchema, presentListedWhatIf, presentWhatIf, whatIfSchema } from '../views/what-if.ts';
import { operationRoutes } from './bulk-operation.ts';

const PROBE_MS = 10_000;
const TRIGGERS_MS = 7 * DAY_MS;

const bodySchema = z.object({
  url: httpUrl.describe('URL of the candidate, another build of the app. It need not be registered, and is not'),
  app: z.string().max(128).optional().describe('Name of the registered app; needed if there are several'),
  active: z.boolean().default(true).describe('Whether to compare the runs that have not ended'),
  last: z
    .string()
    .max(20)
    .optional()
    .describe('How far back to compare runs that have completed or failed, such as 7d. Absent: they are not compared'),
  triggers: z
    .boolean()
    .default(true)
    .describe('Whether to compare triggers, on a sample of the events since `last`, or of 7 days'),
  active_max: wholeBetween(1, 1_000_000).default(10_000).describe('Maximum number of active runs'),
  past_max: wholeBetween(1, 100_000)
    .default(100)
    .describe('Maximum number of completed runs, and of failed runs, of each function'),
  max_minutes: wholeBetween(1, 1_440).default(30),
});

const params = z.object({ id: z.string().max(64) });

const routes = routesOf({ tag: 'Apps', scope: 'environment' });

export function whatIfRoutes(deps: ApiParts): Route[] {
  const { dev, whatIfs, apps, functions, environments, signingKeys, environmentKinds, httpAgent } = deps;

  async function existing(env: string, id: string): Promise<WhatIf> {
    const whatIf = await whatIfs.read(env, id);
    if (whatIf) return whatIf;
    throw new ServiceError('not_found', { detail: `there is no what-if with the ID ${describe(id)}` });
  }

  async function appOf(env: string, name: string | undefined): Promise<App> {
    const all = await apps.all(env);
    const [only, ...others] = name === undefined ? all : all.filter((app) => app.name === name);
    if (only && others.length === 0) return only;
    if (name !== undefined) throw new ServiceError('not_found', { detail: `there is no app named "${name}"` });
    throw invalidField('app', only ? 'missing, and there are several apps' : 'missing, and there are no apps');
  }

  /** @throws ServiceError app_unreachable, address_blocked, sdk_unsupported */
  async function probed(env: string, url: string, { dialect: known }: App) {
    const signingKey = dev ? undefined : await signingKeys.current(env);
    const agent = httpAgent.for(await environmentKinds.of(env));
    const probe = (dialect: App['dialect']) => probeApp({ url, dialect, dev, signingKey, timeoutMs: PROBE_MS }, agent);
    const first = await probe(known);
    const found = first.dialect === undefined || first.dialect === known ? first : await probe(first.dialect);
    const { dialect, sdk } = found;
    if (dialect === undefined || sdk === undefined || found.rejectsCalls) throw unreachable(url, found);
    const refusal = dialect === 'inngest' ? refusalOfSdk(sdk) : undefined;
    if (refusal) throw new ServiceError('sdk_unsupported', { detail: refusal });
    return { dialect, sdk };
  }

  /** If the comparison of triggers is not possible, the report has the reason. */
  async function triggersOf(
    given: Omit<AskedCandidate, 'agent' | 'signingKey'> & { present: readonly AppFunction[]; since: number },
    principal: Principal,
  ): Promise<NonNullable<WhatIfDefinition['triggers']>> {
    const { env, url, present, since } = given;
    const signingKey = dev ? undefined : await signingKeys.current(env);
    const agent = httpAgent.for(await environmentKinds.of(env));
    try {
      const { checked } = await askRegistration({ ...given, agent, signingKey }, deps);
      const refused = checked.refused.flatMap(({ id }) => id ?? []);
      const nowMs = Date.now();
      return await compareTriggers({ env, present, candidate: checked.registered, refused, since, nowMs }, deps);
    } catch (error) {
      const shown = forPrincipal(error, url, principal);
      if (!(shown instanceof ServiceError)) throw shown;
      return { problem: shown.message };
    }
  }

  const present = async (whatIf: WhatIf) => presentWhatIf(whatIf, await whatIfs.results<WhatIfExample>(whatIf, {}));

  const of = operationRoutes({
    routes,
    path: '/v1/what-ifs/:id',
    params,
    name: 'WhatIf',
    noun: 'what-if',
    plural: 'what-ifs',
    data: listedWhatIfSchema,
    present: presentListedWhatIf,
    store: whatIfs,
    read: (env, { id }) => existing(env, id),
  });

  return [
    routes.post('/v1/what-ifs', {
      operationId: 'createWhatIf',
      summary: 'Ask what another build of an app would do',
      description:
        'Calls the candidate at the URL, in the background, with the events and step results of stored runs, and asks it to plan only: no step runs, and nothing is stored. Code between ' +
        'steps does run. Its calls are signed and carry the header `what-if: 1`. The candidate is not registered.',
      body: bodySchema,
      status: 201,
      data: whatIfSchema,
      errors: [
        'not_found',
        'app_unreachable',
        'address_blocked',
        'sdk_unsupported',
        'environment_archived',
        'quota_exceeded',
      ],
      async handle({ env, principal, body }) {
        const { url, active, last, triggers, active_max: activeMax, past_max: pastMax, max_minutes: maxMinutes } = body;
        const now = Date.now();
        const pastSince = last === undefined ? undefined : sinceOf(last, now);
        if (!active && pastSince === undefined) throw invalidField('last', 'missing, and active runs are left out');
        if ((await environments.read(env))?.archivedAt !== undefined) throw new ServiceError('environment_archived');
        const app = await appOf(env, body.app);
        const own = (await functions.all(env)).functions.filter((fn) => fn.app === app.name && !fn.archived);
        const called = own.filter(({ endpoint }) => endpoint === undefined);
        const whatIfId = newId(now);
        const since = pastSince ?? now - TRIGGERS_MS;
        const candidate = await probed(env, url, app).catch((error) =>
          Promise.reject(forPrincipal(error, url, principal)),
        );
        const definition = {
          id: whatIfId,
          app: app.name,
          url,
          ...candidate,
          functions: called.map(({ id }) => id),
          active,
          activeMax,
          ...(pastSince !== undefined && { pastSince }),
          pastMax,
          ...(triggers && {
            triggers: await triggersOf(
              { id: whatIfId, env, app: app.name, url, dialect: candidate.dialect, present: called, since },
              principal,
            ),
          }),
          endsBy: now + maxMinutes * MINUTE_MS,
          createdAt: now,
        };
        const position = { scope: active ? 'active' : 'past', fn: 0 } as const;
        const id = await whatIfs.add(env, definition, { position });
        return { data: await present(await existing(env, id)) };
      },
    }),
    of.list({
      description: 'Newest first, without functions. At most 200 are kept, for 30 days.',
      query: z.object(pageQuery(namePosition)),
      async find({ env, query }) {
        return pageOfNewest(await whatIfs.list(env), ({ id }) => id, query);
      },
    }),
    routes.get('/v1/what-ifs/:id', {
      operationId: 'getWhatIf',
      summary: 'Get a what-if',
      description: 'While the what-if runs, the numbers cover the runs compared so far.',
      params,
      data: whatIfSchema,
      async handle({ env, params: { id } }) {
        return { data: await present(await existing(env, id)) };
      },
    }),
    ...of.changes({ cancel: 'It compares no more runs. One that is done stays so.' }, ['cancel']),
  ];
}

function sinceOf(last: string, nowMs: number): number {
  const ms = durationMs(last);
  if (ms === undefined) throw invalidField('last', `${describe(last)} is not a duration such as 7d`);
  return Math.max(0, nowMs - ms);
}

function unreachable(url: string, { connectionProblem, message, status, isApp, rejectsCalls }: ProbeResult) {
  if (connectionProblem === 'blocked') return new ServiceError('address_blocked', { detail: message ?? url });
  if (connectionProblem) return new ServiceError('app_unreachable', { detail: `GET ${url}: ${message}` });
  if (!isApp) {
    const detail = `GET ${url}: the response (status ${status}) has no sdk header; check that this is an app's URL`;
    return new ServiceError('app_unreachable', { detail });
  }
  const detail = rejectsCalls
    ? `${url} rejects calls that are signed with the environment's key; give the candidate the signing key of this environment`
    : `GET ${url} did not respond as an app`;
  return new ServiceError('app_unreachable', { detail });
}

/** The details would reveal the network around the service, so only admins get them. */
function forPrincipal(error: unknown, url: string, { access }: Principal): unknown {
  const hasDetails =
    error instanceof ServiceError && (error.code === 'app_unreachable' || error.code === 'address_blocked');
  if (!hasDetails || covers(access, 'admin')) return error;
  const detail = `${url} does not respond as an app that has the signing key of this environment; an admin gets the reason`;
  return new ServiceError('app_unreachable', { detail, cause: error });
}
