/** The API's representation of the log of a run. */
import { z } from 'zod';
import { LOG_LEVELS, type LogLine } from '../../model/runs/log-lines.ts';
import { apiObject, textOrNull, time } from '../http/validation.ts';

export const logLineSchema = apiObject('LogLine', {
  at: z.iso.datetime().describe("When the line was written, by the app's clock"),
  level: z.enum(LOG_LEVELS),
  message: z.string(),
  fields: z.record(z.string(), z.unknown()).nullable().describe('Values that were logged with the message'),
  step_id: textOrNull.describe('Hashed ID of the step that wrote the line; null: outside of steps'),
  attempt: z.int().describe('Number of earlier attempts of the call that wrote the line'),
});

export function presentLogLine({ at, level, message, fields, step, attempt }: LogLine) {
  return { at: time(at) as string, level, message, fields: fields ?? null, step_id: step ?? null, attempt };
}
