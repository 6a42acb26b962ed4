/** References to functions of other apps, for `step.invoke`. */
import type { AnyData } from './events.ts';
import { refuseUnknown } from './options.ts';
import type { InputOf, OutputOf, StandardSchema } from './standard-schema.ts';
import type { Invocable } from './steps/types.ts';

// biome-ignore lint/suspicious/noExplicitAny: schemas of any data
export type AnySchema = StandardSchema<any, any>;

export interface ReferenceOptions<Input, Output> {
  /** ID of the app; of its client. */
  appId: string;
  /** ID of the function in `createFunction`. */
  functionId: string;
  /** Only for types: of the data that the function takes, and of its result. */
  schemas?: { data?: Input; output?: Output };
}

type DataOf<Schema> = Schema extends AnySchema ? InputOf<Schema> : AnyData;

// biome-ignore lint/suspicious/noExplicitAny: without a schema, the output may be read freely
type ReturnOf<Schema> = Schema extends AnySchema ? OutputOf<Schema> : any;

/** A function that this process does not host: `step.invoke('enrich', { function: referenceFunction({ appId: 'crm', functionId: 'enrich' }) })`.
 *  @throws TypeError if an ID is missing */
export function referenceFunction<Input = undefined, Output = undefined>(
  options: ReferenceOptions<Input, Output>,
): Invocable<ReturnOf<Output>, DataOf<Input>> {
  refuseUnknown('referenceFunction', options, ['appId', 'functionId', 'schemas']);
  const { appId, functionId: id } = options;
  if (!appId || !id) throw new TypeError('referenceFunction needs the appId and the functionId of the function');
  return Object.freeze({ appId, id });
}
