import type { Sample } from '../workbench/sample.ts';

/** A transform to begin with, and a request such as its provider sends. */
export interface Template {
  /** Stands in addresses: never changes. */
  id: string;
  label: string;
  /** What the event is called, and what has to be set at the provider. */
  hint: string;
  transform: string;
  sample: Sample;
}

/** A sample whose body is that value as JSON. */
export function jsonSample(body: unknown, headers: Record<string, string> = {}, query = ''): Sample {
  return { body: JSON.stringify(body, null, 2), headers: { 'Content-Type': 'application/json', ...headers }, query };
}
