import type { SandboxAccess } from '../../model/sandbox-access.ts'
import { approvedWrites } from '../../host/sandbox/approved-writes.ts'
import { changeOwnFile } from '../own/file.ts'
import { writeLocksFolder } from '../own/places.ts'
import { readConfigFile, userConfig } from './read.ts'
import type { Config, PolicyConfig } from './schema.ts'

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

/** Lets commands do more than the sandbox lets them, for good. */
export function allowAccess(access: SandboxAccess, rules: readonly string[]): void {
  const key = access === 'network' ? 'allowNetwork' : 'allowOutside'
  changeUserConfig(({ sandboxOptions = {}, ...config }) => {
    const known = sandboxOptions[key] ?? []
    const added = rules.filter((rule) => !known.includes(rule))
    return { ...config, sandboxOptions: { ...sandboxOptions, [key]: [...known, ...added] } }
  })
}

function withAllowed(policy: PolicyConfig | undefined, rules: readonly string[]): PolicyConfig {
  const { allow = [] } = policy ?? {}
  return { ...policy, allow: [...allow, ...rules.filter((rule) => !allow.includes(rule))] }
}
