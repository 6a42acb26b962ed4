/** HTML pages, and the content security policy that allows their inline style and script and nothing else. */
import { createHash } from 'node:crypto';
import type { Context } from './router.ts';

export interface Inline {
  tag: string;
  /** Hash of its text, for the content security policy. */
  source: string;
}

export function inlineStyle(css: string): Inline {
  return { tag: `<style>${css}</style>`, source: sourceOf(css) };
}

export function inlineScript(code: string): Inline {
  return { tag: `<script type="module">${code}</script>`, source: sourceOf(code) };
}

function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Responds with the page under a policy that allows its style and script, images of this service, and forms that post to it. */
export function sendPage(ctx: Context, html: string, style: Inline, script?: Inline): void {
  ctx.type = 'html';
  ctx.body = html;
  ctx.set(
    'content-security-policy',
    `default-src 'none'; style-src ${style.source}; ${script ? `script-src ${script.source}; ` : ''}img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  );
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
