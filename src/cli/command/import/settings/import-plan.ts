import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { defined } from '../../../../model/defined.ts'
import { parseRule } from '../../../../policy/rules/rule.ts'
import { toAllowRules } from '../../../setup/allowed-tools.ts'
import { findModelProblem } from '../../../setup/choose-model.ts'
import type { Config, PolicyConfig } from '../../../config/schema.ts'
import { UserError } from '../../../user-error.ts'
import { expandHome } from '../../../paths/folders.ts'
import {
  readAgentSettings,
  type AgentSettings,
  type ForeignRule,
  type MutableSettings,
  type SettingsSource,
} from './agent-settings.ts'
import { CLAUDE_SETTINGS } from './claude.ts'
import { CODEX_SETTINGS } from './codex.ts'
import { GEMINI_SETTINGS } from './gemini.ts'
import { OPENCODE_SETTINGS } from './opencode.ts'

/** The agents whose settings can be imported. */
export const SETTINGS_AGENTS = {
  claude: CLAUDE_SETTINGS,
  codex: CODEX_SETTINGS,
  gemini: GEMINI_SETTINGS,
  opencode: OPENCODE_SETTINGS,
} as const satisfies Readonly<Record<string, SettingsSource>>

export type SettingsAgent = keyof typeof SETTINGS_AGENTS

type RuleLists = Pick<PolicyConfig, 'allow' | 'ask' | 'deny' | 'secretFiles'>

/** What would be imported from one agent. */
export interface ImportPlan extends Omit<AgentSettings, 'rules'> {
  readonly title: string
  /** Rules of ours, for everywhere and for this project. */
  readonly userRules: RuleLists
  readonly projectRules: RuleLists
}

/** Reads the settings of an agent, also those in the project unless told otherwise; nothing is changed. */
export function createImportPlan(agent: SettingsAgent, folder: string, { hasProject = true } = {}): ImportPlan {
  const { title } = SETTINGS_AGENTS[agent]
  const found = readAgentSettings(SETTINGS_AGENTS[agent], { home: homedir(), folder, hasProject })
  removeUnusableModel(found)
  const { rules, ...rest } = found
  const translate = (isOfProject: boolean) =>
    translateRules(
      rules.filter((rule) => rule.isOfProject === isOfProject),
      folder,
      found.unsupported,
    )
  return { title, ...rest, userRules: translate(false), projectRules: translate(true) }
}

/** A model without a key would end every start with an error, and who has a subscription of another agent has no key. */
function removeUnusableModel(found: MutableSettings): void {
  const { model, ...others } = found.config
  const problem = model === undefined ? undefined : findModelProblem(model, {})?.problem
  if (problem === undefined) return
  found.config = others
  found.unsupported.push(`the model ${model}: ${problem}`)
}

/** Is there anything that could be imported or used? */
export function isEmptyPlan({ files, copies, inPlace }: ImportPlan): boolean {
  return files.length + copies.length + inPlace.length === 0
}

function translateRules(rules: readonly ForeignRule[], folder: string, unsupported: string[]): RuleLists {
  const lists: Record<'allow' | 'ask' | 'deny' | 'secretFiles', string[]> = {
    allow: [],
    ask: [],
    deny: [],
    secretFiles: [],
  }
  for (const { verdict, text } of rules) {
    try {
      for (const rule of toAllowRules([expandRulePath(text)], folder)) {
        const parsed = parseRule(rule, verdict)
        if ('problem' in parsed) throw new UserError(parsed.problem)
        lists[verdict].push(rule)
      }
      // Who may not read a file with a tool may not read it with a command either.
      const secret = verdict === 'deny' ? /^Read\((?<path>[^]+)\)$/.exec(text)?.groups?.['path'] : undefined
      if (secret !== undefined) lists.secretFiles.push(toSecretPattern(secret, folder))
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      unsupported.push(`the permission ${verdict} ${text}: ${error.message}`)
    }
  }
  const unique = (list: readonly string[]) => (list.length === 0 ? undefined : [...new Set(list)])
  return defined({
    allow: unique(lists.allow),
    ask: unique(lists.ask),
    deny: unique(lists.deny),
    secretFiles: unique(lists.secretFiles),
  })
}

/** `Read(~/x)` is a path from the home folder, in rules of ours too. */
function expandRulePath(text: string): string {
  return text.replace(/^(\w+)\(~\//, (_whole, tool: string) => `${tool}(/${expandHome('~/')}`)
}

function toSecretPattern(path: string, folder: string): string {
  if (path.startsWith('//')) return path.slice(1)
  if (path.startsWith('~/')) return expandHome(path)
  return /^\.?\//.test(path) ? `${folder}/${path.replace(/^\.?\/+/, '')}` : path
}

/** The settings with what is imported added; what is there already stays as it is. */
export function mergeIntoConfig(config: Config, plan: ImportPlan, project: string): Config {
  const { servers, config: own, userRules, projectRules } = plan
  const mcpServers = { ...servers, ...config.mcpServers }
  const projectConfig = config.projects?.[project] ?? {}
  const hasProjectRules = Object.keys(projectRules).length > 0
  return {
    ...own,
    ...config,
    ...(Object.keys(mcpServers).length > 0 && { mcpServers }),
    ...(Object.keys(userRules).length > 0 && { policy: addRules(config.policy, userRules) }),
    ...(hasProjectRules && {
      projects: {
        ...config.projects,
        [project]: { ...projectConfig, policy: addRules(projectConfig.policy, projectRules) },
      },
    }),
    ...(own.models && { models: { ...own.models, ...config.models } }),
  }
}

function addRules(policy: PolicyConfig | undefined, rules: RuleLists): PolicyConfig {
  const { allow, ask, deny, secretFiles } = rules
  const isThere = (list: readonly unknown[] | undefined, rule: string) =>
    (list ?? []).some(
      (one) => one === rule || (typeof one === 'object' && one !== null && 'rule' in one && one.rule === rule),
    )
  const add = <T>(list: readonly T[] | undefined, more: readonly string[] | undefined) =>
    more && [...(list ?? []), ...more.filter((rule) => !isThere(list, rule))]
  return {
    ...policy,
    ...defined({
      allow: add(policy?.allow, allow as readonly string[] | undefined),
      ask: add(policy?.ask, ask as readonly string[] | undefined),
      deny: add(policy?.deny, deny as readonly string[] | undefined),
      secretFiles: add(policy?.secretFiles, secretFiles),
    }),
  }
}

/** The files that would be written; one that exists is left alone. */
export function splitCopies({ copies }: ImportPlan) {
  return {
    fresh: copies.filter(({ to }) => !existsSync(to)),
    existing: copies.filter(({ to }) => existsSync(to)),
  }
}
