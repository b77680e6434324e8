import type { SandboxAccess } from '../../model/sandbox-access.ts'
import { approvedWrites } from '../../host/sandbox/approved-writes.ts'
import { changeOwnFile } from '../own/file.ts'
import { writeLocksFolder } from '../own/places.ts'
import { readConfigFile, userConfig } from './read.ts'
import type { Config, PolicyConfig, ProjectConfig, RuleConfig } from './schema.ts'

/** Changes a person's own settings. */
export function changeUserConfig(change: (config: Config) => Config): void {
  changeConfigFile(userConfig(), change)
}

/** Changes the settings in a file. */
export function changeConfigFile(path: string, change: (config: Config) => Config): void {
  // It may be a file of a project in which a command of another session runs.
  if (path !== userConfig()) approvedWrites(writeLocksFolder()).add(path)
  changeOwnFile(path, () => `${JSON.stringify(change(readConfigFile(path) ?? {}), undefined, 2)}\n`)
}

/** Allows something for good: everywhere, or in the project in this folder. Both stand in the person's own settings. */
export function allowForGood(rules: readonly string[], project?: string): void {
  changeUserConfig((config) => {
    if (project === undefined) return { ...config, policy: withAllowed(config.policy, rules) }
    const { projects = {} } = config
    const own = { ...projects[project], policy: withAllowed(projects[project]?.policy, rules) }
    return { ...config, projects: { ...projects, [project]: own } }
  })
}

/** Lets commands do more than the sandbox lets them, for good: everywhere, or in the project in this folder. */
export function allowAccess(access: SandboxAccess, rules: readonly string[], project?: string): void {
  const key = ACCESS_KEYS[access]
  const added = (place: Pick<Config, 'sandboxOptions'> | undefined) => {
    const known = place?.sandboxOptions?.[key] ?? []
    const news = rules.filter((rule) => !known.includes(rule))
    return { ...place, sandboxOptions: { ...place?.sandboxOptions, [key]: [...known, ...news] } }
  }
  changeUserConfig((config) => {
    if (project === undefined) return added(config)
    return { ...config, projects: { ...config.projects, [project]: added(config.projects?.[project]) } }
  })
}

/** Under which key of the settings the rules of an access stand. */
export const ACCESS_KEYS = { network: 'allowNetwork', outside: 'allowOutside' } as const satisfies Record<
  SandboxAccess,
  string
>

/** Takes a rule out of a list of the person's own settings: those for everywhere, or those of the project in this folder. */
export function removeRule(
  list: keyof Pick<PolicyConfig, 'allow' | 'ask' | 'deny'> | (typeof ACCESS_KEYS)[SandboxAccess],
  rule: string,
  project?: string,
): void {
  const isOther = (one: RuleConfig): boolean => (typeof one === 'string' ? one : one.rule) !== rule
  const without = <T extends ProjectConfig>(place: T): T => {
    const part = list === 'allowNetwork' || list === 'allowOutside' ? 'sandboxOptions' : 'policy'
    const rules: Readonly<Partial<Record<typeof list, readonly RuleConfig[]>>> = place[part] ?? {}
    return { ...place, [part]: { ...rules, [list]: (rules[list] ?? []).filter(isOther) } }
  }
  changeUserConfig((config) => {
    if (project === undefined) return without(config)
    return { ...config, projects: { ...config.projects, [project]: without(config.projects?.[project] ?? {}) } }
  })
}

function withAllowed(policy: PolicyConfig | undefined, rules: readonly string[]): PolicyConfig {
  const { allow = [] } = policy ?? {}
  return { ...policy, allow: [...allow, ...rules.filter((rule) => !allow.includes(rule))] }
}
