/** What the operations of the OpenAPI document are made of. */
import { z } from 'zod';
import { CATALOGUE, type ErrorCode } from '../../errors.ts';
import { headerName } from '../../functions/headers.ts';

const errorSchema = z.looseObject({ error: z.string(), code: z.string(), status: z.int() }).meta({
  id: 'Error',
  description: 'What was wrong, what was expected, how to mend it, and further facts. code is one of docs/errors.md',
});

/** The header that selects an environment. */
export const environmentHeader = z.object({
  [headerName('service', 'env')]: z
    .string()
    .optional()
    .meta({ description: 'Name of an environment; absent: production. As a query parameter of the same name too' }),
});

export function json<S extends z.ZodType>(schema: S) {
  return { 'application/json': { schema } };
}

/** One response a status, naming the codes that come with it. */
export function failures(codes: readonly ErrorCode[]) {
  const byStatus = Map.groupBy(new Set(codes), (code) => String(CATALOGUE[code][0]));
  return Object.fromEntries(
    [...byStatus].map(([status, all]) => [
      status,
      { description: all.map((code) => `${code}: ${CATALOGUE[code][1]}`).join('. '), content: json(errorSchema) },
    ]),
  );
}
