import { NO_DISK } from '../disk.ts'
import { folderOf, judgePlace, type Places } from '../path/place.ts'
import { checkForm } from './program/form.ts'
import { GIT, gitPath, withoutPrinting } from './program/git.ts'
import { npmDoubt } from './program/npm.ts'
import { READERS } from './program/readers.ts'
import { repositoryDoubt } from './program/repository.ts'

/** Programs that are allowed by themselves, because their harmless options are known. */
export const HARMLESS_COMMANDS: readonly string[] = [
  ...Object.keys(READERS),
  ...Object.keys(GIT).map((name) => `git ${name}`),
]

/**
 * Says why a command that a rule allows may still do more than the rule means: an option that writes or runs something, a
 * path outside or of a secret, a program that is not what its name says. Nothing if there is no such doubt.
 */
export function doubtAbout(
  words: readonly string[],
  ruled: number,
  folder: string,
  places: Places,
): string | undefined {
  const { disk = NO_DISK } = places
  const [name = '', ...args] = withoutPrinting(words)
  const path = (word: string) => pathDoubt(word, folder, places)
  const place = BUILTINS.has(name) ? undefined : disk.program(name)
  const isOurs = place !== undefined && (!place.startsWith('/') || folderOf(place, places.folders, disk) !== undefined)
  if (isOurs) return `${name} is a file in the workspace`
  if (name === 'git') return gitDoubt(args, folder, places, path)
  if (name === 'npm' && args[0] === 'test') return npmDoubt(args.slice(1), folder, disk, path)
  const form = READERS[name]
  if (form && Object.hasOwn(READERS, name)) return checkForm(form, args, path)
  // Nothing is known of its options, so there may be none beside those of the rule.
  const more = words.slice(ruled)
  const odd = more.find((word) => word.startsWith('-') || word.includes('='))
  return odd === undefined
    ? more.map(path).find((doubt) => doubt !== undefined)
    : `“${odd}” is not known to be harmless`
}

const BUILTINS: ReadonlySet<string> = new Set(['echo', 'pwd', 'true', 'false', 'cd'])

function gitDoubt(
  [name = '', ...args]: readonly string[],
  folder: string,
  places: Places,
  path: (word: string) => string | undefined,
): string | undefined {
  const form = Object.hasOwn(GIT, name) ? GIT[name] : undefined
  if (!form) return `git ${name} is not known to be harmless`
  return checkForm(form, args, (word) => gitPath(word, path)) ?? repositoryDoubt(folder, places.disk ?? NO_DISK)
}

/** Says why a path must not be read unasked. */
export function pathDoubt(word: string, folder: string, places: Places): string | undefined {
  if (word === '/dev/null') return undefined
  const { kind, why } = judgePlace(word, 'read', places, folder)
  return kind === 'in' ? undefined : why.replace(/\.$/, '')
}
