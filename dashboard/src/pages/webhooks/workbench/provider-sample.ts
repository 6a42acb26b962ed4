/** Samples that are not requests of the webhook: one of each provider, and a plain one. */
import type { ProviderDetails } from '../../../api/types.ts';
import type { Sample } from './sample.ts';

/** The plain sample's name in URLs; other samples have the ID of a provider. */
export const PLAIN = 'plain';

const JSON_TYPE = { 'Content-Type': 'application/json' };
/** IDs of templates, the predecessors of providers. */
const FORMER_IDS: Record<string, string> = { json: PLAIN, signed: 'hmac' };

export const PLAIN_SAMPLE: Sample = {
  body: JSON.stringify(
    { id: 'ord_1042', status: 'paid', total: 1990, customer: { email: 'ada@example.com' } },
    null,
    2,
  ),
  headers: JSON_TYPE,
  query: '',
};

export function presentId(id: string): string {
  return FORMER_IDS[id] ?? id;
}

export function sampleOfProvider({ sample: { headers, query, body } }: ProviderDetails): Sample {
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  return { body, headers: hasType ? headers : { ...JSON_TYPE, ...headers }, query };
}
