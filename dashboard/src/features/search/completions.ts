/** Completions at the cursor of a search (docs/search.md). Pure. */
import { RUN_STATUSES } from '../../../../src/model/runs/run-status.ts';
import type { SearchKind } from '../../../../src/model/search/syntax.ts';
import type { ExpressionCompletion } from '../../ui/expression-props.ts';

/** Names and fields of the environment. */
export interface Known {
  /** Variables, and fields of payloads, such as `data.customer.id`. */
  fields: readonly {
    path: string;
    type: string;
    detail: string /** A text that a recent event has. */;
    sample?: string;
  }[];
  eventNames: readonly string[];
  functionIds: readonly string[];
}

export interface Completions {
  /** Start of the text that the completions replace. */
  from: number;
  options: readonly ExpressionCompletion[];
}

const PATH = /[A-Za-z_$][\w$]*(?:\.[\w$]*|\[(?:"[^"\]]*"?|\d*)\]?)*$/;
/** A text that is being typed, with the comparison before it. */
const OPEN_TEXT = /([\w.$]+)\s*(?:==|!=|in\s*\[(?:\s*"[^"]*"\s*,)*)\s*"([^"]*)$/;
/** The expression has a value here, so an operator follows. */
const AFTER_FIELD = /(?:^|[\s(!&|])[A-Za-z_$][\w$]*(?:\.[\w$]+|\[(?:"[^"\]]*"|\d+)\])*\s+[=!<>]?$/;
const AFTER_COMPARISON = /(?:[=<>]\s*(?:"[^"]*"|[\d.]+|true|false|null)|[)\]])\s+[&|]?$/;
/** Without a space, because the value may continue. */
const AFTER_VALUE = /["')\]\d]$/;
const AFTER_OPERATOR = /[=<>]=?\s*\w*$/;

const OPERATORS: readonly ExpressionCompletion[] = [
  { label: '==', detail: 'equals', insert: '== ' },
  { label: '!=', detail: 'differs', insert: '!= ' },
  { label: '<', insert: '< ' },
  { label: '<=', insert: '<= ' },
  { label: '>', insert: '> ' },
  { label: '>=', insert: '>= ' },
  { label: 'in', detail: 'is one of', insert: 'in []', cursorBack: 1 },
];
const CONNECTIVES: readonly ExpressionCompletion[] = [
  { label: '&&', detail: 'and', insert: '&& ' },
  { label: '||', detail: 'or', insert: '|| ' },
];
const VALUES: readonly ExpressionCompletion[] = [{ label: 'true' }, { label: 'false' }, { label: 'null' }];
const HAS: ExpressionCompletion = { label: 'has(…)', detail: 'has the field', insert: 'has()', cursorBack: 1 };
const TEXT_TESTS = [
  ['startsWith', 'begins with'],
  ['endsWith', 'ends with'],
  ['contains', 'contains'],
] as const;
const SOURCES = ['event-key', 'webhook', 'outbox', 'api', 'service'];

/** @param before the text before the cursor, `after` the text behind it */
export function completionsFor(kind: SearchKind, known: Known, before: string, after: string): Completions | undefined {
  const text = OPEN_TEXT.exec(before);
  if (text) return textsOf(kind, known, text, before.length, after);
  if (isInText(before)) return undefined;
  const operator = /[=!<>&|]$/.exec(before)?.[0].length ?? 0;
  const from = before.length - operator;
  if (AFTER_COMPARISON.test(before)) return { from, options: CONNECTIVES };
  if (AFTER_FIELD.test(before)) return { from, options: [...OPERATORS, ...CONNECTIVES] };
  const word = PATH.exec(before)?.[0] ?? '';
  if (word === '' && AFTER_VALUE.test(before)) return undefined;
  const start = before.length - word.length;
  if (AFTER_OPERATOR.test(before)) return { from: start, options: VALUES };
  return { from: start, options: [...fieldsOf(known), HAS, ...textTestsOf(known, word)] };
}

function isInText(before: string): boolean {
  return before.replaceAll(/\\./g, '').split('"').length % 2 === 0;
}

/** Known values of the compared field. */
function textsOf(
  kind: SearchKind,
  known: Known,
  [, path = '', typed = '']: RegExpExecArray,
  end: number,
  after: string,
): Completions | undefined {
  const name = kind === 'runs' ? path.replace(/^event\./, '') : path;
  const values: Record<string, readonly string[]> = {
    name: known.eventNames,
    source: SOURCES,
    ...(kind === 'runs' && { status: RUN_STATUSES, function_id: known.functionIds }),
  };
  const samples = known.fields.flatMap((field) => (field.path === path && field.sample ? [field.sample] : []));
  const offered = values[name] ?? (samples.length > 0 ? samples : undefined);
  const options = offered?.map((value) => ({ label: value, insert: after.startsWith('"') ? value : `${value}"` }));
  return options && { from: end - typed.length, options };
}

function fieldsOf({ fields }: Known): ExpressionCompletion[] {
  return fields.map(({ path, detail }) => ({ label: path, detail }));
}

/** `name.startsWith("…")`, once the field and the period are there. */
function textTestsOf({ fields }: Known, word: string): ExpressionCompletion[] {
  const path = word.slice(0, word.lastIndexOf('.'));
  const isText = fields.some((field) => field.path === path && (field.type === 'text' || field.type === 'json'));
  if (!isText) return [];
  return TEXT_TESTS.map(([test, detail]) => ({
    label: `${path}.${test}`,
    detail,
    insert: `${path}.${test}("")`,
    cursorBack: 2,
  }));
}
