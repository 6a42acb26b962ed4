import { Page } from '../../ui/page.tsx';

export default function RunsRunPage() {
  return <Page title="runs">{null}</Page>;
}
