import type { SandboxAccess } from '../../model/security/sandbox-access.ts'
import { createApprovedWrites } from '../../host/sandbox/protect/approved-writes.ts'
import { updatePrivateFile } from '../paths/private-file.ts'
import { writeLocksFolderPath } from '../paths/folders.ts'
import { readConfigFile, userConfigPath } from './read-settings.ts'
import type { Config, PolicyConfig, ProjectConfig, RuleConfig } from './schema.ts'

/** Changes a person's own settings. */
export function updateUserConfig(change: (config: Config) => Config): void {
  updateConfigFile(userConfigPath(), change)
}

/** Changes the settings in a file. */
export function updateConfigFile(path: string, change: (config: Config) => Config): void {
  // It may be a file of a project in which a command of another session runs.
  if (path !== userConfigPath()) createApprovedWrites(writeLocksFolderPath()).add(path)
  updatePrivateFile(path, () => `${JSON.stringify(change(readConfigFile(path) ?? {}), undefined, 2)}\n`)
}

/** Allows something for good: everywhere, or in the project in this folder. Both stand in the person's own settings. */
export function saveAllowRules(rules: readonly string[], project?: string): void {
  updateUserConfig((config) => {
    if (project === undefined) return { ...config, policy: addAllowRules(config.policy, rules) }
    const { projects = {} } = config
    const projectConfig = { ...projects[project], policy: addAllowRules(projects[project]?.policy, rules) }
    return { ...config, projects: { ...projects, [project]: projectConfig } }
  })
}

/** Lets commands do more than the sandbox lets them, for good: everywhere, or in the project in this folder. */
export function saveSandboxAccess(access: SandboxAccess, rules: readonly string[], project?: string): void {
  const key = ACCESS_SETTING_KEYS[access]
  const added = (section: Pick<Config, 'sandboxOptions'> | undefined) => {
    const savedRules = section?.sandboxOptions?.[key] ?? []
    const newRules = rules.filter((rule) => !savedRules.includes(rule))
    return { ...section, sandboxOptions: { ...section?.sandboxOptions, [key]: [...savedRules, ...newRules] } }
  }
  updateUserConfig((config) => {
    if (project === undefined) return added(config)
    return { ...config, projects: { ...config.projects, [project]: added(config.projects?.[project]) } }
  })
}

/** Under which key of the settings the rules of an access stand. */
export const ACCESS_SETTING_KEYS = { network: 'allowNetwork', outside: 'allowOutside' } as const satisfies Record<
  SandboxAccess,
  string
>

/** Takes a rule out of a list of the person's own settings: those for everywhere, or those of the project in this folder. */
export function removeSavedRule(
  list: keyof Pick<PolicyConfig, 'allow' | 'ask' | 'deny'> | (typeof ACCESS_SETTING_KEYS)[SandboxAccess],
  rule: string,
  project?: string,
): void {
  const isOther = (one: RuleConfig): boolean => (typeof one === 'string' ? one : one.rule) !== rule
  const without = <T extends ProjectConfig>(section: T): T => {
    const part = list === 'allowNetwork' || list === 'allowOutside' ? 'sandboxOptions' : 'policy'
    const rules: Readonly<Partial<Record<typeof list, readonly RuleConfig[]>>> = section[part] ?? {}
    return { ...section, [part]: { ...rules, [list]: (rules[list] ?? []).filter(isOther) } }
  }
  updateUserConfig((config) => {
    if (project === undefined) return without(config)
    return { ...config, projects: { ...config.projects, [project]: without(config.projects?.[project] ?? {}) } }
  })
}

function addAllowRules(policy: PolicyConfig | undefined, rules: readonly string[]): PolicyConfig {
  const { allow = [] } = policy ?? {}
  return { ...policy, allow: [...allow, ...rules.filter((rule) => !allow.includes(rule))] }
}
