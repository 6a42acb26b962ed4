/** A registration that waits for a confirmation. */
import { z } from 'zod';
import type { HeldRegistration } from '../../model/apps/held-registration.ts';
import { proposedPattern } from '../../origin-patterns.ts';
import { time } from './time.ts';

export const heldRegistrationSchema = z
  .object({
    id: z.string().meta({ description: 'The same for every registration of the app at this origin' }),
    app: z.string(),
    url: z.url(),
    origin: z.string().meta({ description: 'What nobody has allowed' }),
    present_url: z.string().nullable().meta({ description: 'Where the app is, and stays; null: it is not registered' }),
    proposed_pattern: z
      .string()
      .nullable()
      .meta({
        description:
          'A pattern of allowed origins that has both URLs, where each deployment seems to get a host of its own',
        examples: ['https://shop-*-acme.example.app'],
      }),
    sdk: z.string().nullable(),
    framework: z.string().nullable(),
    function_count: z.int(),
    first_at: z.iso.datetime(),
    last_at: z.iso.datetime(),
  })
  .meta({ id: 'HeldRegistration' });

/** @param presentUrl of the app; undefined: it is not registered */
export function presentHeld(held: HeldRegistration, presentUrl: string | undefined) {
  const { id, app, url, origin, sdk, framework, functionCount, firstAt, lastAt } = held;
  const present = presentUrl === undefined ? undefined : new URL(presentUrl).origin;
  return {
    id,
    app,
    url,
    origin,
    present_url: presentUrl ?? null,
    proposed_pattern: (present !== undefined && proposedPattern(present, origin)) || null,
    sdk: sdk ?? null,
    framework: framework ?? null,
    function_count: functionCount,
    first_at: time(firstAt),
    last_at: time(lastAt),
  };
}
