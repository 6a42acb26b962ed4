import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import type { Waiting } from '../../api/types.ts';
import { Id } from '../../ui/code-block.tsx';

type Limit = Waiting['limits'][number];

const SHOWN = 3;
/** Maximum number of holders that the API names. */
const NAMED = 10;

type HoldersProps = Pick<Limit, 'held_by' | 'held_elsewhere' | 'in_use'>;

/** The runs that use a limit, with links. Runs of other environments are only counted. */
export function Holders({ held_by: ids, held_elsewhere: elsewhere, in_use }: HoldersProps) {
  const hasMore = ids.length > SHOWN || in_use > NAMED + elsewhere;
  return (
    <>
      {ids.slice(0, SHOWN).map((id, i) => (
        <Fragment key={id}>
          {i > 0 && ', '}
          <Link to="/runs/$id" params={{ id }} className="text-accent underline">
            <Id id={id} maxChars={15} />
          </Link>
        </Fragment>
      ))}
      {hasMore && ' and others'}
      {elsewhere > 0 && `${ids.length > 0 ? ' and ' : ''}${elsewhere} of other environments`}
    </>
  );
}
