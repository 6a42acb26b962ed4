/** Compares the lists and counts of the API with what was acknowledged: they go across Redis and Postgres. */
import type { Service } from '../service.ts';

export interface ListFindings {
  /** Acknowledged events, and their runs, that a list has not exactly once. */
  events: string[];
  runs: string[];
  /** Counts that are not those of the list. */
  counts: string[];
}

const PAGE = 100;
/** Clocks of the service jump by less. */
const AROUND_MS = 60_000;

/** @param startedAt Unix milliseconds
 *  @param when shown with each finding */
export async function compareLists(
  service: Service,
  events: Iterable<string>,
  runs: Iterable<string>,
  startedAt: number,
  when: string,
): Promise<ListFindings> {
  const range = rangeSince(startedAt);
  const listed = await listEvents(service, range);
  const listedRuns = await service.list<{ run_id: string }>(`/v1/runs?limit=${PAGE}`);
  const findings: ListFindings = {
    events: notOnce(
      events,
      listed.map(({ internal_id }) => internal_id),
    ),
    runs: notOnce(
      runs,
      listedRuns.map(({ run_id }) => run_id),
    ),
    counts: [],
  };
  for (const name of [undefined, ...new Set(listed.map(({ name }) => name))]) {
    const ofName = name === undefined ? listed : listed.filter((event) => event.name === name);
    const filter = name === undefined ? '' : `&name=${encodeURIComponent(name)}`;
    const buckets = await service.get<{ count: number }[]>(`/v1/events/histogram?${range}${filter}`);
    const counted = buckets?.reduce((sum, { count }) => sum + count, 0);
    if (counted === ofName.length) continue;
    findings.counts.push(`${name ?? 'all names'}: ${ofName.length} in the list, ${counted} in the histogram`);
  }
  for (const found of Object.values(findings))
    found.splice(0, found.length, ...found.map((one: string) => `${when}: ${one}`));
  return findings;
}

/** @returns events that no list has yet: the last write of an event's ingestion adds it, after its runs have started */
export async function findUnlisted(service: Service, events: Iterable<string>, startedAt: number): Promise<string[]> {
  const listed = new Set((await listEvents(service, rangeSince(startedAt))).map(({ internal_id }) => internal_id));
  return [...events].filter((id) => !listed.has(id));
}

function rangeSince(startedAt: number): string {
  const after = new Date(startedAt - AROUND_MS).toISOString();
  const before = new Date(Date.now() + AROUND_MS).toISOString();
  return `received_after=${after}&received_before=${before}`;
}

function listEvents(service: Service, range: string): Promise<{ internal_id: string; name: string }[]> {
  return service.list(`/v1/events?limit=${PAGE}&exclude=data&${range}`);
}

function notOnce(expected: Iterable<string>, listed: readonly string[]): string[] {
  const times = new Map<string, number>();
  for (const id of listed) times.set(id, (times.get(id) ?? 0) + 1);
  const all = new Set([...expected, ...times.keys()]);
  return [...all].flatMap((id) => (times.get(id) === 1 ? [] : `${id}: ${times.get(id) ?? 0} times`));
}
