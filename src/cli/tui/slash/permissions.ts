import type { SandboxAccess } from '../../../model/security/sandbox-access.ts'
import { DEFAULT_POLICY_RULES } from '../../../policy/approval-policy.ts'
import { APPROVAL_MODES, type Policy } from '../../../policy/policy.ts'
import {
  MACHINE_CONFIG_FILE,
  projectConfigPath,
  readConfigFile,
  readSettings,
  userConfigPath,
} from '../../config/read-settings.ts'
import type { PolicyConfig, ProjectConfig, RuleConfig } from '../../config/schema.ts'
import { ACCESS_SETTING_KEYS, removeSavedRule } from '../../config/update-settings.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { abbreviateHome, realPathOrSelf } from '../../paths/folders.ts'
import { styledLine, type StyledLine, type TextTone } from '../term/styled-line.ts'
import type { SlashCommandContext } from './slash-command.ts'

/** `/permissions`: the mode, every rule that decides, by where it holds, and how to take one back. */
export function showPermissions(context: SlashCommandContext): void {
  const { ui } = context
  const { mode } = ui.state.status
  const groups = collectRuleGroups(context)
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
      `Built in: ${allow.length} rules allow commands that only look, ${deny.length} deny (${deny.map(ruleText).join(', ')}).`,
    ),
    ...(rules.length === 0 ? [styledLine('There are no other rules.')] : []),
  ])
  ui.notify(
    `${rules.length === 0 ? '' : '/permissions remove <number> takes a rule back; '}/mode changes the mode; dragoman policy explain says what holds for a call.`,
  )
}

/** `/permissions remove 2`: takes back the rule that the list numbered so. */
export function removePermission(context: SlashCommandContext, number: number): void {
  const { ui } = context
  // The numbers are those that the person has seen, whatever was allowed since.
  const rules = lastListedRules.get(ui) ?? collectRuleGroups(context).flatMap((group) => group.rules)
  const rule = rules[number - 1]
  if (!rule) return ui.notify(`There is no rule ${number}; /permissions lists them.`, 'warn')
  if (!rule.remove) return ui.notify(`That rule stands in ${escapeForTerminal(rule.where)}; take it out there.`, 'warn')
  rule.remove()
  ui.notify(`Removed: ${rule.effect} ${escapeForTerminal(rule.text)} (${escapeForTerminal(rule.where)}).`)
}

/** What was listed last, for the numbers. */
const lastListedRules = new WeakMap<SlashCommandContext['ui'], readonly ListedRule[]>()

type RuleEffect = 'allow' | 'ask' | 'deny' | SandboxAccess | 'protected' | 'secret'

interface ListedRule {
  readonly effect: RuleEffect
  readonly text: string
  /** Where it is written. */
  readonly where: string
  /** Takes it back; absent where only whoever wrote it can. */
  readonly remove?: () => void
}

interface RuleGroup {
  readonly title: string
  readonly rules: readonly ListedRule[]
}

function collectRuleGroups({ agent, folder }: SlashCommandContext): readonly RuleGroup[] {
  const user = readConfigFile(userConfigPath()) ?? {}
  const { policies } = readSettings(folder)
  const key = realPathOrSelf(folder)
  const [own, file] = [abbreviateHome(userConfigPath()), abbreviateHome(projectConfigPath(folder))]
  const inProjects = `${own}, under projects`
  return [
    { title: 'In this session, until it ends', rules: listSessionRules(agent()) },
    {
      title: `In this project (${inProjects})`,
      rules: listSettingsRules(user.projects?.[key] ?? {}, inProjects, { agent: agent(), project: key }),
    },
    { title: `In this project, for everybody (${file})`, rules: listSettingsRules({ policy: policies.project }, file) },
    { title: `Everywhere (${own})`, rules: listSettingsRules(user, own, { agent: agent() }) },
    {
      title: `On this machine (${MACHINE_CONFIG_FILE})`,
      rules: listSettingsRules({ policy: policies.admin }, MACHINE_CONFIG_FILE),
    },
  ].filter(({ rules }) => rules.length > 0)
}

type CurrentAgent = ReturnType<SlashCommandContext['agent']>

const SANDBOX_ACCESSES = Object.keys(ACCESS_SETTING_KEYS) as SandboxAccess[]

function listSessionRules({ policy, sandboxAccess }: CurrentAgent): ListedRule[] {
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

/** The rules of one place of the settings. Those of the person's own can be taken back, in the file and in this session. */
function listSettingsRules(
  { policy, sandboxOptions }: { readonly policy?: PolicyConfig | undefined } & Pick<ProjectConfig, 'sandboxOptions'>,
  where: string,
  own?: { readonly agent: CurrentAgent; readonly project?: string },
): ListedRule[] {
  const verdicts = (['allow', 'ask', 'deny'] as const).flatMap((verdict) =>
    (policy?.[verdict] ?? []).map(ruleText).map((text): ListedRule => {
      const remove = (agent: CurrentAgent): void => {
        removeSavedRule(verdict, text, own?.project)
        agent.policy.forget?.(text, verdict)
      }
      return { effect: verdict, text, where, ...(own && { remove: () => remove(own.agent) }) }
    }),
  )
  const accesses = SANDBOX_ACCESSES.flatMap((access) =>
    (sandboxOptions?.[ACCESS_SETTING_KEYS[access]] ?? []).map((text): ListedRule => {
      const remove = (agent: CurrentAgent): void => {
        removeSavedRule(ACCESS_SETTING_KEYS[access], text, own?.project)
        agent.sandboxAccess?.policyOf(access).forget?.(text, 'allow')
      }
      return { effect: access, text, where, ...(own && { remove: () => remove(own.agent) }) }
    }),
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
