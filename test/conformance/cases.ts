/** Runs the language-neutral cases (clients/conformance/README.md) as mocha tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const CASES_DIR: string = resolve(import.meta.dirname, '../../clients/conformance');

interface TopicFile<Case> {
  topic: string;
  about: string;
  cases: Case[];
}

/** A handler for every field of a case except `title`, or the reason why the suite ignores the field. */
export type FieldsOf<Case> = Record<Exclude<keyof Case, 'title'>, true | string>;

export function topics(): string[] {
  return readdirSync(CASES_DIR)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length));
}

export function readTopic<Case>(topic: string): TopicFile<Case> {
  return JSON.parse(readFileSync(join(CASES_DIR, `${topic}.json`), 'utf8'));
}

/** One test per case. Fails for a case with an unknown field.
 *  @param concerns filters the cases; default: all */
export function eachCase<Case extends { title: string }>(
  topic: string,
  fields: FieldsOf<Case>,
  check: (given: Case) => unknown,
  concerns: (given: Case) => boolean = () => true,
): void {
  for (const given of readTopic<Case>(topic).cases.filter(concerns)) {
    it(given.title, async () => {
      only(given, ['title', ...Object.keys(fields)]);
      await check(given);
    });
  }
}

/** Ensures that no field of a case is ignored.
 *  @throws for an unknown field */
export function only(given: object, fields: readonly string[]): void {
  const unread = Object.keys(given).filter((field) => !fields.includes(field));
  if (unread.length > 0) throw new Error(`The case has fields that are not read here: ${unread.join(', ')}`);
}
