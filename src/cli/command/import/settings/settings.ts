import { rejectExtraArgs } from '../../../args/parse-command-line.ts'
import { describeProjectFiles } from '../../../config/describe-project-files.ts'
import { readFolderTrust, saveFolderTrust } from '../../../config/folder-trust.ts'
import { getUserConfigPath, readConfigFile } from '../../../config/read-settings.ts'
import { confirm } from '../../../confirm.ts'
import { escapeForTerminal } from '../../../output/escape.ts'
import { abbreviateHome } from '../../../paths/folders.ts'
import { resolveWorkFolder } from '../../../setup/assemble-agent.ts'
import { EXIT_CODE } from '../../../user-error.ts'
import type { ImportOptions } from '../import.ts'
import { applyPlan } from './apply-plan.ts'
import { describePlan } from './describe-plan.ts'
import { recordImportOffer } from './import-offer.ts'
import { createImportPlan, isEmptyPlan, SETTINGS_AGENTS, type SettingsAgent } from './import-plan.ts'

/** `dragoman import [agent]`: lists what would be taken over, and does it after confirmation. Nothing is overwritten. */
export async function runImportSettings(
  agents: readonly SettingsAgent[],
  positionals: readonly string[],
  { yes, cwd, json }: ImportOptions,
): Promise<number> {
  rejectExtraArgs('dragoman import', positionals)
  const folder = resolveWorkFolder(cwd === undefined ? {} : { cwd })
  const plans = agents.map((agent) => createImportPlan(agent, folder)).filter((plan) => !isEmptyPlan(plan))
  const trust = readFolderTrust(folder)
  const needsTrust = trust.state !== 'trusted' && trust.files.some(({ status }) => status !== 'removed')
  if (plans.length === 0 && !needsTrust) {
    const names = agents.map((agent) => SETTINGS_AGENTS[agent].title).join(', ')
    process.stdout.write(`Nothing was found to import from ${names}.\n`)
    return EXIT_CODE.ok
  }
  if (json) process.stdout.write(`${JSON.stringify({ plans, projectFiles: trust.files }, undefined, 2)}\n`)
  else {
    const projectLines = needsTrust
      ? [
          '',
          'Files of this project that are used once it is trusted:',
          ...describeProjectFiles(trust.files, Infinity).map((line) => `  ${line}`),
        ]
      : []
    const lines = [
      ...plans.flatMap((plan) => describePlan(plan, readConfigFile(getUserConfigPath()) ?? {})),
      ...projectLines,
    ]
    process.stdout.write(`${lines.map((line) => escapeForTerminal(line)).join('\n')}\n`)
  }
  if (!yes && !process.stdin.isTTY) {
    const name = agents.length === 1 ? ` ${agents[0]}` : ''
    process.stderr.write(
      `dragoman: nothing was changed; to import this${needsTrust ? ' and trust these files' : ''}, run dragoman import${name} --yes\n`,
    )
    return EXIT_CODE.ok
  }
  if (!yes && !(await confirm(needsTrust ? 'Import this, and trust these files as they are now?' : 'Import this?'))) {
    process.stdout.write('Nothing was imported.\n')
    recordImportOffer()
    return EXIT_CODE.ok
  }
  for (const plan of plans) applyPlan(plan, folder)
  recordImportOffer()
  if (needsTrust) saveFolderTrust(folder, true)
  const done = [
    `The settings are in ${abbreviateHome(getUserConfigPath())}.`,
    ...(needsTrust ? ['This folder is trusted as it is now.'] : []),
  ]
  process.stderr.write(`${done.join(' ')}\n`)
  return EXIT_CODE.ok
}
