/** The gist of an event, in lists and live updates. */
import { z } from 'zod';

export const gistSchema = z
  .string()
  .describe('The first plain values of the data on one line, at most 120 characters: `customer: "c_1", total: 99.5`');
