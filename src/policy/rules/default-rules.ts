import { listHarmlessCommands } from '../shell/harmless-command.ts'
import type { PolicyRules } from './rule-set.ts'

export const DEFAULT_POLICY_RULES: PolicyRules = {
  get allow() {
    return listHarmlessCommands()
  },
  deny: ['sudo', 'su', 'doas', 'pkexec'],
}
