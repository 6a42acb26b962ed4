/** `fields=`: what a list leaves out unless it is asked for. */
import { z } from 'zod';
import { nearest } from '../http/unknown-fields.ts';

/** @param known the fields that may be asked for, separated by commas */
export function fieldsQuery<const Name extends string>(known: readonly Name[]) {
  return z
    .string()
    .default('')
    .transform((text, context): Name[] => {
      const names = text.split(',').flatMap((name) => name.trim() || []);
      const unknown = names.find((name) => !known.includes(name as Name));
      if (unknown === undefined) return names as Name[];
      const near = nearest(unknown, known);
      const takes = near === undefined ? `there are ${known.join(', ')}` : `did you mean "${near}"?`;
      context.addIssue({ code: 'custom', message: `not a field that can be asked for; ${takes}` });
      return z.NEVER;
    });
}
