/** A text with URLs of webhooks, without their keys: whoever knows one can send requests, so they are not shown to those who look over a
 *  shoulder, or at a shared screen. */
export function masked(text: string): string {
  return text.replaceAll(/\/e\/[\w-]{20,100}/g, '/e/••••••••');
}
