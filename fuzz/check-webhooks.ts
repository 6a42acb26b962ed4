/** What is true of webhooks with providers after the attack: no event from a forged request, no secret in the logs, nothing fetched that must not be. */
import { until } from '../test/support/until.ts';
import { SECRET_MARK } from './providers.ts';
import type { Targets } from './targets.ts';

/** Requests of the log that are read, of each webhook. */
const LOGGED = 20;
const LINE_CHARS = 300;

/** @returns a description of each problem */
export async function checkWebhooks({ service, host, names }: Targets): Promise<string[]> {
  const get = async (path: string) => (await service.request('GET', path, undefined, service.apiHeaders)).body.data;
  const problems = host.fetched.map((url) => `The service fetched ${url}`);

  const forged: { internal_id: string }[] = await get('/v1/events?name=fuzz/forged&limit=5');
  problems.push(...forged.map(({ internal_id }) => `The event ${internal_id} came from a forged request`));
  const genuine: { internal_id: string; verified?: boolean }[] = await get('/v1/events?name=fuzz/genuine&limit=100');
  const unverified = genuine.filter(({ verified }) => verified !== true);
  problems.push(...unverified.map(({ internal_id }) => `The event ${internal_id} of a signed request is not verified`));

  for (const [name, id] of Object.entries(names).filter(([name]) => name.startsWith('hook-id:'))) {
    const logged = await until<{ id: string }[]>(async () => get(`/v1/webhooks/${id}/requests?limit=${LOGGED}`), {
      describe: `the request log of ${name}`,
    });
    for (const one of logged) {
      const text = JSON.stringify(await get(`/v1/webhooks/${id}/requests/${one.id}`));
      if (text?.includes(SECRET_MARK)) problems.push(`The logged request ${one.id} of ${name} has a secret: ${text}`);
    }
  }
  for (const one of [...service.webs, ...service.workers]) {
    const lines = one.output().split('\n');
    const told = lines.filter((line) => line.includes(SECRET_MARK)).slice(0, 3);
    problems.push(...told.map((line) => `A log line of ${one.role} has a secret: ${line.slice(0, LINE_CHARS)}`));
  }
  return problems;
}
