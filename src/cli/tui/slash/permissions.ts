import type { AgentContext } from '../../../agent/agent-context.ts'
import type { SandboxAccess } from '../../../model/security/sandbox-access.ts'
import { DEFAULT_POLICY_RULES } from '../../../policy/rules/default-rules.ts'
import { APPROVAL_MODES, type Policy } from '../../../policy/policy.ts'
import {
  MACHINE_CONFIG_FILE,
  getProjectConfigPath,
  readConfigFile,
  readSettings,
  getUserConfigPath,
} from '../../config/read-settings.ts'
import type { PolicyConfig, ProjectConfig, RuleConfig } from '../../config/schema.ts'
import { ACCESS_SETTING_KEYS, removeSavedRule } from '../../config/update-settings.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { abbreviateHome, realPathOrSelf } from '../../paths/folders.ts'
import { styledLine, type StyledLine, type TextTone } from '../term/styled-line.ts'
import type { AppParts } from '../app-parts.ts'
import { changeMode } from './model-commands.ts'

/** `/permissions [mode|remove n]` */
export function managePermissions(app: AppParts, words: string): void {
  const number = /^remove\s+(?<number>\d+)$/.exec(words)?.groups?.['number']
  if (number !== undefined) return removePermission(app, Number(number))
  if (/^(?:allow|ask|deny|add)\b/.test(words))
    return app.ui.notify(
      'A rule is added when you answer a question with a (always), or in “policy” of your settings; /config names the file.',
      'warn',
    )
  return words === '' ? showPermissions(app) : changeMode(app, words)
}

function showPermissions(app: AppParts): void {
  const { ui } = app
  const { mode } = ui.state.status
  const groups = collectRuleGroups(app)
  const rules = groups.flatMap((group) => group.rules)
  lastListedRules.set(ui, rules)
  const { allow = [], deny = [] } = DEFAULT_POLICY_RULES
  ui.print([
    [],
    styledLine(`Mode ${mode}: ${APPROVAL_MODES[mode]}.`, 'strong'),
    ...groups.flatMap(({ title, rules: own }): StyledLine[] => [
      styledLine(escapeForTerminal(title), 'accent'),
      ...own.map((rule) => renderRule(rule, rules.indexOf(rule) + 1)),
    ]),
    styledLine(
      `Built in: ${allow.length} rules allow read-only commands, ${deny.length} deny (${deny.map(ruleText).join(', ')}).`,
    ),
    ...(rules.length === 0 ? [styledLine('There are no other rules.')] : []),
  ])
  ui.notify(
    `Use ${rules.length === 0 ? '' : '/permissions remove <number> to remove a rule, '}/mode to change the mode, dragoman policy explain to test a call.`,
  )
}

function removePermission(app: AppParts, number: number): void {
  const { ui } = app
  // The numbers are those that the user has seen, whatever was allowed since.
  const rules = lastListedRules.get(ui) ?? collectRuleGroups(app).flatMap((group) => group.rules)
  const rule = rules[number - 1]
  if (!rule) return ui.notify(`There is no rule ${number}; see /permissions.`, 'warn')
  if (!rule.remove)
    return ui.notify(`That rule is defined in ${escapeForTerminal(rule.where)}; remove it there.`, 'warn')
  rule.remove()
  ui.notify(`Removed: ${rule.effect} ${escapeForTerminal(rule.text)} (${escapeForTerminal(rule.where)}).`)
}

/** The rules of the last list, for their numbers. */
const lastListedRules = new WeakMap<AppParts['ui'], readonly ListedRule[]>()

type RuleEffect = 'allow' | 'ask' | 'deny' | SandboxAccess | 'protected' | 'secret'

interface ListedRule {
  readonly effect: RuleEffect
  readonly text: string
  /** The file that defines it. */
  readonly where: string
  /** Absent for a rule that cannot be removed from here. */
  readonly remove?: () => void
}

