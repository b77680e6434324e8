import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { getUserConfigPath, parseConfig } from '../../../config/read-settings.ts'
import type { Config } from '../../../config/schema.ts'
import { updateUserConfig } from '../../../config/update-settings.ts'
import { realPathOrSelf } from '../../../paths/folders.ts'
import { mergeIntoConfig, splitCopies, type ImportPlan } from './import-plan.ts'

/** Adds to the user's settings and commands what they do not have yet. */
export function applyPlan(plan: ImportPlan, folder: string): void {
  updateUserConfig((config) => {
    const next = mergeIntoConfig(config, plan, realPathOrSelf(folder))
    // Never write settings that could not be read again.
    return parseConfig(getUserConfigPath(), JSON.stringify(next))
  })
  for (const { from, to, text } of splitCopies(plan).fresh) {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
    writeFileSync(to, text ?? readFileSync(from), { flag: 'wx', mode: 0o600 })
  }
}

/** Would it change anything? */
export function wouldChange(plan: ImportPlan, current: Config, folder: string): boolean {
  return (
    splitCopies(plan).fresh.length > 0 ||
    !isDeepStrictEqual(mergeIntoConfig(current, plan, realPathOrSelf(folder)), current)
  )
}
