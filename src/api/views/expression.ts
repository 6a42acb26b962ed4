import { z } from 'zod';

/** The text of a CEL expression. */
export const expressionSchema = z.string().min(1).max(4_096);
