import { z } from 'zod';

/** A name that a person gives, and that is part of URLs. */
export const nameSchema = z
  .string()
  .max(64)
  .regex(/^[A-Za-z\d][\w.-]*$/, 'letters, digits, "_", "." and "-"; at most 64 characters');
