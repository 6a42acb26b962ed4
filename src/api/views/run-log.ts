/** The API's representation of the log of a run. */
import { z } from 'zod';
import { LOG_LEVELS, type LogLine } from '../../model/runs/log-lines.ts';
import { apiObject } from '../http/validation.ts';
import { time } from './time.ts';

export const logLineSchema = apiObject('LogLine', {
  at: z.iso.datetime().describe("When it was written, by the app's clock"),
  level: z.enum(LOG_LEVELS),
  message: z.string(),
  fields: z.record(z.string(), z.unknown()).nullable().describe('What was logged beside the message'),
  step_id: z.string().nullable().describe('Hashed ID of the step that wrote it; null: outside of steps'),
  attempt: z.int().describe('Attempts of the call before the one that wrote it'),
});

export function presentLogLine({ at, level, message, fields, step, attempt }: LogLine) {
  return { at: time(at) as string, level, message, fields: fields ?? null, step_id: step ?? null, attempt };
}
