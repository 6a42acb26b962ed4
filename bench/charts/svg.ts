/** Plain SVG for light and dark pages, with a text description for screen readers. */
export interface Chart {
  title: string;
  /** The content of the chart as text. */
  description: string;
  width: number;
  height: number;
  /** SVG elements. */
  body: string;
}

const STYLE = `
  text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2937; }
  .title { font-size: 15px; font-weight: 600; } .small { font-size: 11px; fill: #4b5563; }
  .page { fill: #ffffff; } .grid { stroke: #d1d5db; } .track { fill: #f3f4f6; }
  .own { fill: #2563eb; } .beside { fill: #9ca3af; } .wanted { stroke: #b45309; stroke-width: 2; }
  .line { fill: none; stroke-width: 2; } .line-0 { stroke: #2563eb; } .line-1 { stroke: #047857; stroke-dasharray: 6 3; }
  .line-2 { stroke: #9333ea; stroke-dasharray: 2 3; } .line-3 { stroke: #be123c; stroke-dasharray: 8 3 2 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e5e7eb; } .small { fill: #9ca3af; }
    .page { fill: #0d1117; } .grid { stroke: #30363d; } .track { fill: #161b22; }
    .own { fill: #60a5fa; } .beside { fill: #6b7280; } .wanted { stroke: #fbbf24; }
    .line-0 { stroke: #60a5fa; } .line-1 { stroke: #34d399; } .line-2 { stroke: #c084fc; } .line-3 { stroke: #fb7185; }
  }`;

export function svg({ title, description, width, height, body }: Chart): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">
<title id="title">${escaped(title)}</title>
<desc id="description">${escaped(description)}</desc>
<style>${STYLE}
</style>
<rect class="page" width="${width}" height="${height}" rx="6"/>
${text(16, 26, title, 'title')}
${body}
</svg>
`;
}

export function text(x: number, y: number, words: string, kind = '', anchor = 'start'): string {
  return `<text x="${point(x)}" y="${point(y)}"${kind && ` class="${kind}"`} text-anchor="${anchor}">${escaped(words)}</text>`;
}

export function rect(x: number, y: number, width: number, height: number, kind: string): string {
  return `<rect class="${kind}" x="${point(x)}" y="${point(y)}" width="${point(Math.max(0, width))}" height="${point(height)}" rx="2"/>`;
}

export function line(x1: number, y1: number, x2: number, y2: number, kind: string): string {
  return `<line class="${kind}" x1="${point(x1)}" y1="${point(y1)}" x2="${point(x2)}" y2="${point(y2)}"/>`;
}

/** A tenth of a pixel is enough and keeps files small. */
export function point(value: number): string {
  return String(Math.round(value * 10) / 10);
}

export function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
