/** The API's representation of a response that a transform chose for its provider. */
import { z } from 'zod';

export const customResponseSchema = z
  .object({ status: z.int(), headers: z.record(z.string(), z.string()), body: z.string() })
  .meta({ id: 'CustomResponse', description: 'The response that the provider gets instead of the usual one' });
