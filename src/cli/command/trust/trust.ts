import { join, resolve } from 'node:path'
import { readFolderTrust, saveFolderTrust, readTrustState, TRUST_DESCRIPTIONS } from '../../config/folder-trust.ts'
import { describeProjectFiles } from '../../config/describe-project-files.ts'
import { UserError } from '../../user-error.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { describeFileProblem, readProjectText } from '../../paths/project-file.ts'

const TRUST_BY_OPTION: Readonly<Record<string, boolean | undefined>> = {
  '--yes': true,
  '--refuse': false,
  '--forget': undefined,
}

export function runTrustCommand(args: readonly string[]): void {
  const [option, ...more] = args
  if (more.length > 0 || (option !== undefined && !Object.hasOwn(TRUST_BY_OPTION, option)))
    throw new UserError(`dragoman trust takes one of --yes, --refuse, --forget, not “${args.join(' ')}”`)
  const folder = resolve('.')
  if (option === undefined) return void process.stdout.write(`${describeTrust(folder)}\n`)
  saveFolderTrust(folder, TRUST_BY_OPTION[option])
  process.stdout.write(`${folder}: ${TRUST_DESCRIPTIONS[readTrustState(folder)]}\n`)
}

const MAX_FILE_BYTES = 2 ** 20

function describeTrust(folder: string): string {
  const { state, files } = readFolderTrust(folder)
  const shown = files.filter(({ status }) => status !== 'removed' && (state !== 'changed' || status !== 'unchanged'))
  const texts = shown.map(({ path }) => {
    const read = readProjectText(join(folder, path), { within: folder, maxBytes: MAX_FILE_BYTES })
    const text =
      'text' in read ? `${read.text.trimEnd()}${read.isCut ? '\n[cut here]' : ''}` : `[${describeFileProblem(read)}]`
    return `--- ${escapeForTerminal(path)}\n${escapeForTerminal(text)}`
  })
  const what =
    files.length === 0
      ? ['This folder has no settings, servers, commands, skills, subagents or hooks.']
      : [...describeProjectFiles(files, Infinity).map((line) => escapeForTerminal(line)), ...texts]
  return [
    `${folder}: ${TRUST_DESCRIPTIONS[state]}`,
    ...what,
    'To trust these files, run dragoman trust --yes; to ignore them, dragoman trust --refuse.',
  ].join('\n')
}
