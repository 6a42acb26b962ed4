/** The condition that finds a text as a value of a field, by the fields that some events have. */
import { addFields, type Field } from './field-paths.ts';
import { LENGTH_MAX, parseSearch } from './parse.ts';
import { SearchError } from './search-error.ts';

const FIELDS_KNOWN = 200;
/** Senders choose the names of fields: longer paths are not compared. */
const PATH_MAX = 100;
const FIELDS_COMPARED = 20;

/** Whether a field that the events have is the text: an order number, a customer.
 *  @returns a condition of searches; undefined: they have no such fields */
export function payloadCondition(events: readonly { data: unknown }[], text: string): string | undefined {
  const fields = new Map<string, Field>();
  for (const { data } of events) addFields(fields, 'data', data, FIELDS_KNOWN);
  const isNumber = /^-?\d{1,15}$/.test(text);
  const compared = [...fields.values()]
    .filter(({ path, type }) => path.length <= PATH_MAX && (type === 'text' || (isNumber && type === 'number')))
    .filter(({ path }) => isSearchable(`${path} == 0`))
    .map(({ path, type }) => `${path} == ${type === 'text' ? JSON.stringify(text) : text}`);
  let condition = '';
  for (const comparison of compared.slice(0, FIELDS_COMPARED)) {
    const longer = condition === '' ? comparison : `${condition} || ${comparison}`;
    if (longer.length > LENGTH_MAX) break;
    condition = longer;
  }
  return condition === '' || !isSearchable(condition) ? undefined : condition;
}

function isSearchable(condition: string): boolean {
  try {
    parseSearch(condition, 'events');
    return true;
  } catch (error) {
    if (error instanceof SearchError) return false;
    throw error;
  }
}