function collectRuleGroups({ session: { agent }, folder }: AppParts) {
  const user = readConfigFile(getUserConfigPath()) ?? {}
  const { policies } = readSettings(folder)
  const key = realPathOrSelf(folder)
  const [own, file] = [abbreviateHome(getUserConfigPath()), abbreviateHome(getProjectConfigPath(folder))]
  const inProjects = `${own}, under projects`
  return [
    { title: 'In this session, until it ends', rules: listSessionRules(agent) },
    {
      title: `In this project (${inProjects})`,
      rules: listSettingsRules(user.projects?.[key] ?? {}, inProjects, { agent, project: key }),
    },
    { title: `In this project, for everybody (${file})`, rules: listSettingsRules({ policy: policies.project }, file) },
    { title: `Everywhere (${own})`, rules: listSettingsRules(user, own, { agent }) },
    {
      title: `On this machine (${MACHINE_CONFIG_FILE})`,
      rules: listSettingsRules({ policy: policies.admin }, MACHINE_CONFIG_FILE),
    },
  ].filter(({ rules }) => rules.length > 0)
}

const SANDBOX_ACCESSES = Object.keys(ACCESS_SETTING_KEYS) as SandboxAccess[]

function listSessionRules({ policy, sandboxAccess }: AgentContext): ListedRule[] {
  const from = (effect: RuleEffect, one: Policy | undefined): ListedRule[] =>
    (one?.sessionGrants?.() ?? []).map((grant) => ({
      effect,
      text: grant.covers,
      where: 'this session',
      remove: () => one?.revoke?.(grant),
    }))
  return [
    ...from('allow', policy),
    ...SANDBOX_ACCESSES.flatMap((access) => from(access, sandboxAccess?.policyOf(access))),
  ]
}

/** The rules of one settings file. Those of the user (`own`) can be removed from the file and from this session. */
function listSettingsRules(
  { policy, sandboxOptions }: { readonly policy?: PolicyConfig | undefined } & Pick<ProjectConfig, 'sandboxOptions'>,
  where: string,
  own?: { readonly agent: AgentContext; readonly project?: string },
): ListedRule[] {
  const toListed = (effect: RuleEffect, text: string, remove: (agent: AgentContext) => void): ListedRule => {
    return { effect, text, where, ...(own && { remove: () => remove(own.agent) }) }
  }
  const verdicts = (['allow', 'ask', 'deny'] as const).flatMap((verdict) =>
    (policy?.[verdict] ?? []).map(ruleText).map((text) =>
      toListed(verdict, text, (agent) => {
        removeSavedRule(verdict, text, own?.project)
        agent.policy.forget?.(text, verdict)
      }),
    ),
  )
  const accesses = SANDBOX_ACCESSES.flatMap((access) =>
    (sandboxOptions?.[ACCESS_SETTING_KEYS[access]] ?? []).map((text) =>
      toListed(access, text, (agent) => {
        removeSavedRule(ACCESS_SETTING_KEYS[access], text, own?.project)
        agent.sandboxAccess?.policyOf(access).forget?.(text, 'allow')
      }),
    ),
  )
  const patterns = [
    ...(policy?.protectedWrites ?? []).map((text) => ({ effect: 'protected' as const, text, where })),
    ...(policy?.secretFiles ?? []).map((text) => ({ effect: 'secret' as const, text, where })),
  ]
  return [...verdicts, ...accesses, ...patterns]
}

function ruleText(rule: RuleConfig): string {
  return typeof rule === 'string' ? rule : rule.rule
}

const EFFECT_TONES: Readonly<Record<RuleEffect, TextTone>> = {
  allow: 'good',
  ask: 'warn',
  deny: 'bad',
  network: 'good',
  outside: 'good',
  protected: 'warn',
  secret: 'warn',
}

function renderRule({ effect, text }: ListedRule, number: number): StyledLine {
  return [
    { text: `${String(number).padStart(4)} `, tone: 'quiet' },
    { text: effect.padEnd(10), tone: EFFECT_TONES[effect] },
    { text: escapeForTerminal(text) },
  ]
}
