/** The checks of a service with an archive: all of it is found exactly once while a part is in Redis, and when all is in Postgres. */
import { writeFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import type { PostgresServer } from '../postgres.ts';
import type { Count } from '../results.ts';
import type { Service } from '../service.ts';
import { checkTables, describeKeys, untilArchived } from './archived.ts';
import { compareLists, type ListFindings } from './lists.ts';

interface Subject {
  service: Service;
  /** undefined: there is no archive, and only the lists are checked. */
  postgres: PostgresServer | undefined;
  primaries: () => Promise<Redis[]>;
  events: readonly string[];
  runs: readonly string[];
  /** When the run started, Unix milliseconds. */
  startedAt: number;
  /** Where the keys that are left in Redis are kept with their content; undefined: nowhere. */
  leftKeysFile: string | undefined;
}

export async function checkArchive({
  service,
  postgres,
  primaries,
  events,
  runs,
  startedAt,
  leftKeysFile,
}: Subject): Promise<Count[]> {
  const lists = [await compareLists(service, events, runs, startedAt, 'after the recovery')];
  const archived: Count[] = [];
  if (postgres) {
    const left = await untilArchived(primaries);
    if (left.length > 0 && leftKeysFile) writeFileSync(leftKeysFile, await describeKeys(await primaries(), left));
    archived.push(none('keys of events and runs left in Redis when all is archived', left));
    archived.push(none('contradictions between tables of Postgres', await checkTables(postgres)));
    lists.push(await compareLists(service, events, runs, startedAt, 'when all is archived'));
    archived.push(
      none('events or runs not found by ID when all is archived', await findMissing(service, events, runs)),
    );
  }
  const all = (kind: keyof ListFindings) => lists.flatMap((found) => found[kind]);
  return [
    none('events not exactly once in the list', all('events')),
    none('runs not exactly once in the list', all('runs')),
    none('counts other than those of the list', all('counts')),
    ...archived,
  ];
}

async function findMissing(service: Service, events: readonly string[], runs: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  const waiting = [...events.map((id) => `/v1/events/${id}`), ...runs.map((id) => `/v1/runs/${id}`)];
  const work = async () => {
    for (let path = waiting.pop(); path; path = waiting.pop()) if (!(await service.get(path))) missing.push(path);
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return missing;
}

function none(name: string, findings: string[]): Count {
  return { name, most: 0, figure: findings.length, findings };
}
