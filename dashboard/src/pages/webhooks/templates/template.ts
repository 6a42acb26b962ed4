import type { Sample } from '../workbench/sample.ts';

/** A starter transform and a sample request of its provider. */
export interface Template {
  /** Part of URLs: never changes. */
  id: string;
  label: string;
  /** Names of the events, and settings needed at the provider. */
  hint: string;
  transform: string;
  sample: Sample;
}

/** A sample with a JSON body. */
export function jsonSample(body: unknown, headers: Record<string, string> = {}, query = ''): Sample {
  return { body: JSON.stringify(body, null, 2), headers: { 'Content-Type': 'application/json', ...headers }, query };
}
