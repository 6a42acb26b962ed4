/** Starter transforms, one file per provider. */
import { generic, signed, standard } from './generic.ts';
import { github } from './github.ts';
import { linear } from './linear.ts';
import { shopify } from './shopify.ts';
import { slack } from './slack.ts';
import { stripe } from './stripe.ts';
import type { Template } from './template.ts';
import { twilio } from './twilio.ts';

export const TEMPLATES: readonly Template[] = [
  generic,
  signed,
  github,
  stripe,
  shopify,
  slack,
  twilio,
  linear,
  standard,
];

export function templateOf(id: string | undefined): Template | undefined {
  return TEMPLATES.find((template) => template.id === id);
}
