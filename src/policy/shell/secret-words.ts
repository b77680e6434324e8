import { NO_DISK } from '../disk.ts'
import { judgePlace, type Place, type Places } from '../path/place.ts'
import { type Command, programOf } from './command.ts'
import { wordsOfPattern } from './pattern-words.ts'
import { UNKNOWN, type Word } from './word.ts'

/** Finds the files with secrets that a command names, in whatever form: a path, a pattern, `@file`, `HEAD:file`, in code. */
export function secretsNamed(command: Command, commands: readonly Command[], places: Places): Place[] {
  const words = [...command.reads, ...filesNamed(command, commands)]
  // `cat $(echo .env)`: what is spoken may be what is not known.
  const isOpen = words.some(({ guess }) => guess.includes(UNKNOWN))
  const spoken = isOpen ? commands.filter((one) => /^(?:echo|printf)$/.test(programOf(one))) : []
  return [...words, ...spoken.flatMap((one) => one.words.slice(1))]
    .flatMap((word) => pathsIn(word, command, places))
    .map((path) => judgePlace(path, 'read', places, command.folder))
    .filter(({ kind }) => kind === 'secret')
}

/** Programs whose words are not files. */
const SPEAKERS: ReadonlySet<string> = new Set(['echo', 'printf', 'ls', ':', 'true', 'false', 'test', '[', '[['])

/** The words of a command that may be files. */
function filesNamed(command: Command, commands: readonly Command[]): readonly Word[] {
  const name = programOf(command)
  const args = command.words.slice(1)
  if (SPEAKERS.has(name)) return []
  if (name === 'git') return gitShows(args.map(({ guess }) => guess)) ? args : []
  if (name === 'find') {
    // What names are compared with is read only if what is found goes on to another program.
    const goesOn = args.some(({ guess }) => /^-(?:exec|ok)/.test(guess)) || commands.some(passesOn)
    return goesOn
      ? args
      : args.filter((_, at) => !/^-i?(?:name|path|wholename|regex|lname)$/.test(args[at - 1]?.guess ?? ''))
  }
  if (/^(?:[ef]?grep|rg)$/.test(name)) {
    // Unless an option brings it, the first word that is no option is what is looked for.
    const brings = args.some(({ guess }) => /^-[a-zA-Z]*[ef]|^--(?:regexp|file)/.test(guess))
    const pattern = brings ? -1 : args.findIndex(({ guess }) => !guess.startsWith('-'))
    return args.filter((_, at) => at !== pattern)
  }
  return args
}

function passesOn(command: Command): boolean {
  return /^(?:xargs|parallel)$/.test(programOf(command))
}

/** Does git show what files hold? */
function gitShows(args: readonly string[]): boolean {
  const shows = args.some((word) =>
    /^(?:show|diff|difftool|blame|annotate|cat-file|archive|grep|format-patch)$/.test(word),
  )
  return (
    shows || (args.includes('log') && args.some((word) => /^(?:-[pucLW]|--patch|--word-diff|--color-words)/.test(word)))
  )
}

/** Languages whose code may stand in an argument. */
const INTERPRETERS = /^(?:python[\d.]*|pypy3?|node|nodejs|deno|bun|tsx|perl|ruby|php|lua|osascript)$/

/** The paths that a word may stand for. */
function pathsIn({ guess, glob }: Word, command: Command, { disk = NO_DISK }: Places): string[] {
  if (guess === '' || guess.length > 4000 || guess.includes(UNKNOWN)) return []
  const strings = INTERPRETERS.test(programOf(command))
    ? [...guess.matchAll(/(["'`])([^"'`\n]{1,300})\1/g)].map(([, , text = '']) => text)
    : []
  const value = guess.replace(/^-{0,2}[\w-]+=/, '')
  const parts = [
    value,
    value.replace(/^@/, ''),
    ...(programOf(command) === 'git' ? [value.replace(/^[^:]*:/, '')] : []),
  ]
  const paths = [...new Set([...parts, ...strings])].filter(
    (path) => path !== '' && !path.startsWith('-') && path.length <= 1000,
  )
  if (!glob || command.folder === undefined) return paths
  const { folder } = command
  return paths.flatMap((path) => wordsOfPattern(path.replace(/\[[^\]/]*\]/g, '?'), folder, disk) ?? [path])
}
