/** The answer that a transform gives its provider, as the API shows it. */
import { z } from 'zod';

export const customResponseSchema = z
  .object({ status: z.int(), headers: z.record(z.string(), z.string()), body: z.string() })
  .meta({ id: 'CustomResponse', description: 'What the provider gets instead of the usual answer' });
