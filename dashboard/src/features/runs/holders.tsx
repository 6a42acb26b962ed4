import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import type { Waiting } from '../../api/types.ts';
import { Id } from '../../ui/code-block.tsx';

type Limit = Waiting['limits'][number];

const SHOWN = 3;
/** The API names no more. */
const NAMED = 10;

interface HoldersProps extends Pick<Limit, 'held_by' | 'in_use'> {
  /** Of `account`: the runs may be in other environments, where a link would not lead. */
  scope?: Limit['scope'];
}

/** The runs that use a limit, with links. */
export function Holders({ held_by: ids, in_use, scope = 'fn' }: HoldersProps) {
  const hasMore = ids.length > SHOWN || in_use > NAMED;
  return (
    <>
      {ids.slice(0, SHOWN).map((id, i) => (
        <Fragment key={id}>
          {i > 0 && ', '}
          {scope === 'account' ? (
            <Id id={id} maxChars={15} />
          ) : (
            <Link to="/runs/$id" params={{ id }} className="text-accent underline">
              <Id id={id} maxChars={15} />
            </Link>
          )}
        </Fragment>
      ))}
      {hasMore && ' and others'}
    </>
  );
}
