import { posix } from 'node:path'
import type { DiskView } from '../../disk-view.ts'
import { parseArguments, type FindPathRisk, type HarmlessCommandSpec } from './harmless-command-spec.ts'

/** The words after `--` are passed to the script. */
export function findNpmTestRisk(
  words: readonly string[],
  folder: string,
  disk: DiskView,
  findPathRisk: FindPathRisk,
): string | undefined {
  const settings = disk.read(posix.join(folder, '.npmrc'))
  if (settings && PROGRAM_SETTING.test(Buffer.from(settings).toString('utf8')))
    return 'the folder has settings for npm that name a program'
  const at = words.indexOf('--')
  const parsedArgs = [
    parseArguments(NPM_SPEC, at < 0 ? words : words.slice(0, at), findPathRisk),
    parseArguments(TEST_RUNNER_SPEC, at < 0 ? [] : words.slice(at + 1), findPathRisk),
  ]
  return parsedArgs.find((args) => typeof args === 'string')
}

const PROGRAM_SETTING = /^\s*"?(?:script-shell|shell|node-options|prefix|userconfig|globalconfig)/im

const NPM_SPEC: HarmlessCommandSpec = { options: '-s --silent --if-present', operands: 'paths' }

/** Options that test runners share, and that load no code. */
const TEST_RUNNER_SPEC: HarmlessCommandSpec = {
  options:
    '-i -b -t= -g= -q -v --runInBand --run-in-band --bail? --ci --coverage? --no-coverage --verbose --silent --quiet --run ' +
    '--watch? --watchAll? --testNamePattern= --testPathPattern= --grep= --filter= --forceExit --detectOpenHandles ' +
    '--passWithNoTests --maxWorkers= --color --no-color --only --timeout= --test-only --parallel',
  operands: 'paths',
}
