import { Page } from '../../ui/page.tsx';

export default function RunsListPage() {
  return <Page title="runs">{null}</Page>;
}
