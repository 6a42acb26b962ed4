/** Pages without scripts: their frame, their look, and the policy that lets in nothing else. */
import { createHash } from 'node:crypto';
import type { Context } from 'koa';

export interface Style {
  tag: string;
  /** By which a policy names it. */
  source: string;
}

export function inlineStyle(css: string): Style {
  return {
    tag: `<style>${css}</style>`,
    source: `'sha256-${createHash('sha256').update(css).digest('base64')}'`,
  };
}

/** Answers with the page, under a policy that allows its style and forms of its own, and nothing more. */
export function answerPage(ctx: Context, html: string, { source }: Style): void {
  ctx.type = 'html';
  ctx.body = html;
  ctx.set(
    'content-security-policy',
    `default-src 'none'; style-src ${source}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  );
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
