import type { SandboxAccess } from '../../../model/sandbox-access.ts'
import { DEFAULT_RULES } from '../../../policy/approval.ts'
import { APPROVAL_MODES, type Policy } from '../../../policy/policy.ts'
import { MACHINE, projectConfig, projectKey, readConfigFile, readSettings, userConfig } from '../../config/read.ts'
import type { PolicyConfig, ProjectConfig, RuleConfig } from '../../config/schema.ts'
import { ACCESS_KEYS, removeRule } from '../../config/write.ts'
import { visible } from '../../output/visible.ts'
import { tilde } from '../../own/places.ts'
import { line, type Line, type Tone } from '../term/line.ts'
import type { Desk } from './slash.ts'

/** `/permissions`: the mode, every rule that decides, by where it holds, and how to take one back. */
export function showPermissions(desk: Desk): void {
  const { front } = desk
  const { mode } = front.state.status
  const groups = groupsFor(desk)
  const rules = groups.flatMap((group) => group.rules)
  shown.set(front, rules)
  const { allow = [], deny = [] } = DEFAULT_RULES
  front.print([
    [],
    line(`Mode ${mode}: ${APPROVAL_MODES[mode]}.`, 'strong'),
    ...groups.flatMap(({ title, rules: own }): Line[] => [
      line(visible(title), 'accent'),
      ...own.map((rule) => ruleLine(rule, rules.indexOf(rule) + 1)),
    ]),
    line(
      `Built in: ${allow.length} rules allow commands that only look, ${deny.length} deny (${deny.map(textOf).join(', ')}).`,
    ),
    ...(rules.length === 0 ? [line('There are no other rules.')] : []),
  ])
  front.say(
    `${rules.length === 0 ? '' : '/permissions remove <number> takes a rule back; '}/mode changes the mode; dragoman policy explain says what holds for a call.`,
  )
}

/** `/permissions remove 2`: takes back the rule that the list numbered so. */
export function removePermission(desk: Desk, number: number): void {
  const { front } = desk
  // The numbers are those that the person has seen, whatever was allowed since.
  const rules = shown.get(front) ?? groupsFor(desk).flatMap((group) => group.rules)
  const rule = rules[number - 1]
  if (!rule) return front.say(`There is no rule ${number}; /permissions lists them.`, 'warn')
  if (!rule.remove) return front.say(`That rule stands in ${visible(rule.where)}; take it out there.`, 'warn')
  rule.remove()
  front.say(`Removed: ${rule.effect} ${visible(rule.text)} (${visible(rule.where)}).`)
}

/** What was listed last, for the numbers. */
const shown = new WeakMap<Desk['front'], readonly ListedRule[]>()

type Effect = 'allow' | 'ask' | 'deny' | SandboxAccess | 'protected' | 'secret'

interface ListedRule {
  readonly effect: Effect
  readonly text: string
  /** Where it is written. */
  readonly where: string
  /** Takes it back; absent where only whoever wrote it can. */
  readonly remove?: () => void
}

interface Group {
  readonly title: string
  readonly rules: readonly ListedRule[]
}

function groupsFor({ agent, folder }: Desk): readonly Group[] {
  const user = readConfigFile(userConfig()) ?? {}
  const { policies } = readSettings(folder)
  const key = projectKey(folder)
  const [own, file] = [tilde(userConfig()), tilde(projectConfig(folder))]
  const inProjects = `${own}, under projects`
  return [
    { title: 'In this session, until it ends', rules: sessionRules(agent()) },
    {
      title: `In this project (${inProjects})`,
      rules: settingsRules(user.projects?.[key] ?? {}, inProjects, { agent: agent(), project: key }),
    },
    { title: `In this project, for everybody (${file})`, rules: settingsRules({ policy: policies.project }, file) },
    { title: `Everywhere (${own})`, rules: settingsRules(user, own, { agent: agent() }) },
    { title: `On this machine (${MACHINE})`, rules: settingsRules({ policy: policies.admin }, MACHINE) },
  ].filter(({ rules }) => rules.length > 0)
}

type Agent = ReturnType<Desk['agent']>

const ACCESSES = Object.keys(ACCESS_KEYS) as SandboxAccess[]

function sessionRules({ policy, sandboxAccess }: Agent): ListedRule[] {
  const from = (effect: Effect, one: Policy | undefined): ListedRule[] =>
    (one?.sessionGrants?.() ?? []).map((grant) => ({
      effect,
      text: grant.covers,
      where: 'this session',
      remove: () => one?.revoke?.(grant),
    }))
  return [...from('allow', policy), ...ACCESSES.flatMap((access) => from(access, sandboxAccess?.policyOf(access)))]
}

/** The rules of one place of the settings. Those of the person's own can be taken back, in the file and in this session. */
function settingsRules(
  { policy, sandboxOptions }: { readonly policy?: PolicyConfig | undefined } & Pick<ProjectConfig, 'sandboxOptions'>,
  where: string,
  own?: { readonly agent: Agent; readonly project?: string },
): ListedRule[] {
  const verdicts = (['allow', 'ask', 'deny'] as const).flatMap((verdict) =>
    (policy?.[verdict] ?? []).map(textOf).map((text): ListedRule => {
      const remove = (agent: Agent): void => {
        removeRule(verdict, text, own?.project)
        agent.policy.forget?.(text, verdict)
      }
      return { effect: verdict, text, where, ...(own && { remove: () => remove(own.agent) }) }
    }),
  )
  const accesses = ACCESSES.flatMap((access) =>
    (sandboxOptions?.[ACCESS_KEYS[access]] ?? []).map((text): ListedRule => {
      const remove = (agent: Agent): void => {
        removeRule(ACCESS_KEYS[access], text, own?.project)
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

function textOf(rule: RuleConfig): string {
  return typeof rule === 'string' ? rule : rule.rule
}

const TONES: Readonly<Record<Effect, Tone>> = {
  allow: 'good',
  ask: 'warn',
  deny: 'bad',
  network: 'good',
  outside: 'good',
  protected: 'warn',
  secret: 'warn',
}

function ruleLine({ effect, text }: ListedRule, number: number): Line {
  return [
    { text: `${String(number).padStart(4)} `, tone: 'quiet' },
    { text: effect.padEnd(10), tone: TONES[effect] },
    { text: visible(text) },
  ]
}
