import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { rejectExtraArgs } from '../../../args/parse-command-line.ts'
import { describeProjectFiles } from '../../../config/describe-project-files.ts'
import { readFolderTrust, saveFolderTrust } from '../../../config/folder-trust.ts'
import { getUserConfigPath, parseConfig, readConfigFile } from '../../../config/read-settings.ts'
import { updateUserConfig } from '../../../config/update-settings.ts'
import { confirm } from '../../../confirm.ts'
import { escapeForTerminal } from '../../../output/escape.ts'
import { abbreviateHome, realPathOrSelf } from '../../../paths/folders.ts'
import { resolveWorkFolder } from '../../../setup/assemble-agent.ts'
import { EXIT_CODE } from '../../../user-error.ts'
import type { ImportOptions } from '../import.ts'
import { describePlan } from './describe-plan.ts'
import {
  createImportPlan,
  isEmptyPlan,
  mergeIntoConfig,
  SETTINGS_AGENTS,
  splitCopies,
  type ImportPlan,
  type SettingsAgent,
} from './import-plan.ts'

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
    return EXIT_CODE.ok
  }
  for (const plan of plans) applyPlan(plan, folder)
  if (needsTrust) saveFolderTrust(folder, true)
  const done = [
    `The settings are in ${abbreviateHome(getUserConfigPath())}.`,
    ...(needsTrust ? ['This folder is trusted as it is now.'] : []),
  ]
  process.stderr.write(`${done.join(' ')}\n`)
  return EXIT_CODE.ok
}

function applyPlan(plan: ImportPlan, folder: string): void {
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
