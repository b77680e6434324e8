import { getUserConfigPath, readConfigFile } from '../../config/read-settings.ts'
import { isTrusted } from '../../config/folder-trust.ts'
import { applyPlan, wouldChange } from '../../command/import/settings/apply-plan.ts'
import { describePlan } from '../../command/import/settings/describe-plan.ts'
import { recordImportOffer } from '../../command/import/settings/import-offer.ts'
import { createImportPlan, SETTINGS_AGENTS, type SettingsAgent } from '../../command/import/settings/import-plan.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { abbreviateHome } from '../../paths/folders.ts'
import { styledLine } from '../term/styled-line.ts'
import type { ThemeName } from '../term/theme.ts'
import { chooseFromList } from './list-dialog.ts'

/** Asks once whether the settings that the user has for other agents should be imported. */
export async function offerImport(folder: string, theme: ThemeName): Promise<void> {
  const current = readConfigFile(getUserConfigPath()) ?? {}
  // What a project brings is not listed together with what the user has, as long as it is not trusted.
  const hasProject = isTrusted(folder)
  const plans = (Object.keys(SETTINGS_AGENTS) as SettingsAgent[])
    .map((agent) => createImportPlan(agent, folder, { hasProject }))
    .filter((plan) => wouldChange(plan, current, folder))
  if (plans.length === 0) return
  const lines = plans.flatMap((plan) => describePlan(plan, current))
  const omittedCount = lines.length - MAX_LINES
  const isAccepted = await chooseFromList(
    [
      styledLine(`You have settings of ${joinNames(plans.map(({ title }) => title))} that can be imported:`, 'strong'),
      ...lines.slice(0, MAX_LINES).map((line) => styledLine(`  ${escapeForTerminal(line)}`)),
      ...(omittedCount > 0 ? [styledLine(`  … and ${omittedCount} more lines; dragoman import lists all.`)] : []),
      styledLine('The files of the other agents stay as they are. This is asked only once.', 'quiet'),
      [],
    ],
    [
      { value: false, label: 'Continue without them', about: 'dragoman import does it later' },
      { value: true, label: 'Import them' },
    ],
    theme,
  )
  recordImportOffer()
  if (!isAccepted) return
  for (const plan of plans) applyPlan(plan, folder)
  process.stdout.write(`The settings are in ${abbreviateHome(getUserConfigPath())}.\n`)
}

/** A longer list would push the question out of sight on most terminals. */
const MAX_LINES = 30

function joinNames(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
