/** Shared parts of the operations in the OpenAPI document. */
import { z } from 'zod';
import { CATALOGUE, type ErrorCode } from '../../errors.ts';
import { headerName } from '../../functions/headers.ts';

const errorSchema = z.looseObject({ error: z.string(), code: z.string(), status: z.int() }).meta({
  id: 'Error',
  description: 'What happened, what was expected and what to do, with further facts. docs/errors.md lists the codes',
});

/** The header that selects an environment. */
export const environmentHeader = z.object({
  [headerName('service', 'env')]: z
    .string()
    .optional()
    .describe('Name of an environment; default production. Also accepted as a query parameter of the same name'),
});

/** The header of every POST. */
export const idempotencyHeader = z.object({
  'idempotency-key': z
    .string()
    .max(255)
    .optional()
    .describe(
      "A text that is new for each request. A request that is repeated with it within 24 hours gets the first one's response",
    ),
});

export function json<S extends z.ZodType>(schema: S) {
  return { 'application/json': { schema } };
}

/** One response per status, with its error codes. */
export function failures(codes: readonly ErrorCode[]) {
  const byStatus = Map.groupBy(new Set(codes), (code) => String(CATALOGUE[code][0]));
  return Object.fromEntries(
    [...byStatus].map(([status, all]) => [
      status,
      { description: all.map((code) => `${code}: ${CATALOGUE[code][1]}`).join('. '), content: json(errorSchema) },
    ]),
  );
}
