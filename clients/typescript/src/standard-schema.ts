/** The Standard Schema interface (standardschema.dev), version 1: supported by zod, valibot, arktype and others. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaFault[] };

export interface SchemaFault {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type TypesOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>;

export type InputOf<Schema extends StandardSchema> = TypesOf<Schema>['input'];

export type OutputOf<Schema extends StandardSchema> = TypesOf<Schema>['output'];
