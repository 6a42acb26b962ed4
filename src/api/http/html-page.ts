/** HTML pages without scripts, and the content security policy that allows their inline style and nothing else. */
import { createHash } from 'node:crypto';
import type { Context } from './router.ts';

export interface Style {
  tag: string;
  /** Hash of the style, for the content security policy. */
  source: string;
}

export function inlineStyle(css: string): Style {
  return {
    tag: `<style>${css}</style>`,
    source: `'sha256-${createHash('sha256').update(css).digest('base64')}'`,
  };
}

/** Responds with the page under a policy that allows its style, images of this service, and forms that post to it. */
export function sendPage(ctx: Context, html: string, { source }: Style): void {
  ctx.type = 'html';
  ctx.body = html;
  ctx.set(
    'content-security-policy',
    `default-src 'none'; style-src ${source}; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  );
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
