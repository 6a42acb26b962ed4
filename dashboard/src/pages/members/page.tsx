import { Page } from '../../ui/page.tsx';

export default function MembersPage() {
  return <Page title="members">{null}</Page>;
}
