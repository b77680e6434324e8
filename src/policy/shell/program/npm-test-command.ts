import { posix } from 'node:path'
import type { DiskView } from '../../disk-view.ts'
import { findArgumentRisk, type HarmlessCommandSpec } from './harmless-command-spec.ts'

/** The words after `--` are passed to the script. */
export function findNpmTestRisk(
  words: readonly string[],
  folder: string,
  disk: DiskView,
  findPathRisk: (word: string) => string | undefined,
): string | undefined {
  const settings = disk.read(posix.join(folder, '.npmrc'))
  if (
    settings &&
    /^\s*"?(?:script-shell|shell|node-options|prefix|userconfig|globalconfig)/im.test(
      Buffer.from(settings).toString('utf8'),
    )
  ) {
    return 'the folder has settings for npm that name a program'
  }
  const at = words.indexOf('--')
  const npmWords = at < 0 ? words : words.slice(0, at)
  const scriptWords = at < 0 ? [] : words.slice(at + 1)
  return (
    findArgumentRisk(NPM_SPEC, npmWords, findPathRisk) ?? findArgumentRisk(TEST_RUNNER_SPEC, scriptWords, findPathRisk)
  )
}

const NPM_SPEC: HarmlessCommandSpec = { options: '-s --silent --if-present', operands: 'paths' }

/** Options that test runners share, and that load no code. */
const TEST_RUNNER_SPEC: HarmlessCommandSpec = {
  options:
    '-i -b -t= -g= -q -v --runInBand --run-in-band --bail? --ci --coverage? --no-coverage --verbose --silent --quiet --run ' +
    '--watch? --watchAll? --testNamePattern= --testPathPattern= --grep= --filter= --forceExit --detectOpenHandles ' +
    '--passWithNoTests --maxWorkers= --color --no-color --only --timeout= --test-only --parallel',
  operands: 'paths',
}
