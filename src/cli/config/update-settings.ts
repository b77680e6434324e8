import type { SandboxAccess } from '../../model/security/sandbox-access.ts'
import { createApprovedWrites } from '../../host/sandbox/protect/approved-writes.ts'
import { updatePrivateFile } from '../paths/private-file.ts'
import { getWriteLocksFolder } from '../paths/folders.ts'
import { readConfigFile, getUserConfigPath } from './read-settings.ts'
import type { Config, PolicyConfig, ProjectConfig, RuleConfig } from './schema.ts'

export function updateUserConfig(change: (config: Config) => Config): void {
  updateConfigFile(getUserConfigPath(), change)
}

export function updateConfigFile(path: string, change: (config: Config) => Config): void {
  // Otherwise the sandbox of another session that runs a command in this project would undo the change.
  if (path !== getUserConfigPath()) createApprovedWrites(getWriteLocksFolder()).add(path)
  updatePrivateFile(path, () => `${JSON.stringify(change(readConfigFile(path) ?? {}), undefined, 2)}\n`)
}

/** Changes the user's settings for everywhere, or those for the project in this folder. */
function updateSection(project: string | undefined, change: <T extends ProjectConfig>(section: T) => T): void {
  updateUserConfig((config) => {
    if (project === undefined) return change(config)
    return { ...config, projects: { ...config.projects, [project]: change(config.projects?.[project] ?? {}) } }
  })
}

/** Stores allow rules in the user's settings: for everywhere, or for the project in this folder. */
export function saveAllowRules(rules: readonly string[], project?: string): void {
  updateSection(project, (section) => {
    const allow = section.policy?.allow ?? []
    return { ...section, policy: { ...section.policy, allow: [...new Set([...allow, ...rules])] } }
  })
}

/** The same for rules for access beyond the sandbox. */
export function saveSandboxAccess(access: SandboxAccess, rules: readonly string[], project?: string): void {
  const key = ACCESS_SETTING_KEYS[access]
  updateSection(project, (section) => {
    const saved = section.sandboxOptions?.[key] ?? []
    return { ...section, sandboxOptions: { ...section.sandboxOptions, [key]: [...new Set([...saved, ...rules])] } }
  })
}

export const ACCESS_SETTING_KEYS = { network: 'allowNetwork', outside: 'allowOutside' } as const satisfies Record<
  SandboxAccess,
  string
>

/** Removes a rule from the user's settings: from those for everywhere, or from those for the project in this folder. */
export function removeSavedRule(
  list: keyof Pick<PolicyConfig, 'allow' | 'ask' | 'deny'> | (typeof ACCESS_SETTING_KEYS)[SandboxAccess],
  rule: string,
  project?: string,
): void {
  const part = list === 'allowNetwork' || list === 'allowOutside' ? 'sandboxOptions' : 'policy'
  updateSection(project, (section) => {
    const rules: Readonly<Partial<Record<typeof list, readonly RuleConfig[]>>> = section[part] ?? {}
    const others = (rules[list] ?? []).filter((one) => (typeof one === 'string' ? one : one.rule) !== rule)
    return { ...section, [part]: { ...rules, [list]: others } }
  })
}
