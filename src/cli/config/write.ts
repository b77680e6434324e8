import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { readConfigFile, userConfig } from './read.ts'
import type { Config } from './schema.ts'

/** Changes a person's own settings. */
export function changeUserConfig(change: (config: Config) => Config): void {
  changeConfigFile(userConfig(), change)
}

/** Changes the settings in a file; it is replaced whole or not at all. */
export function changeConfigFile(path: string, change: (config: Config) => Config): void {
  const next = change(readConfigFile(path) ?? {})
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const fresh = `${path}.${process.pid}`
  writeFileSync(fresh, `${JSON.stringify(next, undefined, 2)}\n`, { mode: 0o600 })
  renameSync(fresh, path)
}

/** Allows something for good. */
export function allowForGood(rule: string): void {
  changeUserConfig(({ policy = {}, ...config }) => ({
    ...config,
    policy: { ...policy, allow: [...(policy.allow ?? []), rule] },
  }))
}
