import { posix } from 'node:path'
import { NO_DISK } from '../disk.ts'
import { secretBelow } from '../path/below.ts'
import { folderOf, judgePlace, type Places } from '../path/place.ts'
import { type Form, readForm } from './program/form.ts'
import { GIT, gitPath, withoutPrinting } from './program/git.ts'
import { trackedSecret } from './program/git-secrets.ts'
import { npmDoubt } from './program/npm.ts'
import { READERS } from './program/readers.ts'
import { repositoryDoubt } from './program/repository.ts'
import { VERSIONS } from './program/versions.ts'

/** Commands whose harmless options are known, by their first words. */
const FORMS: ReadonlyMap<string, Form> = new Map(Object.entries({ ...VERSIONS, ...READERS }))

/** Programs that are allowed by themselves, because their harmless options are known. */
export const HARMLESS_COMMANDS: readonly string[] = [...FORMS.keys(), ...Object.keys(GIT).map((name) => `git ${name}`)]

/** A command that is looked at: its words, where it runs, and whether it gets the output of another one. */
export interface Looked {
  readonly words: readonly string[]
  readonly folder: string
  readonly isPiped: boolean
}

/**
 * Says why a command that a rule allows may still do more than the rule means: an option that writes or runs something, a
 * path outside or of a secret, a program that is not what its name says. Nothing if there is no such doubt.
 */
export function doubtAbout(command: Looked, ruled: number, places: Places): string | undefined {
  const { words, folder } = command
  const { disk = NO_DISK } = places
  const [name = '', ...args] = withoutPrinting(words)
  const path = (word: string) => pathDoubt(word, folder, places)
  const place = BUILTINS.has(name) ? undefined : disk.program(name)
  const isOurs = place !== undefined && (!place.startsWith('/') || folderOf(place, places.folders, disk) !== undefined)
  if (isOurs) return `${name} is a file in the workspace`
  const [form, known] = longest(FORMS, words)
  if (form && (known === 1 || known >= ruled)) return formDoubt(form, words.slice(known), command, places)
  if (name === 'git') return gitDoubt(args, folder, places, path)
  if (name === 'npm' && args[0] === 'test') return npmDoubt(args.slice(1), folder, disk, path)
  // Nothing is known of its options, so there may be none beside those of the rule.
  const more = words.slice(ruled)
  const odd = more.find((word) => word.startsWith('-') || word.includes('='))
  return odd === undefined
    ? more.map(path).find((doubt) => doubt !== undefined)
    : `“${odd}” is not known to be harmless`
}

const BUILTINS: ReadonlySet<string> = new Set('echo pwd true false cd printf test [ : type command'.split(' '))

/** The form of the most words that a command begins with, and how many these are. */
function longest<T>(forms: ReadonlyMap<string, T>, words: readonly string[]): [T | undefined, number] {
  for (let count = Math.min(words.length, 3); count > 0; count--) {
    const form = forms.get(words.slice(0, count).join(' '))
    if (form) return [form, count]
  }
  return [undefined, 0]
}

function formDoubt(
  form: Form,
  args: readonly string[],
  { words, folder, isPiped }: Looked,
  places: Places,
): string | undefined {
  const given = readForm(form, args, (word) => pathDoubt(word, folder, places))
  if (typeof given === 'string') return given
  const here = form.here?.(folder, places.disk ?? NO_DISK)
  if (here !== undefined) return here
  const walk = form.walk?.(given)
  // Ripgrep that is given text and no path reads only the text.
  if (!walk || (isPiped && words[0] === 'rg' && given.paths.length === 0)) return undefined
  return secretBelow(walk, folder, places)
}

const GIT_FORMS = new Map(Object.entries(GIT))

function gitDoubt(
  words: readonly string[],
  folder: string,
  places: Places,
  path: (word: string) => string | undefined,
): string | undefined {
  const [form, known] = longest(GIT_FORMS, words)
  if (!form) return `git ${words[0] ?? ''} is not known to be harmless`
  const given = readForm(form, words.slice(known), (word) => gitPath(word, path))
  if (typeof given === 'string') return given
  const disk = places.disk ?? NO_DISK
  const doubt = repositoryDoubt(folder, disk) ?? form.here?.(folder, disk)
  const walk = form.walk?.(given)
  const isWalked = walk?.roots.every((root) => disk.has(posix.resolve(folder, root)))
  return (
    doubt ??
    (form.shows?.(given) ? trackedSecret(given, folder, places) : undefined) ??
    (walk && isWalked ? secretBelow(walk, folder, places) : undefined)
  )
}

/** Says why a path must not be read unasked. */
export function pathDoubt(word: string, folder: string, places: Places): string | undefined {
  if (word === '/dev/null') return undefined
  const { kind, why } = judgePlace(word, 'read', places, folder)
  return kind === 'in' ? undefined : why.replace(/\.$/, '')
}
