/** Types of values that several groups of settings have. */
import { z } from 'zod';

export const between = (min: number, max: number) => z.coerce.number().int().min(min).max(max);
export const port = between(0, 65_535);
export const positive = z.coerce.number().int().min(1);
export const percent = between(1, 100);
export const limit = z.coerce.number().int().min(0);
export const emailSchema = z.string().trim().toLowerCase().pipe(z.email());
export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean),
);

export const cidrs = list.pipe(
  z.array(
    z.union([z.literal('private'), z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
      error: 'comma-separated CIDR ranges such as 10.0.0.0/8, or the word private',
    }),
  ),
);
