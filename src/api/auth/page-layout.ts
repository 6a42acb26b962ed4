/** Shared by the sign-in pages: the look of the dashboard, with its name and logo, and plain HTML forms. */
import { escapeHtml, inlineStyle } from '../http/html-page.ts';

/** Colors of the dashboard (dashboard/src/app/theme.css). */
export const STYLE = inlineStyle(`
:root { color-scheme: light dark; --page: #f7f9f9; --surface: #fff; --line: #dde4e3; --line-strong: #b9c5c4; --text: #13201f; --muted: #51615f; --accent: #0f6f68; --accent-text: #fff; --bad: #b3261e; --bad-soft: #fbe4e2; --warn: #8a5a00; --warn-soft: #fbeecb; }
@media (prefers-color-scheme: dark) { :root { --page: #0b1110; --surface: #121a19; --line: #253231; --line-strong: #3d4d4b; --text: #e5edeb; --muted: #9db0ad; --accent: #45c8ba; --accent-text: #04211e; --bad: #ff8d85; --bad-soft: #3a1715; --warn: #f0c050; --warn-soft: #33270a; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-content: center; grid-template-columns: minmax(0, 24rem); padding: 1.5rem 1rem 4rem; background: var(--page); color: var(--text); font: 16px/1.5 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header { display: flex; align-items: center; justify-content: center; gap: .6rem; margin-bottom: 1.25rem; font-size: 1.25rem; font-weight: 600; }
header img { width: 2rem; height: 2rem; }
main { padding: 1.5rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--surface); overflow-wrap: anywhere; }
h1 { font-size: 1.375rem; line-height: 1.25; margin: 0 0 .25rem; }
p { margin: 0 0 1rem; }
.lead, small, summary, .divider { color: var(--muted); }
.lead { margin-bottom: 1.5rem; }
main > :last-child, form > :last-child, .notice > :last-child { margin-bottom: 0; }
[role=alert], .notice { border-radius: .4rem; padding: .6rem .8rem; }
[role=alert] { background: var(--bad-soft); color: var(--bad); }
.notice { background: var(--warn-soft); color: var(--warn); }
label { display: block; margin-bottom: 1rem; font-size: .9rem; font-weight: 500; }
input { font: inherit; width: 100%; margin-top: .25rem; padding: .55rem .7rem; border: 1px solid var(--line-strong); border-radius: .4rem; background: var(--page); color: inherit; }
button, .button { display: block; width: 100%; margin-bottom: .75rem; padding: .6rem; border: 1px solid var(--accent); border-radius: .4rem; background: var(--accent); color: var(--accent-text); font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer; }
.secondary { background: transparent; color: var(--accent); }
.divider { display: flex; align-items: center; gap: .75rem; margin: 1.25rem 0; font-size: .875rem; }
.divider::before, .divider::after { content: ""; flex: 1; border-top: 1px solid var(--line); }
details { margin-top: 1.25rem; }
summary { cursor: pointer; margin-bottom: 1rem; font-size: .9rem; }
a { color: var(--accent); }
a.button:not(.secondary) { color: var(--accent-text); }
code, .codes { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .9rem; }
.codes { columns: 2; margin: 0 0 1rem; padding: 0; list-style: none; overflow-wrap: normal; }
.qr { display: block; width: 12rem; height: 12rem; margin: 0 auto 1rem; padding: .5rem; border-radius: .4rem; background: #fff; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: .25rem; }
small { display: block; margin-top: .25rem; font-weight: 400; }
[hidden] { display: none; }
`);

export function page(title: string, lead: string, content: string, head = ''): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${escapeHtml(title)} · Tidegate</title><link rel="icon" href="/favicon.svg" type="image/svg+xml">${STYLE.tag}${head}</head>
<body><header><img src="/favicon.svg" alt="">Tidegate</header><main><h1>${escapeHtml(title)}</h1><p class="lead">${escapeHtml(lead)}</p>${content}</main></body></html>`;
}

/** @param look `secondary` beside other ways to sign in */
export function form(action: string, button: string, fields: string[], error?: string, look = ''): string {
  return `${alert(error)}<form method="post" action="${action}">${fields.join('')}<button class="${look}">${escapeHtml(button)}</button></form>`;
}

export function alert(error: string | undefined): string {
  return error === undefined ? '' : `<p role="alert">${escapeHtml(error)}</p>`;
}

export function field(name: string, label: string, attributes: string, hint?: string): string {
  const small = hint === undefined ? '' : `<small>${escapeHtml(hint)}</small>`;
  return `<label>${label}<input name="${name}" required ${attributes}>${small}</label>`;
}

export function hidden(name: string, value: string): string {
  return `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`;
}
