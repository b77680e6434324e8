import { changeOwnFile } from '../own/file.ts'
import { readConfigFile, userConfig } from './read.ts'
import type { Config } from './schema.ts'

/** Changes a person's own settings. */
export function changeUserConfig(change: (config: Config) => Config): void {
  changeConfigFile(userConfig(), change)
}

/** Changes the settings in a file. */
export function changeConfigFile(path: string, change: (config: Config) => Config): void {
  changeOwnFile(path, () => `${JSON.stringify(change(readConfigFile(path) ?? {}), undefined, 2)}\n`)
}

/** Allows something for good. */
export function allowForGood(rule: string): void {
  changeUserConfig(({ policy = {}, ...config }) => ({
    ...config,
    policy: { ...policy, allow: [...(policy.allow ?? []), rule] },
  }))
}
