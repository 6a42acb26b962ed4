/** The API's representation of a run's metadata. */
import { z } from 'zod';
import type { Metadata } from '../../model/runs/metadata.ts';
import { apiObject, textOrNull, wholeOrNull } from '../http/validation.ts';
import { present } from './present.ts';

export const metadataSchema = apiObject('RunMetadata', {
  scope: z.enum(['run', 'step', 'step_attempt', 'extended_trace']),
  step_id: textOrNull.describe('Hashed ID of the step that the metadata describes'),
  attempt: wholeOrNull.describe('The attempt of the step that the metadata describes'),
  span_id: textOrNull,
  kind: z.string().describe('userland.…, inngest.score, inngest.experiment, inngest.ai, inngest.warnings, …'),
  values: z.record(z.string(), z.unknown()),
  updated_at: z.iso.datetime(),
});

export function presentMetadata(metadata: Metadata) {
  return present(metadataSchema, metadata);
}
