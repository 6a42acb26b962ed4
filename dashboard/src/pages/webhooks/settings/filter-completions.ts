/** Completions for a filter: the fields of a request. */
import type { ExpressionCompletion } from '../../../ui/expression-props.ts';
import { pathsOf } from '../workbench/completions.ts';
import { parsedBody, parseQuery, type Sample } from '../workbench/sample.ts';

const WORD = /[\w$.[\]"-]*$/;
const OPTIONS_MAX = 200;
const VARIABLES = [
  { label: 'body', detail: 'the body, parsed' },
  { label: 'headers', detail: 'names in lower case' },
  { label: 'query', detail: 'values are lists' },
  { label: 'method', detail: 'such as "POST"' },
];

/** @param sample a request of the webhook @param before the text before the cursor */
export function completeFilter(
  sample: Sample | undefined,
  before: string,
): { from: number; options: readonly ExpressionCompletion[] } {
  const [word = ''] = WORD.exec(before) ?? [];
  const fields = sample ? fieldsOf(sample) : [];
  const options = [...VARIABLES, ...fields].filter(({ label }) => label.startsWith(word) && label !== word);
  return { from: before.length - word.length, options: options.slice(0, OPTIONS_MAX) };
}

function fieldsOf({ headers, query, ...rest }: Sample): ExpressionCompletion[] {
  const lowerCased = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return [
    ...pathsOf('body', parsedBody({ headers, query, ...rest })),
    ...pathsOf('headers', lowerCased),
    ...pathsOf('query', parseQuery(query)),
  ].map(({ label, detail }) => ({ label, detail }));
}
