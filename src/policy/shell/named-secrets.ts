import { NO_DISK_VIEW } from '../disk-view.ts'
import { classifyPath, type ClassifiedPath, type PathContext } from '../path/classify-path.ts'
import { type ShellCommand, getProgramName } from './shell-command.ts'
import { expandGlob } from './glob-expansion.ts'
import { UNKNOWN_VALUE, type ShellWord } from './shell-word.ts'

/** Finds the files with secrets that a command names: as a path, a pattern, `@file`, `HEAD:file`, or in code. */
export function findNamedSecrets(
  command: ShellCommand,
  commands: readonly ShellCommand[],
  pathContext: PathContext,
): ClassifiedPath[] {
  const words = [...command.reads, ...listFileWords(command, commands)]
  // `cat $(echo .env)`: the printed text may be the unknown value.
  const hasUnknown = words.some(({ guess }) => guess.includes(UNKNOWN_VALUE))
  const echoCommands = hasUnknown ? commands.filter((one) => /^(?:echo|printf)$/.test(getProgramName(one))) : []
  return [...words, ...echoCommands.flatMap((one) => one.words.slice(1))]
    .flatMap((word) => listPaths(word, command, pathContext))
    .map((path) => classifyPath(path, 'read', pathContext, command.folder))
    .filter(({ kind }) => kind === 'secret')
}

/** Programs whose arguments are not files. */
const NON_READING_PROGRAMS: ReadonlySet<string> = new Set('echo printf ls : true false test [ [['.split(' '))

function listFileWords(command: ShellCommand, commands: readonly ShellCommand[]): readonly ShellWord[] {
  const name = getProgramName(command)
  const args = command.words.slice(1)
  if (NON_READING_PROGRAMS.has(name)) return []
  if (name === 'git') return showsFileContent(args.map(({ guess }) => guess)) ? args : []
  if (name === 'find') {
    // Names to match are only read as files if the results are passed to another program.
    const isPassedOn = args.some(({ guess }) => /^-(?:exec|ok)/.test(guess)) || commands.some(startsFromInput)
    return isPassedOn
      ? args
      : args.filter((_, at) => !/^-i?(?:name|path|wholename|regex|lname)$/.test(args[at - 1]?.guess ?? ''))
  }
  if (/^(?:[ef]?grep|rg)$/.test(name)) {
    // Unless an option sets the pattern, it is the first operand.
    const hasPatternOption = args.some(({ guess }) => /^-[a-zA-Z]*[ef]|^--(?:regexp|file)/.test(guess))
    const pattern = hasPatternOption ? -1 : args.findIndex(({ guess }) => !guess.startsWith('-'))
    return args.filter((_, at) => at !== pattern)
  }
  return args
}

function startsFromInput(command: ShellCommand): boolean {
  return /^(?:xargs|parallel)$/.test(getProgramName(command))
}

function showsFileContent(args: readonly string[]): boolean {
  const shows = args.some((word) =>
    /^(?:show|diff|difftool|blame|annotate|cat-file|archive|grep|format-patch)$/.test(word),
  )
  return (
    shows || (args.includes('log') && args.some((word) => /^(?:-[pucLW]|--patch|--word-diff|--color-words)/.test(word)))
  )
}

const INTERPRETERS = /^(?:python[\d.]*|pypy3?|node|nodejs|deno|bun|tsx|perl|ruby|php|lua|osascript)$/

function listPaths({ guess, glob }: ShellWord, command: ShellCommand, { disk = NO_DISK_VIEW }: PathContext): string[] {
  if (guess === '' || guess.length > 4000 || guess.includes(UNKNOWN_VALUE)) return []
  const strings = INTERPRETERS.test(getProgramName(command))
    ? [...guess.matchAll(/(["'`])([^"'`\n]{1,300})\1/g)].map(([, , text = '']) => text)
    : []
  const value = guess.replace(/^-{0,2}[\w-]+=/, '')
  const inRevision = getProgramName(command) === 'git' ? [value.replace(/^[^:]*:/, '')] : []
  const paths = [...new Set([value, value.replace(/^@/, ''), ...inRevision, ...strings])].filter(
    (path) => path !== '' && !path.startsWith('-') && path.length <= 1000,
  )
  if (!glob || command.folder === undefined) return paths
  const { folder } = command
  return paths.flatMap((path) => expandGlob(path.replace(/\[[^\]/]*\]/g, '?'), folder, disk) ?? [path])
}
