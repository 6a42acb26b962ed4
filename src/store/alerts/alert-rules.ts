/** Changes that users made to the rules of alerts. */
import { isRuleId, type RuleChoices, type RuleId } from '../../model/alerts/rules.ts';
import { changeField } from '../redis/changed-field.ts';
import { Repository } from '../redis/repository.ts';

export class AlertRules extends Repository {
  async all(env: string): Promise<Map<RuleId, RuleChoices>> {
    const texts = Object.entries(await this.redis.hgetall(this.keys.alertRules(env)));
    return new Map(texts.flatMap(([id, text]) => (isRuleId(id) ? [[id, JSON.parse(text) as RuleChoices]] : [])));
  }

  async change(env: string, id: RuleId, change: (choices: RuleChoices) => RuleChoices): Promise<void> {
    await changeField(this.redis, { key: this.keys.alertRules(env), field: id }, (text) => {
      const changed = JSON.stringify(change(text === undefined ? {} : (JSON.parse(text) as RuleChoices)));
      return changed === '{}' ? undefined : changed;
    });
  }
}
