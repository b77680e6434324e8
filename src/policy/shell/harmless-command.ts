import { posix } from 'node:path'
import { lazy } from '../../model/lazy.ts'
import { NO_DISK_VIEW } from '../disk-view.ts'
import { findSecretBelow } from '../path/find-secrets.ts'
import { findContainingFolder, classifyPath, type PathContext } from '../path/classify-path.ts'
import { type FindPathRisk, type HarmlessCommandSpec, parseArguments } from './program/harmless-command-spec.ts'
import { GIT_COMMAND_SPECS, findGitPathRisk, stripGitPagerOptions } from './program/git-commands.ts'
import { findTrackedSecret } from './program/git-tracked-secrets.ts'
import { findNpmTestRisk } from './program/npm-test-command.ts'
import { createReadOnlyCommandSpecs } from './program/read-only-commands.ts'
import { findRepositoryRisk } from './program/git-repository.ts'
import { createVersionCommandSpecs } from './program/version-commands.ts'

// Many runs never check a command, so these tables are made at the first one.
const getCommandSpecs = lazy<ReadonlyMap<string, HarmlessCommandSpec>>(
  () => new Map(Object.entries({ ...createVersionCommandSpecs(), ...createReadOnlyCommandSpecs() })),
)

const getGitSpecs = lazy(() => new Map(Object.entries(GIT_COMMAND_SPECS)))

/** Commands that need no approval with their known harmless options. */
export const listHarmlessCommands = lazy<readonly string[]>(() => [
  ...getCommandSpecs().keys(),
  ...[...getGitSpecs().keys()].map((name) => `git ${name}`),
])

interface CheckedCommand {
  readonly words: readonly string[]
  readonly folder: string
  readonly isPiped: boolean
}

/**
 * Returns why a command that a rule allows may do more than the rule means: an option that writes or runs something, a
 * path outside the workspace or with secrets, a program that is a file of the workspace.
 */
export function findCommandRisk(
  command: CheckedCommand,
  ruleLength: number,
  pathContext: PathContext,
): string | undefined {
  const { words, folder } = command
  const { disk = NO_DISK_VIEW } = pathContext
  const [name = '', ...args] = stripGitPagerOptions(words)
  const path = (word: string) => findPathRisk(word, folder, pathContext)
  const programPath = SHELL_BUILTINS.has(name) ? undefined : disk.findProgram(name)
  const isInWorkspace =
    programPath !== undefined &&
    (!programPath.startsWith('/') || findContainingFolder(programPath, pathContext.folders, disk) !== undefined)
  if (isInWorkspace) return `${name} is a file in the workspace`
  const [spec, specLength] = findLongestSpec(getCommandSpecs(), words)
  if (spec && (specLength === 1 || specLength >= ruleLength))
    return findSpecRisk(spec, words.slice(specLength), command, pathContext)
  if (name === 'git') return findGitRisk(args, folder, pathContext, path)
  if (name === 'npm' && args[0] === 'test') return findNpmTestRisk(args.slice(1), folder, disk, path)
  // The options of the program are unknown, so only those of the rule may occur.
  const more = words.slice(ruleLength)
  const unknownWord = more.find((word) => word.startsWith('-') || word.includes('='))
  return unknownWord === undefined
    ? more.map(path).find((risk) => risk !== undefined)
    : `“${unknownWord}” is not known to be harmless`
}

const SHELL_BUILTINS: ReadonlySet<string> = new Set('echo pwd true false cd printf test [ : type command'.split(' '))

/** Returns the spec that matches the most words, and their number. */
function findLongestSpec<T>(specs: ReadonlyMap<string, T>, words: readonly string[]): [T | undefined, number] {
  for (let count = Math.min(words.length, 3); count > 0; count--) {
    const spec = specs.get(words.slice(0, count).join(' '))
    if (spec) return [spec, count]
  }
  return [undefined, 0]
}

function findSpecRisk(
  spec: HarmlessCommandSpec,
  args: readonly string[],
  { words, folder, isPiped }: CheckedCommand,
  pathContext: PathContext,
): string | undefined {
  const parsedArgs = parseArguments(spec, args, (word) => findPathRisk(word, folder, pathContext))
  if (typeof parsedArgs === 'string') return parsedArgs
  const folderRisk = spec.findFolderRisk?.(folder, pathContext.disk ?? NO_DISK_VIEW)
  if (folderRisk !== undefined) return folderRisk
  const walk = spec.walk?.(parsedArgs)
  // Ripgrep with piped input and no path reads only the input.
  if (!walk || (isPiped && words[0] === 'rg' && parsedArgs.paths.length === 0)) return undefined
  return findSecretBelow(walk, folder, pathContext)
}

function findGitRisk(
  words: readonly string[],
  folder: string,
  pathContext: PathContext,
  path: FindPathRisk,
): string | undefined {
  const [spec, specLength] = findLongestSpec(getGitSpecs(), words)
  if (!spec) return `git ${words[0] ?? ''} is not known to be harmless`
  const parsedArgs = parseArguments(spec, words.slice(specLength), (word) => findGitPathRisk(word, path))
  if (typeof parsedArgs === 'string') return parsedArgs
  const disk = pathContext.disk ?? NO_DISK_VIEW
  const risk = findRepositoryRisk(folder, disk) ?? spec.findFolderRisk?.(folder, disk)
  const walk = spec.walk?.(parsedArgs)
  const isWalked = walk?.roots.every((root) => disk.exists(posix.resolve(folder, root)))
  return (
    risk ??
    (spec.showsContent?.(parsedArgs) ? findTrackedSecret(parsedArgs, folder, pathContext) : undefined) ??
    (walk && isWalked ? findSecretBelow(walk, folder, pathContext) : undefined)
  )
}

export function findPathRisk(word: string, folder: string, pathContext: PathContext): string | undefined {
  if (word === '/dev/null') return undefined
  const { kind, why } = classifyPath(word, 'read', pathContext, folder)
  return kind === 'in' ? undefined : why.replace(/\.$/, '')
}
