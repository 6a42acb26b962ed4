import type { LinkProps } from '@tanstack/react-router';
import type { Alert } from '../../api/types.ts';

/** The page that shows what is behind an alert.
 *  @param path with its query, such as `/runs?status=Failed` */
export function alertLink(path: string): LinkProps {
  const { pathname, searchParams } = new URL(path, location.origin);
  return { to: decodeURIComponent(pathname), search: Object.fromEntries(searchParams) as never } as LinkProps;
}

export function alertTitle({ title, subject_name }: Pick<Alert, 'title' | 'subject_name'>): string {
  return subject_name === '' ? title : `${title}: ${subject_name}`;
}
