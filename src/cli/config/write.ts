import { changeOwnFile } from '../own/file.ts'
import { readConfigFile, userConfig } from './read.ts'
import type { Config, PolicyConfig } from './schema.ts'

/** Changes a person's own settings. */
export function changeUserConfig(change: (config: Config) => Config): void {
  changeConfigFile(userConfig(), change)
}

/** Changes the settings in a file. */
export function changeConfigFile(path: string, change: (config: Config) => Config): void {
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

function withAllowed(policy: PolicyConfig | undefined, rules: readonly string[]): PolicyConfig {
  const { allow = [] } = policy ?? {}
  return { ...policy, allow: [...allow, ...rules.filter((rule) => !allow.includes(rule))] }
}
