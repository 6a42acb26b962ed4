/** Moves the clock of a service in dev mode: `await advanceClock('http://127.0.0.1:8288', '3d')`. */

export interface MovedClock {
  /** The time of the service. */
  now: Date;
  /** Runs that had their first call. */
  runsStarted: number;
  runsEnded: number;
  /** Active runs, which sleep or wait. */
  waiting: number;
}

interface Answer {
  data: { now: string; target: string; reached: string; runs_started: number; runs_ended: number; waiting: number };
}

/** Resolves when everything that is due until then has happened, in its order.
 *  @param by how much time passes, such as `90s`, `1h30m` or `3d`; or the time to which it passes
 *  @throws Error if the service refuses, as in production, or if something does not end, such as a call */
export async function advanceClock(serviceUrl: string, by: string | Date): Promise<MovedClock> {
  const sum = { runsStarted: 0, runsEnded: 0 };
  let body: { advance: string } | { to: string } = typeof by === 'string' ? { advance: by } : { to: by.toISOString() };
  for (;;) {
    const { now, target, reached, runs_started, runs_ended, waiting } = await post(serviceUrl, body);
    sum.runsStarted += runs_started;
    sum.runsEnded += runs_ended;
    if (reached === 'target') return { now: new Date(now), ...sum, waiting };
    if (reached !== 'limit') throw new Error(`The clock stopped at ${now}: something does not end, such as a call`);
    body = { to: target };
  }
}

async function post(serviceUrl: string, body: object): Promise<Answer['data']> {
  const url = new URL('/v1/dev/clock', serviceUrl);
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const answer = (await response.json().catch(() => ({}))) as Partial<Answer> & { error?: string };
  if (response.ok && answer.data) return answer.data;
  throw new Error(`The clock was not moved: ${answer.error ?? `${url} answered ${response.status}`}`);
}
